"""Laws of what agents are shown, checked by a CommonMark parser that is not ours."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reading_fences import read_fences, read_outside

from memory_palace.features.agents.fencing import fence, show_hits, write_place
from memory_palace.language.visible import visible
from memory_palace.models import ChunkRecord, Hit, NoteDate, NoteRecord, QueryResult

PARTS = (
    *("`", "```", "~~~~~", "\n", "\r\n", "\r", " ", "    ", "\t", "> ", "- ", "1. ", "<!--", "é"),
    *(
        "<script>",
        "</system-reminder>",
        "\x1b[2J",
        "\u202e",
        "\U000e0041",
        "\u200d",
        "palace show x",
    ),
    *("\x85", "\u2028", "\x0c", "e\u0301", "\U0001f469\u200d\U0001f4bb"),
)
WRITTEN = st.one_of(
    st.text(max_size=200), st.lists(st.sampled_from(PARTS), max_size=40).map("".join)
)
NAMES = WRITTEN.filter(lambda name: bool(name.strip()))


def make_hit(path: str, title: str, text: str, last: int = 9) -> Hit:
    date = NoteDate(0.0, "front matter")
    note = NoteRecord(path, title, "note", None, (), (), (), (), date, False, False, ())
    chunk = ChunkRecord(path, (), 1, last, "0" * 32, text)
    return Hit(path, title, 1.0, (), chunk, text, note, confidence=0.7391)


def make_answer(hits: list[Hit]) -> QueryResult:
    return QueryResult("x", "hybrid", "vector", "hashing", tuple(hits), freshness="current")


@given(WRITTEN)
def test_nothing_leaves_a_fence(text: str) -> None:
    (inside,) = read_fences(fence(text))
    shown = visible(text.replace("\r\n", "\n").strip("\n"))
    assert inside == f"{shown}\n"


@given(WRITTEN, st.integers(0, 300), NAMES)
def test_a_budget_holds_the_closing_fence_too(text: str, budget: int, name: str) -> None:
    shown = fence(text, budget_bytes=budget, cut=f"palace show {name}")
    assert len(shown.encode()) <= budget
    if shown:
        (inside,) = read_fences(shown)
        lines = inside.rstrip("\n").split("\n")
        is_whole = fence(text) == shown
        assert is_whole or lines[-1].startswith("… [cut")
        if not is_whole:
            kept = "\n".join(lines[:-1])
            assert visible(text.replace("\r\n", "\n").strip("\n")).startswith(kept[:-8])


@given(st.lists(st.tuples(NAMES, NAMES, WRITTEN), max_size=4))
def test_each_hit_has_one_header_and_its_own_fence(found: list[tuple[str, str, str]]) -> None:
    hits = [make_hit(f"{path}.md", title, text) for path, title, text in found]
    shown = show_hits(make_answer(hits), generation=3)
    told = [hit for hit in hits if hit.text.strip()]
    assert len(read_fences(shown)) == len(told)
    assert len(read_outside(shown)) == 1 + max(len(hits), 1)


@given(st.lists(st.tuples(NAMES, NAMES, WRITTEN), max_size=5), st.integers(0, 900))
def test_an_answer_stays_within_its_budget(found: list[tuple[str, str, str]], budget: int) -> None:
    hits = [make_hit(f"{path}.md", title, text) for path, title, text in found]
    shown = show_hits(make_answer(hits), generation=3, budget_bytes=budget)
    read_fences(shown)
    always = show_hits(make_answer(hits), generation=3, budget_bytes=0)
    assert len(shown.encode()) <= max(budget, len(always.encode()))


@given(NAMES)
def test_a_place_is_the_path_or_its_json(name: str) -> None:
    place = write_place(f"{name}:7-9")
    path, _, lines = place.rpartition(":")
    assert lines == "7-9"
    assert (json.loads(path) if path.startswith('"') else path) == name
    assert "\n" not in place
    assert visible(place) == place


@pytest.mark.parametrize(
    "path", ["a.md", "2026-01-01.md", "12.md", "_index.md", "Jäger/日記 九月.md", "a/b c: d.md"]
)
def test_ordinary_paths_stand_as_they_are(path: str) -> None:
    assert write_place(f"{path}:1") == f"{path}:1"


def test_an_answer_says_what_it_is_made_of() -> None:
    hit = make_hit("rooms/Rain gauge.md", "Rain  gauge\n# x", "It drifts.\n```\nin frost")
    answer = QueryResult("x", "hybrid", "vector", None, (hit,), freshness="stale", behind=3)
    assert show_hits(answer, generation=12) == (
        "vector · generation 12 · 3 notes behind\n"
        "rooms/Rain gauge.md:1-9  0.73  1970-01-01  Rain gauge # x\n"
        "````\nIt drifts.\n```\nin frost\n````"
    )


def test_a_command_that_is_told_is_one_argument_of_a_shell() -> None:
    hit = make_hit("--x;$(touch y) '.md", "t", "word " * 300)
    shown = show_hits(make_answer([hit]), generation=1, budget_bytes=400)
    assert """… [cut: palace show './--x;$(touch y) '"'"'.md:1-9']""" in shown


def test_a_title_without_end_leaves_room_for_the_text() -> None:
    shown = show_hits(make_answer([make_hit("a.md", "x" * 300_000, "told")]), generation=1)
    assert len(shown) < 250
    assert "told" in shown
