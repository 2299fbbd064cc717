from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from command_reference import walk_verbs
from running import run_main

from memory_palace.table import VERBS

ROOT = Path(__file__).parent.parent.parent


TREE = [(tuple(words.split()), command) for words, command in walk_verbs()]


@pytest.fixture
def run(capsys, monkeypatch):
    """Run a command line in this process; return its status and what it printed."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.delenv("PALACE_ROOT", raising=False)

    def run_palace(*arguments):
        return run_main(capsys, *arguments)

    return run_palace


@pytest.mark.parametrize("words", [words for words, _ in TREE], ids=" ".join)
def test_help_fits_eighty_columns_and_is_there_for_h(run, words):
    status, out, err = run(*words, "-h")
    assert (status, err) == (0, "")
    assert out == run(*words, "--help")[1]
    assert [line for line in out.splitlines() if len(line) > 80] == []
    assert out.startswith("Usage: palace")


def test_every_parameter_has_a_sentence_of_help():
    named = [(words, parameter) for words, command in TREE for parameter in command.params]
    bare = [(*words, p.name) for words, p in named if not (p.help or "").endswith((".", ")"))]
    assert len(named) > 300
    assert bare == []


def test_all_verbs_fit_one_screen_in_their_panels(run):
    out = run("--help")[1]
    assert len(out.splitlines()) <= 49  # and the next prompt
    for panel, verbs in VERBS.items():
        assert re.search(rf"^{panel}  +{next(iter(verbs))} ", out, re.MULTILINE)
    verbs = [verb for panel in VERBS.values() for verb in panel]
    assert all(re.search(rf"^.{{11}}{verb} ", out, re.MULTILINE) for verb in verbs)


@pytest.mark.parametrize("words", [(), ("query",), ("task", "new"), ("graph",)], ids=" ".join)
def test_help_wraps_between_words_on_a_narrow_terminal(run, monkeypatch, words):
    wide = run(*words, "-h")[1]
    monkeypatch.setenv("COLUMNS", "52")
    narrow = run(*words, "-h")[1]
    assert [line for line in narrow.splitlines() if len(line) > 52] == []
    assert {*wide.split()} == {*narrow.split()}


def test_defaults_and_brackets_are_shown(run):
    out = " ".join(run("query", "-h")[1].split())
    assert "[default: 5; x>=1]" in out and "[text, json, " in out
    assert "[[link]]" in run("task", "new", "-h")[1]


def test_an_example_is_a_paragraph_and_a_value_has_a_name(run):
    out = run("doctor", "-h")[1]
    assert "\n\n  Example: palace doctor --fix\n" in out
    out = run("list", "-h")[1]
    for named in ("--since DATE", "--in FOLDER", "--links-to NOTE", "--type TYPE"):
        assert named in out
    assert "<" not in run("new", "-h")[1] and "Only" not in run("new", "-h")[1]
    assert "--in FOLDER" in run("new", "-h")[1]
    assert run("graph", "anchors", "lookup", "-h")[1].startswith(
        "Usage: palace graph anchors lookup [OPTIONS] TEXT..."
    )


def test_options_of_one_purpose_stand_together(run):
    out = run("query", "-h")[1]
    which, ranking = out.index("\nWhich notes\n"), out.index("\nRanking\n")
    assert which < out.index("--tag") < ranking < out.index("--profile") < out.index("\nOptions\n")
    assert "Which notes" not in run("show", "-h")[1]


def test_a_list_of_verbs_cuts_no_sentence(run):
    out = run("graph", "-h")[1]
    assert "along links in either" in out and "..." not in out.replace("VERB ...", "")


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        (["qury", "x"], "did you mean 'query'?"),
        (["search", "x"], "did you mean 'query'?"),
        (["serch", "x"], "'query'"),
        (["task", "lst"], "did you mean 'list'?"),
        (["query", "--detials"], "did you mean --details"),
        (["query", "x", "-C"], "requires an argument"),
        (["query", "x", "--tag"], "`palace query --help`"),
        (["version"], "did you mean '--version'?"),
        (["query", "x", "--format", "jsn"], "'markdown'; did you mean 'json' or 'jsonl'?"),
        (["query", "x", "-k", "x"], "'--top-k': it must be a valid integer"),
    ],
    ids=" ".join,
)
def test_what_is_mistyped_is_answered_with_what_is_near(run, typed, meant):
    status, out, err = run(*typed)
    assert (status, out) == (2, "")
    assert meant in err and "\n  `palace" in err
    assert len(err.splitlines()) == 2


def test_a_group_without_a_verb_shows_its_verbs(run):
    status, out, err = run("graph")
    assert (status, out) == (2, "")
    assert "neighbors" in err


def test_help_imports_no_terminal_library_and_no_verb(run):
    import subprocess

    code = (
        "import sys; from memory_palace.cli.commands import run; run(['--help']); "
        "print([n for n in sys.modules if n == 'numpy' or n.startswith('memory_palace.features.')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_headings_are_bold_on_a_terminal_unless_no_color_is_set(monkeypatch):
    from memory_palace.cli.helping import embolden

    monkeypatch.delenv("NO_COLOR", raising=False)
    assert embolden("Keep") == "\x1b[1mKeep\x1b[0m"
    monkeypatch.setenv("NO_COLOR", "1")
    assert embolden("Keep") == "Keep"
