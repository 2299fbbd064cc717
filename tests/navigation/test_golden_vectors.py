"""The literal scoring reproduces the log of source document 004 to 1e-12."""

from __future__ import annotations

import pytest

from memory_palace.navigation.literal import StubEmbedder, seed_of, seeded_vector
from memory_palace.navigation.node_ranking import retrieve_candidates
from memory_palace.navigation.nodes import MemoryNode, Pose2D
from memory_palace.navigation.shelves import NodeStore

SEEDS = (4016909382, 1557026661, 3079253624, 707762871, 1902090197)
"""Of the texts of the document's five rooms, none of which has a word of the goal."""
LOGGED = {
    3: 0.513764674315842,
    1: 0.42361729237259393,
    4: 0.4095280728126988,
    0: 0.36830650320874225,
    2: 0.31435918816763464,
}


@pytest.fixture
def rooms():
    return NodeStore(
        MemoryNode(place, Pose2D(0.0, 0.0), tuple(seeded_vector(seed)), ("room",))
        for place, seed in enumerate(SEEDS)
    )


def test_the_literal_scoring_reproduces_the_documents_log(rooms):
    found = retrieve_candidates("red backpack", rooms, StubEmbedder(), scoring="literal")
    assert [candidate["node_id"] for candidate in found] == list(LOGGED)
    for candidate in found:
        assert candidate["score"] == pytest.approx(LOGGED[candidate["node_id"]], abs=1e-12)


def test_the_documents_guard_puts_the_least_alike_room_second(rooms):
    found = retrieve_candidates("red backpack", rooms, StubEmbedder(), scoring="guarded")
    assert [candidate["node_id"] for candidate in found] == [3, 2, 1, 4, 0]
    scores = [candidate["score"] for candidate in found]
    assert scores == pytest.approx([0.5138, 0.3144, 0.2118, 0.2048, 0.1842], abs=5e-5)


def test_seeds_are_the_first_eight_digits_of_the_texts_md5():
    assert seed_of("  Red Backpack ") == seed_of("red backpack") == 0x251CA9C8
