"""Whoever asks for JSON gets one JSON value, whatever goes wrong, and whichever verb it is."""

import json
import os
from pathlib import Path

import jsonschema
import pytest
from command_lines import is_run, list_leaves
from running import run_main

SCHEMAS = Path(__file__).parents[2] / "references" / "schemas"
SCHEMA = json.loads((SCHEMAS / "error.json").read_text("utf-8"))
LEAVES = [(verb, leaf) for verb, leaf in list_leaves() if is_run(verb)]
WITH_JSON = [(verb, leaf) for verb, leaf in LEAVES if any("--json" in p.opts for p in leaf.params)]


def write_line(verb, leaf):
    """Return a line with all that the verb requires."""
    line = list(verb)
    for parameter in leaf.params:
        if parameter.required:
            is_argument = parameter.param_type_name == "argument"
            line += ["Frost"] if is_argument else [parameter.opts[0], "Frost"]
    return line


def damage_settings(root):
    (root / "palace" / "palace.yaml").write_text("half_life_days: soon\n")


def damage_commit(root):
    (root / "palace" / ".index" / "INDEX.json").write_text("{}")


def put_a_folder_in_the_way(root):
    commit = root / "palace" / ".index" / "INDEX.json"
    commit.unlink()
    commit.mkdir()


def leave(root):
    (root.parent / "elsewhere").mkdir()
    os.chdir(root.parent / "elsewhere")


FAULTS = {
    "an option that there is not": (lambda root: None, ["--bogus"]),
    "an option without its value": (lambda root: None, ["-C"]),
    "no such palace": (lambda root: None, ["-C", "/nowhere/at/all"]),
    "no palace": (leave, []),
    "settings that cannot be used": (damage_settings, []),
    "a damaged index": (damage_commit, []),
    "a fault of the system": (put_a_folder_in_the_way, []),
}


def read_error(out):
    """Return the error that is printed, and nothing but it."""
    record = json.loads(out)
    jsonschema.validate(record, SCHEMA)
    return record["error"]


WORK_ONCE = {("memory", "new"), ("redqueen", "remove")}
"""What they did is done: a second time is an error."""


@pytest.mark.parametrize("fault", FAULTS)
def test_every_verb_with_json_fails_in_json_as_it_does_in_words(fault, run, capsys, tmp_path):
    damage, more = FAULTS[fault]
    damage(tmp_path / "root")
    failed = 0
    for verb, leaf in WITH_JSON:
        line = [*write_line(verb, leaf), *more]
        status, out, err = run_main(capsys, *line)
        json_status, json_out, json_err = run_main(
            capsys, *line[: len(verb)], "--json", *line[len(verb) :]
        )
        if not status and verb in WORK_ONCE:
            continue
        if not status or not json_status:
            assert status == json_status, line
            continue
        printed = json.loads(json_out)
        if "error" not in printed:
            assert printed["schema"] >= 2 and "palace: " in json_err, line
            continue
        error = read_error(json_out)
        failed += 1
        assert json_status == status == error["code"], line
        assert "palace: " not in json_err, line
        words = err[err.index("palace: ") :].removeprefix("palace: ")
        assert error["message"].replace("\n", "\n  ") == words.rstrip("\n"), line
        assert "Traceback" not in err + json_err and not out, line
    assert failed >= (len(WITH_JSON) if len(more) == 1 else 20)


def test_verbs_without_json_and_unknown_ones_say_so_in_json(run, capsys):
    lines = [list(verb) for verb, leaf in LEAVES if (verb, leaf) not in WITH_JSON]
    lines.remove(["hook"])  # it fails without a word on stdout, which goes into a context
    lines += [["bogus"], ["task", "bogus"], ["task"], [], ["-C", "x", "bogus"]]
    for line in lines:
        status, out, err = run_main(capsys, *line, "--json")
        assert (read_error(out)["code"], err) == (status, ""), line
        assert status == 2, line


def test_what_has_answered_in_json_does_not_answer_again(run, capsys, tmp_path):
    card = tmp_path / "root" / "palace" / "dispatch_corridor" / "active" / "2026-01-01_empty.md"
    card.write_text("# Empty\n")
    status, out, err = run_main(capsys, "task", "lint", "--json")
    assert status == 8 and json.loads(out)["faults"]
    assert "faults in task cards" in err


def test_json_behind_two_hyphens_is_text(run, capsys):
    status, out, err = run_main(capsys, "show", "--", "--json")
    assert (status, out) == (2, "") and "no note matches '--json'" in err


def test_a_format_that_is_json_fails_in_json(run, capsys):
    for words in (["--format", "json"], ["--format=json"]):
        status, out, _ = run_main(capsys, "query", "x", *words, "--since", "someday")
        assert read_error(out)["code"] == status == 2


def test_an_error_that_cannot_be_printed_on_stdout_is_said_on_stderr(run, capsys, monkeypatch):
    class Full:
        def write(self, text):
            raise OSError(28, "No space left on device")

        def flush(self):
            pass

    monkeypatch.setattr("sys.stdout", Full())
    with pytest.raises(SystemExit, match="2"):
        from memory_palace.cli.app import main

        main(["show", "nix", "--json"])
    assert "no note matches 'nix'" in capsys.readouterr().err


def test_what_a_terminal_obeys_is_escaped_in_an_error(run, capsys):
    _, out, _ = run_main(capsys, "show", "\x1b[31m\u202e", "--json")
    assert "\x1b" not in out and "\u202e" not in out
    assert "\\x1b[31m\\u202e" in read_error(out)["message"]
