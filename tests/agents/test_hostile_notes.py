"""Notes written to deceive, by every way an agent is shown notes: nothing of them gets out."""

import io
import json
import shutil
import socket
import sys
from pathlib import Path

import pytest
from hostile_notes import CANARY, HOSTILE, WORDS, write_hostile_notes
from reading_fences import read_fences, read_outside
from running import run_main

from memory_palace import Palace
from memory_palace.features.agents.fencing import show_hits
from memory_palace.features.agents.tools import list_tools, read, recall, search
from memory_palace.language.visible import visible

NAMES = dict(zip(WORDS, HOSTILE, strict=True))


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    """A folder with the notes in it, indexed; what lies beside them shows what was written."""
    house = tmp_path_factory.mktemp("house")
    write_hostile_notes(house / "notes")
    Palace(house / "notes").index(embedder="none")
    return house


@pytest.fixture(autouse=True)
def enclosed(house, tmp_path, monkeypatch):
    """Stand among the notes, where nothing is fetched and nothing new may lie afterwards."""

    def refuse(*_: object) -> None:
        raise AssertionError("something was fetched")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setenv("PALACE_NO_SERVE", "1")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(house / "notes")
    before = read_notes(house)
    yield
    assert read_notes(house) == before
    assert not [*house.rglob(f"*{CANARY}"), *tmp_path.rglob("*")]


def read_notes(house: Path) -> dict[Path, bytes]:
    """Every file beside and among the notes, but what is derived from them."""
    files = (path for path in house.rglob("*") if path.is_file())
    return {path: path.read_bytes() for path in files if ".palace" not in path.parts}


def assert_visible(text: str) -> None:
    assert visible(text) == text
    text.encode()


def test_there_are_thirty_and_each_is_found_by_its_word(house):
    assert len(HOSTILE) >= 30
    palace = Palace(house / "notes")
    assert {word: palace.query(word)[0].path for word in WORDS} == NAMES


@pytest.mark.parametrize("word", WORDS)
def test_an_answer_keeps_each_note_in_its_fence(house, word):
    found = Palace(house / "notes").query(word)
    shown = show_hits(found, generation=1)
    assert_visible(shown)
    assert len(read_fences(shown)) == len(found.hits)
    assert len(read_outside(shown)) == 1 + len(found.hits)
    small = show_hits(found, generation=1, budget_bytes=300)
    assert len(small.encode()) <= 300
    assert len(read_fences(small)) <= len(found.hits)


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("form", ["text", "json", "paths", "markdown"])
def test_no_format_of_query_lets_a_terminal_obey(capsys, word, form):
    status, out, err = run_main(capsys, "query", word, "--format", form)
    assert status == 0, err
    assert_visible(out + err)
    if form == "json":
        assert json.loads(out)["hits"][0]["path"] == NAMES[word]
    if form == "paths":
        assert len(out.splitlines()) == 1


@pytest.mark.parametrize("word", WORDS)
def test_recall_and_show_tell_it_as_data(capsys, house, word):
    found = Palace(house / "notes").recall(f"we spoke of the {word} again", min_confidence=0)
    assert_visible(found.text)
    places = [line for line in found.text.splitlines() if not line.startswith("  ")]
    assert len(places) == len(found.hits)
    status, out, err = run_main(capsys, "show", "--", NAMES[word])
    assert status == 0, err
    assert_visible(out + err)
    status, out, _ = run_main(capsys, "show", "--json", "--", NAMES[word])
    assert status == 0
    assert_visible(out)
    assert json.loads(out)["path"] == NAMES[word]


@pytest.mark.parametrize(
    "command",
    [
        "status",
        "doctor",
        "task list",
        "graph map",
        "graph anchors list",
        "conflict list",
        "verify x",
    ],
)
@pytest.mark.parametrize("more", [(), ("--json",)])
def test_what_speaks_of_all_notes_is_safe_to_print(capsys, command, more):
    _, out, err = run_main(capsys, *command.split(), *more)
    assert_visible(out + err)


@pytest.mark.parametrize("word", WORDS)
def test_the_tools_of_a_server_tell_it_as_data(house, word):
    palace = Palace(house / "notes")
    for told in (search(palace, word), read(palace, NAMES[word])):
        assert_visible(told)
        assert len(read_fences(told)) == 1
        assert len(read_outside(told)) <= 3
    told = recall(palace, f"we spoke of the {word} again")
    assert_visible(told)
    state, *more = read_outside(told)
    assert state.startswith("lexical · generation 1 · ")
    assert more in ([], ["the notes have nothing on this"])


@pytest.mark.parametrize("word", WORDS)
def test_a_hook_puts_it_into_one_fence(capsys, monkeypatch, house, word):
    message = {"session_id": word, "prompt": f"we spoke of the {word} again, at {word}"}
    given = json.dumps(message | {"cwd": str(house)})
    monkeypatch.setattr(sys, "stdin", io.StringIO(given))
    status, out, err = run_main(capsys, "hook", "prompt")
    assert (status, err) == (0, "")
    assert_visible(out)
    assert len(read_fences(out)) == bool(out)
    assert len(read_outside(out)) == bool(out)


def test_what_is_remembered_of_them_stays_an_entry_of_the_inbox(tmp_path_factory, house):
    root = tmp_path_factory.mktemp("kept") / "notes"
    shutil.copytree(house / "notes", root)
    palace = Palace(root)
    before = read_notes(root)
    for name, text in HOSTILE.items():
        if len(text) < 10_000:
            given = {"text": text, "source": name}
            assert_visible(list_tools()["remember"].call(palace, given, name))
    new = read_notes(root).keys() - before.keys()
    assert {path.parent.name for path in new} == {"Inbox"}
    assert all(b"origin: agent" in path.read_bytes() for path in new)
    assert {path: path.read_bytes() for path in before} == before


@pytest.mark.parametrize(
    "path",
    ["../outside.md", "/etc/passwd", "notes/../../x.md", "a\x00b", "file:///etc/passwd", "~root/x"],
)
@pytest.mark.parametrize("verb", ["show", "remember"])
def test_no_path_leads_out(capsys, monkeypatch, house, verb, path):
    (house / "outside.md").touch()
    line = ("remember", "words", f"--to={path}") if verb == "remember" else (verb, "--", path)
    status, out, err = run_main(capsys, *line)
    assert status not in (0, None)
    assert "root:" not in out
    assert_visible(out + err)
    (house / "outside.md").unlink()


def test_an_export_of_them_becomes_notes_in_its_folder(capsys, tmp_path_factory, house):
    place = tmp_path_factory.mktemp("export")
    root = place / "notes"
    (root / ".palace").mkdir(parents=True)
    said = [(name, text) for name, text in HOSTILE.items() if len(text) < 10_000]
    conversations = [
        {
            "uuid": f"../{number}",
            "name": name,
            "created_at": "2026-05-01T10:00:00Z",
            "chat_messages": [{"sender": "human", "text": text, "content": []}],
        }
        for number, (name, text) in enumerate(said)
    ]
    export = place / "conversations.json"
    export.write_text(json.dumps(conversations), "utf-8")
    for _ in range(2):
        given = ("import", export, "--from", "claude", "--apply", "-C", root)
        status, out, err = run_main(capsys, *map(str, given))
        assert status == 0, err
        assert_visible(out + err)
        written = read_notes(place).keys() - {export}
        assert len(written) == len(said)
        assert all(path.is_relative_to(root / "Imports") for path in written)
