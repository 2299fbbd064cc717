"""``palace plugin``: what it writes, what it leaves alone, and how it says what is out of date."""

import json
import os

import pytest
from running import run_main

from memory_palace.features.agents import plugin
from memory_palace.features.agents.plugin import NAME, RECORD

SKILL = f"{NAME}/skills/{NAME}/SKILL.md"


@pytest.fixture
def plug(tmp_path):
    return tmp_path / "a plug-in"


def listing(folder):
    found = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


def run(capsys, plug, *options, harness="claude"):
    return run_main(capsys, "plugin", harness, "--into", str(plug), *options)


def test_nothing_is_written_until_it_is_applied_and_then_once(capsys, plug):
    status, out, err = run(capsys, plug)
    assert (status, plug.exists()) == (0, False)
    assert f"+++ b/{SKILL}" in out
    assert "add --apply" in err and "set a default palace" in err
    _, _, err = run(capsys, plug, "--apply")
    assert f"claude plugin marketplace add '{plug}'" in err
    assert f"claude plugin install {NAME}@{NAME}" in err
    written = listing(plug)
    status, out, err = run(capsys, plug, "--apply")
    assert (status, out) == (0, "")
    assert "is what version" in err
    assert listing(plug) == written
    (plug / SKILL).unlink()
    assert run(capsys, plug)[1] != ""
    assert run(capsys, plug, "--apply")[0] == 0
    assert listing(plug) == written


@pytest.mark.parametrize("path", [SKILL, f"{NAME}/.claude-plugin/plugin.json"])
def test_a_file_that_somebody_changed_is_shown_and_kept(capsys, plug, path):
    run(capsys, plug, "--apply")
    (plug / path).write_text("mine\n")
    before = listing(plug)
    status, out, err = run(capsys, plug)
    assert status == 0
    assert "-mine" in out
    assert f"changed since: {path}" in err
    status, out, err = run(capsys, plug, "--apply")
    assert (status, out) == (1, "")
    assert path in err
    assert listing(plug) == before
    assert run(capsys, plug, "--apply", "--overwrite")[0] == 0
    assert (plug / path).read_text() != "mine\n"


def test_a_file_that_was_there_first_is_kept(capsys, plug):
    (plug / SKILL).parent.mkdir(parents=True)
    (plug / SKILL).write_text("a skill of the same name\n")
    assert run(capsys, plug, "--apply")[0] == 1
    assert list(listing(plug)) == [SKILL]


def test_another_version_is_told_and_replaced(capsys, plug, monkeypatch):
    with pytest.MonkeyPatch.context() as patch:
        for module in ("plugin", "verbs"):
            patch.setattr(f"memory_palace.features.agents.{module}.__version__", "0.0.9")
        run(capsys, plug, "--apply")
        assert run(capsys, plug)[1] == ""
    assert run(capsys, plug)[1] != ""
    _, out, err = run(capsys, plug)
    assert '-  "version": "0.0.9",' in out
    assert "over version 0.0.9" in err
    assert run(capsys, plug, "--apply")[0] == 0
    assert "0.0.9" not in b"".join(listing(plug).values()).decode()


def test_what_an_earlier_version_wrote_goes_unless_it_was_changed(capsys, plug):
    run(capsys, plug, "--apply")
    record = json.loads((plug / RECORD).read_text())
    for name in ("old.md", "edited.md"):
        (plug / name).write_text("old\n")
        record["files"][name] = plugin._digest(b"old\n")
    (plug / RECORD).write_text(json.dumps(record))
    (plug / "edited.md").write_text("edited\n")
    _, out, _ = run(capsys, plug, "--apply")
    assert "--- a/old.md" in out
    assert not (plug / "old.md").exists()
    assert (plug / "edited.md").read_text() == "edited\n"


@pytest.mark.parametrize(
    "record", ["", "[]", "{", '{"files": []}', "\ud800", '{"files": {"a": 1}}']
)
def test_a_record_that_is_damaged_makes_nobody_s_file_ours(capsys, plug, record):
    run(capsys, plug, "--apply")
    (plug / RECORD).write_bytes(record.encode("utf-8", "surrogatepass"))
    assert run(capsys, plug)[1] == ""
    (plug / SKILL).write_text("mine\n")
    assert run(capsys, plug, "--apply")[0] == 1
    assert (plug / SKILL).read_text() == "mine\n"


def test_a_record_that_names_files_elsewhere_removes_none(capsys, plug, tmp_path):
    run(capsys, plug, "--apply")
    outside = tmp_path / "outside.md"
    outside.write_text("keep\n")
    record = json.loads((plug / RECORD).read_text())
    record["files"]["../outside.md"] = plugin._digest(b"keep\n")
    (plug / RECORD).write_text(json.dumps(record))
    assert run(capsys, plug, "--apply")[0] == 2
    assert outside.exists()


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
@pytest.mark.parametrize("where", [NAME, f"{NAME}/.mcp.json"])
def test_nothing_is_written_through_a_link(capsys, plug, tmp_path, where):
    elsewhere = tmp_path / "elsewhere"
    if where == NAME:
        elsewhere.mkdir()
    else:
        elsewhere.write_text("{}")
    (plug / where).parent.mkdir(parents=True)
    (plug / where).symlink_to(elsewhere)
    assert run(capsys, plug, "--apply")[0] == 2
    assert elsewhere.read_text() == "{}" if where != NAME else not any(elsewhere.iterdir())


def test_an_interrupted_write_is_taken_up(capsys, plug, monkeypatch):
    written = []

    def write_some(path, data, **given):
        if len(written) == 3:
            raise KeyboardInterrupt
        written.append(path)
        path.write_bytes(data)

    with monkeypatch.context() as patch:
        patch.setattr(plugin, "write_atomic", write_some)
        assert run(capsys, plug, "--apply")[0] == 130
    assert not (plug / RECORD).exists()
    assert run(capsys, plug, "--apply")[0] == 0
    assert run(capsys, plug)[1] == ""


def test_one_palace_can_be_meant_and_stays_the_one(capsys, plug, tmp_path):
    home = tmp_path / "my notes"
    home.mkdir()
    assert run_main(capsys, "init", "--here", str(home))[0] == 0
    line = ["-C", str(home), "plugin", "claude", "--into", str(plug), "--apply"]
    assert run_main(capsys, *line)[0] == 0
    server = json.loads((plug / NAME / ".mcp.json").read_text())["mcpServers"]["palace"]
    assert server["args"] == ["-C", str(home), "mcp"]
    assert run(capsys, plug)[1] == ""


def test_json_says_the_same(capsys, plug):
    status, out, _ = run(capsys, plug, "--json", "--apply")
    record = json.loads(out)
    assert (status, record["applied"], record["current"]) == (0, True, True)
    assert record["folder"] == str(plug)
    assert record["next"]
    assert record["diff"].count("+++ b/") == len(listing(plug)) - 1


@pytest.mark.parametrize("folder", ["", "/dev/null/x", "a\0b", "\x1b[31m\u202e", "x" * 300])
def test_a_folder_that_cannot_be_is_a_plain_error(capsys, tmp_path, monkeypatch, folder):
    monkeypatch.chdir(tmp_path)
    status, _, err = run_main(capsys, "plugin", "codex", "--into", folder, "--apply")
    assert status in (0, 1, 2)
    assert "Traceback" not in err
    assert "\x1b" not in err
