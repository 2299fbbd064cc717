"""Known items: questions drawn from any folder, and what they are worth."""

import random

import pytest
from writing_notes import write_notes

from benchmarks.known_items import KnownItem, measure_known, mistype, rank_items
from memory_palace.retrieval.question import is_mistyped

NOTES = {
    "a/kademlia.md": "Routing tables of peers, kept in buckets that split when they are full.",
    "a/gardening notes.md": "---\naliases: [Allotment]\n---\n"
    "Potatoes want earthing up in the late spring.",
    "b/Café.md": "# Coffee house\n\nTables stand outside by the water whenever the sun is shining.",
    "b/empty.md": "",
    "b/twice.md": "One of two notes that are called alike and can not be told apart.",
    "a/twice.md": "The other of the two, which nobody can ask for by its name alone.",
}


@pytest.fixture
def vault(tmp_path):
    return write_notes(tmp_path / "vault", NOTES)


def test_every_kind_is_asked_and_answered_and_no_note_changes(vault):
    asked = []
    scores = measure_known(
        vault, embedder="hashing", seed=1, most=5, report=lambda item, rank: asked.append(item)
    )
    kinds = {"title", "file name", "alias", "typo", "quote"}
    assert kinds == {score.kind for score in scores}
    ours = {s.kind: s for s in scores if s.system == "palace query"}
    for kind in ("title", "file name", "alias", "quote"):
        assert ours[kind].at_1 == ours[kind].answered == 1.0
    assert {item.question for item in asked if item.kind == "file name"} == {
        "kademlia", "gardening notes", "Café", "empty",
    }  # fmt: skip
    for name, text in NOTES.items():
        assert (vault / name).read_text("utf-8") == text


def test_a_typo_is_one_letter_away():
    chance = random.Random(3)
    assert all(is_mistyped(mistype("kademlia", chance), "kademlia") for _ in range(200))
    assert mistype("one2", chance) == ""


def test_what_is_not_found_counts_as_rank_0_and_the_worst_kind_comes_first():
    items = [KnownItem("title", "x", "a"), KnownItem("alias", "y", "b")]
    told = []
    ranks = rank_items(
        items,
        {"ours": lambda question: (["a"], True), "other": lambda question: (["b", "a"], False)},
        lambda item, rank: told.append(rank),
    )
    assert told == [1, 0]
    assert ranks["title", "ours"] == [(1, True)] and ranks["alias", "ours"] == [(0, False)]
    assert ranks["title", "other"] == [(2, False)] and ranks["alias", "other"] == [(1, False)]
