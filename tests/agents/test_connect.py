"""``palace connect``: an entry in the files of ten harnesses, and out of them, to the byte."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from running import run_main

from memory_palace.features.agents import connect, plugin, splicing
from memory_palace.features.agents.connect import HARNESSES
from memory_palace.features.agents.plugin import NAME, RECORD

HOMES = json.loads(Path(__file__).with_name("homes.json").read_text("utf-8"))
CONFIGS = HOMES["configs"]
SKILL = f"{NAME}/skills/{NAME}/SKILL.md"


@pytest.fixture
def home(tmp_path, monkeypatch):
    home = tmp_path / "home"
    for variable in [harness.variable or "-" for harness in HARNESSES.values()]:
        monkeypatch.delenv(variable, raising=False)
    for variable, place in (("HOME", ""), ("XDG_CONFIG_HOME", ".config"), ("XDG_DATA_HOME", "d")):
        monkeypatch.setenv(variable, str(home / place))
    for name, (path, text, _) in CONFIGS.items():
        (home / path).parent.mkdir(parents=True)
        if name == "zed":
            (home / path).symlink_to(home / "dotfiles.json")
        (home / path).write_bytes(text.encode())
    (home / ".claude").mkdir()
    monkeypatch.setattr(connect, "find_spec", lambda name: object())
    return home


def listing(folder):
    found = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


def run(capsys, *words):
    return run_main(capsys, "connect", *words)


def edit_all(texts):
    edited = {path: texts[path].replace(*map(str.encode, x)) for path, _, x in CONFIGS.values()}
    return texts | edited | {"dotfiles.json": edited[CONFIGS["zed"][0]]}


def test_ten_harnesses_are_connected_edited_by_hand_and_removed_to_the_byte(capsys, home):
    before = listing(home)
    (home / CONFIGS["cursor"][0]).chmod(0o640)
    status, out, _ = run(capsys)
    assert (status, [line.split()[0] for line in out.splitlines()]) == (0, [*HARNESSES])
    assert out.count("not connected") == 9
    status, out, err = run(capsys, *HARNESSES)
    assert (status, listing(home)) == (0, before)
    assert "sk-" not in out + err, "what is there may be a key, and is not shown"
    assert f"+++ b/{SKILL}" in out
    assert "set a default palace" in err
    assert f"claude plugin install {NAME}@{NAME}" in run(capsys, *HARNESSES, "--apply")[2]
    written = listing(home)
    assert run(capsys, "--check")[0] == run(capsys, *HARNESSES, "--apply")[0] == 0
    assert listing(home) == written
    assert (home / CONFIGS["zed"][0]).is_symlink()
    assert (home / CONFIGS["cursor"][0]).stat().st_mode & 0o777 == 0o640
    for path, text, _ in CONFIGS.values():
        assert ("\r\n" in text) == (b"\n" not in written[path].replace(b"\r\n", b"")), path
    for path, data in edit_all(written).items():
        (home / path).write_bytes(data)
    assert run(capsys, "--check")[0] == 0
    assert run(capsys, *HARNESSES, "--remove", "--apply")[0] == 0
    assert listing(home) == edit_all(before)


@pytest.mark.parametrize(("name", "text", "line"), HOMES["broken"])
def test_a_broken_configuration_is_named_and_left_alone(capsys, home, name, text, line):
    path = home / CONFIGS[name][0]
    path.unlink()
    path.mkdir() if text is None else path.write_bytes(text.encode("latin-1"))
    before = listing(home)
    for words in ([], ["--apply"], ["--check"], ["--remove", "--apply"]):
        status, _, err = run(capsys, name, *words)
        assert (status, listing(home)) == (8, before)
        assert f"{path}:{line}: " in err
        assert f"type `palace connect {name}`" in err
    assert "broken" in run(capsys)[1]


@pytest.mark.parametrize("name", [*CONFIGS])
def test_an_entry_that_somebody_edited_or_wrote_is_named_and_kept(capsys, home, name):
    place = home / CONFIGS[name][0]
    run(capsys, name, "--apply")
    *head, last = place.read_bytes().split(b'"mcp"')
    place.write_bytes(b'"mcp"'.join(head) + b'"mcp", "--help"' + last)
    before = place.read_bytes()
    for words in (["--check"], ["--apply"], ["--remove", "--apply"], ["--apply"]):
        status, _, err = run(capsys, name, *words)
        assert (status, place.read_bytes()) == (8, before)
        assert f"changed or not written here: {'.'.join(HARNESSES[name].path)} in {place}" in err


def test_an_entry_follows_its_palace_and_what_the_harness_rewrites(capsys, home):
    notes, cursor, gemini = (home / x for x in ("notes", ".cursor/mcp.json", CONFIGS["gemini"][0]))
    (notes / ".palace").mkdir(parents=True)
    cursor.unlink()
    gemini.write_bytes(b"")
    before = listing(home)
    for place in ([], ["-C", str(notes)], []):
        assert run_main(capsys, *place, "connect", *CONFIGS, "--apply")[0] == 0
    found = json.loads(cursor.read_bytes())["mcpServers"]["palace"]
    assert found["args"] == ["-C", str(notes), "mcp"]
    assert run(capsys, *CONFIGS, "--apply", "--remove")[0] == 0
    assert listing(home) == before, "what was made is gone, and what was empty is not"
    run(capsys, "cursor", "--apply")
    cursor.write_text(json.dumps({"x": 1} | json.loads(cursor.read_bytes()), indent=1))
    assert run(capsys, "cursor", "--apply", "--remove")[0] == 0
    assert json.loads(cursor.read_bytes()) == {"x": 1, "mcpServers": {}}


@pytest.mark.parametrize("stop", range(5))
def test_a_write_that_is_interrupted_anywhere_is_taken_up(capsys, home, monkeypatch, stop):
    before, written = listing(home), []
    (home / "notes" / ".palace").mkdir(parents=True)

    def write_some(path, data, **given):
        written.append(path)
        if len(written) % 5 == stop:
            raise KeyboardInterrupt
        path.write_bytes(data)

    for place in ([], ["-C", str(home / "notes")]):
        line = [*place, "connect", "codex", "cursor", "--apply"]
        with monkeypatch.context() as patch:
            patch.setattr(plugin, "write_atomic", write_some)
            patch.setattr(connect, "write_atomic", write_some)
            assert run_main(capsys, *line)[0] == 130
        assert run_main(capsys, *line)[0] == run(capsys, "codex", "cursor", "--check")[0] == 0
    assert run(capsys, "codex", "cursor", "--apply", "--remove")[0] == 0
    assert listing(home) == before


TEXTS = st.sampled_from(["x", '"//', "/*", ",}", "\\", "{", "é\n"])
VALUES = st.lists(TEXTS, max_size=2) | st.dictionaries(TEXTS, TEXTS, max_size=2)
OBJECTS = st.dictionaries(TEXTS, VALUES, max_size=3)
ENDS = st.sampled_from(["", "\r\n", " // end", "\n/* } */\n"])


@given(OBJECTS, st.none() | OBJECTS, st.sampled_from([None, 0, 4, "\t"]), ENDS)
def test_what_is_placed_in_any_json_is_cut_to_the_byte(data, servers, indent, end):
    given = data if servers is None else {"mcpServers": servers, **data}
    text = json.dumps(given, indent=indent, ensure_ascii=False) + end
    keys, entry = ("mcpServers", "palace"), {"command": "p", "args": ["mcp"]}
    after = (edit := splicing.place_entry(text, "jsonc", keys, entry)).apply(text)
    placed = data | {"mcpServers": {**(servers or {}), "palace": entry}}
    assert splicing.parse(after, "jsonc") == placed
    assert splicing.cut_entry(after, "jsonc", keys, edit.after).apply(after) == text
    cut = splicing.cut_entry(after, "jsonc", keys, "another layout").apply(after)
    assert splicing.parse(cut, "jsonc") == data | {"mcpServers": servers or {}}


@pytest.fixture
def plug(capsys, home):
    run(capsys, "claude", "--apply")
    return home / "d" / "memory-palace" / "plugins" / "claude"


def record_file(plug, path, name):
    path.write_text("old\n")
    record = json.loads((plug / RECORD).read_text())
    record["files"][name] = plugin._digest(b"old\n")
    (plug / RECORD).write_text(json.dumps(record))


@pytest.mark.parametrize("record", HOMES["records"])
def test_a_file_of_a_plug_in_that_somebody_changed_is_kept(capsys, plug, record):
    (plug / SKILL).write_text("mine\n")
    if record is not None:
        (plug / RECORD).write_bytes(record.encode("utf-8", "surrogatepass"))
    before = listing(plug)
    status, _, err = run(capsys, "claude", "--apply")
    assert (status, listing(plug), str(plug / SKILL) in err) == (8, before, True)
    assert run(capsys, "claude", "--remove", "--apply")[0] == (8 if record is None else 0)
    assert listing(plug)[SKILL] == b"mine\n"


def test_another_version_is_replaced_and_what_only_it_wrote_goes_unless_changed(capsys, plug):
    for name in ("old.md", "edited.md", SKILL):
        record_file(plug, plug / name, name)
    (plug / "edited.md").write_text("edited\n")
    assert run(capsys, "--check")[0] == 8
    assert "--- a/old.md" in run(capsys, "claude")[1]
    assert run(capsys, "claude", "--apply")[0] == 0
    assert b"old\n" not in listing(plug).values()
    assert (plug / "edited.md").read_text() == "edited\n"


@pytest.mark.parametrize("where", ["elsewhere", NAME, f"{NAME}/.mcp.json"])
def test_nothing_is_written_or_removed_elsewhere(capsys, plug, tmp_path, where):
    if where == "elsewhere":
        record_file(plug, tmp_path / where, f"../../../../../{where}")
    else:
        (plug / where).rename(tmp_path / "moved")
        (plug / where).symlink_to(tmp_path)
    before = listing(tmp_path)
    for words in ([], ["--remove"]):
        assert run(capsys, "claude", *words, "--apply")[0] == 2
        assert listing(tmp_path) == before


def test_json_says_the_same_and_who_is_not_here_is_said(capsys, home):
    (home / ".claude").rmdir()
    assert '"state":"connected"' in run(capsys, "gemini", "--json", "--apply")[1]
    status, _, err = run(capsys, "claude", "--apply")
    assert (status, f"Claude Code is not here ({home / '.claude'})" in err) == (8, True)
    (home / CONFIGS["codex"][0]).write_text("mcp_servers = {}\n")
    assert "there is no place for 'mcp_servers.palace'" in run(capsys, "codex")[2]
    for words in (["--apply"], ["--remove"], ["gemini", "--check", "--apply"], ["emacs"]):
        assert run(capsys, *words)[0] == 2
