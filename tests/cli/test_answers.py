import json
import os
import pty
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from running import read_screen
from serving_palaces import warm
from writing_notes import index_notes, write_notes

from memory_palace.features.asking.answers import Answer, Entry, LaidAnswer
from memory_palace.features.asking.screen import fill, find_marks, lay_out
from memory_palace.language.visible import visible
from memory_palace.models import Piece
from memory_palace.palace import Palace

LONG_WORD = "https://example.org/" + "a-very-long-address/" * 12
NOTES = {
    "Ärger mit dem Dach.md": "# Ärger mit dem Dach\n\nDas Dach tropft. Dachdecker: Montag.\n",
    "日本語のノート.md": "# 同期の設定\n\n"
    + "同期の設定を変更する方法は、ここに書いてあります。" * 6
    + "\n",
    "address.md": f"# Roof address\n\nThe roofer is at {LONG_WORD} until the roof is mended.\n",
    "a/b/c/a deep folder with a long name/another one below it/roofs.md": "# Roofs of the "
    "whole village and of the two farms behind the mill\n\n## Repairs\n\nEvery roof was mended.\n",
    "evil\u202e.md": "# The \x1b[31mroof\u202e\n\nA \x1b]0;title\x07 roof \u202eliked red.\n",
    "emoji.md": "# Roof 🏠👨‍👩‍👧\n\n" + "The roof 🏠 is green 🌿 and red 🍎. " * 9 + "\n",
}


@pytest.fixture(scope="module")
def vault(tmp_path_factory):
    root = tmp_path_factory.mktemp("vault")
    for file in write_notes(root / "palace" / "chambers", NOTES).iterdir():
        os.utime(file, (1.75e9, 1.75e9))
    Palace(root).index(embedder="hashing")
    return root


def palace(*arguments, cwd, **environ):
    return subprocess.CompletedProcess(arguments, *warm(cwd, *arguments, **environ))


def on_a_terminal(*arguments, cwd, columns=80, **environ):
    """Run a command whose stdout is a terminal, and return all that it writes there."""
    ours, theirs = pty.openpty()
    kept = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "COLUMNS", "PALACE_ROOT")}
    process = subprocess.Popen(
        [sys.executable, "-m", "memory_palace", *arguments],
        cwd=cwd,
        stdout=theirs,
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env={**kept, "COLUMNS": str(columns), "TERM": "xterm-256color", **environ},
    )
    os.close(theirs)
    written = read_screen(ours)
    assert process.wait() == 0, process.stderr.read()
    process.stderr.close()
    return written.decode()


def arrange_one(**fields):
    file = Path("/notes/a.md")
    return Entry(mark="1", above="", file=file, line=1, date="", **{"sure": "", **fields})


def words_of(text):
    return set(re.findall(r"[^\W_]+", text))


@pytest.mark.parametrize("code", ["`![[roof.png]]`", "`[[roof]]`", "`![](roof.png)`"])
def test_links_are_shown_as_a_renderer_shows_them_but_between_backticks(code):
    """Before, nothing was left between them of a picture without a text."""
    entry = arrange_one(title="Roof", place="a.md:1", text=f"Write {code} or [[roof|tiles]].")
    rows = lay_out(LaidAnswer((), (entry,), ()), "roof", width=80, environ={})
    assert [row.plain for row in rows][1].strip() == f"Write {code} or tiles."
    text = "See [[roof|the **roof**]], [[Ridge]] and [a page](https://example.org) [1]."
    (row,) = fill(text, "", 80)
    assert row.plain == "See the roof, Ridge and a page [1]."


ANY_TEXT = st.text(
    st.one_of(st.characters(), st.sampled_from(" \n日、。「」ー🏠👨\u200d👩ก็สี한é\u0301[]*()/")),
    max_size=200,
)


@given(text=ANY_TEXT, question=ANY_TEXT, width=st.integers(17, 120))
def test_any_text_keeps_to_the_width_and_loses_nothing(text, question, width):
    shown = visible(text)
    rows = [row.plain for row in fill(shown, question, width)]
    assert max(map(cell_len, rows), default=0) <= width
    if "…" not in "".join(rows) and "[" not in text and "*" not in text:
        assert "".join("".join(rows).split()) == "".join(shown.split())


@given(
    hits=st.lists(st.tuples(ANY_TEXT, ANY_TEXT, ANY_TEXT, st.booleans()), max_size=5),
    width=st.integers(1, 220),
)
def test_any_answer_keeps_to_the_width_and_to_24_lines_from_40_columns(hits, width):
    entry = arrange_one(title="x", place="p", text="t")
    entries = tuple(
        replace(
            entry,
            title=" ".join(visible(title).split()) or "x",
            place=" ".join(visible(place).split()) or "p",
            pieces=(Piece(visible(text), 1, 1, 1, "", 1.0, is_verbatim=False),),
            date="18 September 2026" if is_dated else "",
        )
        for title, place, text, is_dated in hits
    )
    shown = LaidAnswer((), entries, ("a" * 50, "b"))
    rows = [row.plain for row in lay_out(shown, "a", width=width, environ={})]
    assert max(map(cell_len, rows), default=0) <= max(20, min(width, 120))
    assert len(rows) <= 24 or width < 40


@pytest.mark.parametrize(
    ("text", "question", "marked"),
    [
        ("Why it was dropped: brokers.", "why did we drop the broker", ["dropped", "brokers"]),
        ("同期の設定を変更する方法", "設定を変更", ["設定を変更"]),
        ("雪が降る", "雪", ["雪"]),
        ("A café, a cafe\u0301.", "café", ["café", "cafe\u0301"]),
        ("1 of 1.0.21", "1.0.21", ["1.0.21"]),
        ("Androidの設定", "android", ["Android"]),
        ("the end", "the", ["the"]),
        ("ペンケースとペン", "ペン", ["ペン", "ペン"]),
        ("モバイルアプリ", "モバイルで使う", ["モバイル"]),
        ("nothing", "", []),
    ],
)
def test_words_of_the_question_are_marked_as_a_search_finds_them(text, question, marked):
    assert [text[start:end] for start, end in find_marks(text, question)] == marked


def test_a_terminal_gets_colours_and_links_that_open_the_note(vault):
    written = on_a_terminal("query", "Dach", cwd=vault)
    assert "\x1b[1;35mDach\x1b[0m" in written
    assert "file://" in written and "/palace/chambers/%C3%84rger%20mit%20dem%20Dach.md" in written
    assert "md#" not in written
    written = on_a_terminal("query", "Dach", cwd=vault, KITTY_WINDOW_ID="1")
    assert "Dach.md#3" in written


@pytest.mark.parametrize("environ", [{"NO_COLOR": "1"}, {"TERM": "dumb"}], ids=str)
def test_no_escape_is_written_where_none_is_wanted(vault, environ):
    written = on_a_terminal("query", "roof", cwd=vault, **environ)
    assert "Every roof was mended." in written and "\x1b" not in written


def test_what_a_terminal_would_obey_is_made_visible(vault):
    written = on_a_terminal("query", "liked red roof", cwd=vault, NO_COLOR="1")
    assert "\x1b" not in written and "\u202e" not in written
    assert "<U+001B>" in written and "<U+202E>" in written
    for form in ("text", "paths", "markdown"):
        written = palace("query", "liked red roof", "--format", form, cwd=vault).stdout
        assert "\x1b" not in written and "\u202e" not in written, form


def test_a_pipe_gets_the_same_words_unwrapped(vault):
    piped = palace("query", "farms village roofs", "-k", "1", cwd=vault).stdout
    assert "\x1b" not in piped and "a deep folder with a long name/another one below it" in piped
    shown = on_a_terminal("query", "farms village roofs", "-k", "1", cwd=vault, columns=200)
    clean = re.sub(r"\x1b(\[[0-9;]*m|\]8;[^\x1b]*\x1b\\)", "", shown)
    assert words_of(clean) == words_of(piped)


def test_a_path_opens_from_where_one_stands(vault, tmp_path, monkeypatch):
    for folder in (vault, vault / "palace", vault / "palace" / "chambers", tmp_path):
        monkeypatch.chdir(folder)
        done = palace("-C", str(vault), "query", "Dach", "-k", "1", "--format", "paths", cwd=folder)
        assert Path(done.stdout.rstrip("\n")).read_text("utf-8") == NOTES["Ärger mit dem Dach.md"]
    assert done.stdout.startswith("/")


def test_a_day_that_only_the_file_gives_is_not_shown(tmp_path):
    here = Palace.init(tmp_path)
    folder = tmp_path / "palace" / "chambers"
    (folder / "a.md").write_text("# a\n\nA roof.\n")
    (folder / "b.md").write_text("---\ncreated: 1749945600000\n---\n# b\n\nA roof.\n")
    os.utime(folder / "a.md", (1.6e9, 1.6e9))
    here.index(embedder="hashing")
    shown = Answer.of(here.query("roof"), root=tmp_path, details=True).arrange()
    assert {entry.title: entry.date for entry in shown.entries} == {"a": "", "b": "15 June 2025"}
    assert "no date, priority none" in {line for e in shown.entries for line in e.details}


def test_remarks_on_the_same_terminal_leave_less_room_for_texts(vault):
    shown = Answer.of(Palace(vault).query("roof mended"), root=vault).arrange()
    assert len(lay_out(shown, "roof", width=80, lines=20, environ={})) <= 20


def test_whole_passages_are_not_cut_where_they_are_asked_for(tmp_path):
    text = " ".join(f"Sentence {number} says a word of kettles." for number in range(40))
    index_notes(tmp_path, {"a.md": f"# A\n\n{text}\n"})
    whole = on_a_terminal("query", "kettles", "--full", cwd=tmp_path, NO_COLOR="1")
    assert " ".join(text.split()) in " ".join(whole.split())
    assert len(on_a_terminal("query", "kettles", cwd=tmp_path, NO_COLOR="1").splitlines()) <= 24


def test_linked_notes_are_one_line_of_titles(tmp_path):
    notes = {"a.md": "# Kettle\n\nThe kettle sings. [[b]] [[c]]\n"}
    notes |= {"b.md": "# Stove\n\nGas.\n", "c.md": "# Tap\n\nDrips.\n"}
    result = index_notes(tmp_path, notes).query("kettle sings", limit=1)
    assert list(Answer.of(result, root=tmp_path).lines())[-2:] == ["", "linked: Stove · Tap"]
    full = list(Answer.of(result, root=tmp_path, neighbors=True).lines())
    assert [line[:8] for line in full if line.startswith("→")] == ["→  Stove", "→  Tap  "]


# --- Formats --------------------------------------------------------------------------------------


def test_each_format_has_a_line_per_hit_that_a_program_can_read(vault):
    found = json.loads(palace("query", "roof", "--format", "json", cwd=vault).stdout)
    core = found["hits"]
    lines = palace("query", "roof", "--format", "paths", cwd=vault).stdout.splitlines()
    assert len(lines) == len(core)
    text = palace("query", "roof", "--format", "markdown", cwd=vault).stdout
    assert len(re.findall(r"^\d\. \[.*\]\(\S+\), line \d+", text, re.M)) == len(core)
    done = palace("query", "roof", "--json", "--format", "paths", cwd=vault)
    assert done.returncode == 2 and "--json contradicts --format paths" in done.stdout
