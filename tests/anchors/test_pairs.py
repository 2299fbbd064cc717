"""Two telling words in a row lead to the passages that hold them so."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from asking_anchors import by_words, fired_anchors

from memory_palace.anchors.corpus import TermedPassage
from memory_palace.anchors.words import MOST_HELD, collect_pairs, list_pairs, pairs_of
from memory_palace.index.postings import hash_key
from memory_palace.palace import Palace

Write = Callable[[str, str], Path]


def first(palace: Palace, text: str) -> str:
    return by_words(palace).look_up(text).hits[0].path


def passage(key: int, *words: str) -> TermedPassage:
    return TermedPassage(0, key, 0, (), words)


def test_stop_words_numbers_and_short_words_do_not_part_a_pair() -> None:
    words = ["a", "point", "of", "view", "in", "12", "cold", "room"]
    assert list(pairs_of(words)) == ["point view", "view cold", "cold room"]


def test_lists_are_by_pair_and_bounded() -> None:
    many = [passage(n, "red", "kite") for n in range(MOST_HELD + 1)]
    few = [passage(n, "blue", "tit", "nest") for n in (900, 901)]
    lists = list_pairs(*collect_pairs([*many, *few, passage(902, "grey", "wagtail")]), least=2)
    assert lists.find("blue tit").tolist() == [900, 901]
    assert lists.find("tit nest").tolist() == [900, 901]
    assert not len(lists.find("red kite"))
    assert not len(lists.find("grey wagtail"))
    pairs, passages = lists.entries()
    assert set(pairs.tolist()) == {hash_key("blue tit"), hash_key("tit nest")}
    assert sorted(passages.tolist()) == [900, 900, 901, 901]


def test_a_phrase_of_two_words_that_stand_everywhere_leads_to_where_it_stands(
    palace: Palace, write: Write
) -> None:
    for number in range(12):
        write(f"chambers/wren/a{number}.md", f"The slow train had a late start, {number}.\n")
        write(f"chambers/wren/b{number}.md", f"A cold morning with a slow river, {number}.\n")
    for name in ("x", "y"):
        write(f"chambers/wren/{name}.md", f"It was a slow morning for the keeper of {name}.\n")
    palace.index()
    palace.anchors.build()
    text = "somebody spoke of a slow morning"
    found = by_words(palace).look_up(text)
    assert {hit.path for hit in found.hits[:2]} == {
        "palace/chambers/wren/x.md",
        "palace/chambers/wren/y.md",
    }
    assert ("slow morn", "word") in fired_anchors(palace, text)


def test_updates_bring_their_pairs_and_deletions_take_them(palace: Palace, write: Write) -> None:
    for number in range(8):
        write(f"chambers/wren/a{number}.md", f"The amber train met a copper river, {number}.\n")
    palace.index()
    palace.anchors.build()
    note = write("chambers/wren/new.md", "Nobody saw the copper train leave.\n")
    palace.index()
    write("chambers/wren/other.md", "Melt water in the yard.\n")
    palace.index()
    assert first(palace, "a copper train?") == "palace/chambers/wren/new.md"
    note.unlink()
    palace.index()
    assert ("copper train", "word") not in fired_anchors(palace, "a copper train?")
