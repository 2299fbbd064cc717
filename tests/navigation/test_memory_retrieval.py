"""The nine tests of retrieval that source document 004 names, in every scoring."""

from __future__ import annotations

import pytest

from memory_palace.navigation.literal import StubEmbedder
from memory_palace.navigation.node_ranking import Narrowing, retrieve_candidates
from memory_palace.navigation.nodes import MemoryNode, Pose2D
from memory_palace.navigation.shelves import NodeStore

HERE = Pose2D(0.0, 0.0)
EVERY = pytest.mark.parametrize("scoring", ["calibrated", "literal", "guarded"])


def store_of(*summaries, tags=()):
    return NodeStore(MemoryNode(i, HERE, None, tags, text) for i, text in enumerate(summaries))


def retrieve(goal, store, scoring, k=5):
    return retrieve_candidates(goal, store, StubEmbedder(), k, scoring=scoring)


@EVERY
def test_deterministic_ordering(scoring):
    nodes = [MemoryNode(i, HERE, None, (), text) for i, text in ((7, "a"), (2, "b"), (5, "c"))]
    first = retrieve("red backpack", NodeStore(nodes), scoring)
    assert first == retrieve("red backpack", NodeStore(reversed(nodes)), scoring)
    assert sorted(found["node_id"] for found in first) == [2, 5, 7]


@EVERY
def test_tie_break_behavior(scoring):
    found = retrieve("backpack", store_of("the same", "the same", "the same"), scoring)
    assert [candidate["node_id"] for candidate in found] == [0, 1, 2]
    assert len({candidate["score"] for candidate in found}) == 1


@EVERY
def test_score_range(scoring):
    found = retrieve("red backpack", store_of("red backpack", "sofa", "", "stove"), scoring)
    for candidate in found:
        assert set(candidate) == {"node_id", "score"}
        assert type(candidate["node_id"]) is int
        assert type(candidate["score"]) is float
        assert 0.0 <= candidate["score"] <= 1.0


@EVERY
def test_score_mapping(scoring):
    """A text compared with itself has cosine 1 and all words: .8 and .2."""
    store = NodeStore([MemoryNode(0, HERE, None, (), "red backpack"), MemoryNode(1, HERE)])
    found = retrieve("red backpack", store, scoring)
    assert found[0]["node_id"] == 0
    assert found[0]["score"] > 0.3
    vector = tuple(StubEmbedder().embed_exactly("red backpack"))
    same = NodeStore([MemoryNode(0, HERE, vector, ("red", "backpack"))])
    assert retrieve("red backpack", same, scoring)[0]["score"] == pytest.approx(1.0, abs=1e-6)


@EVERY
def test_keyword_blending(scoring):
    vector = StubEmbedder().embed_exactly("anything at all")
    nodes = [MemoryNode(0, HERE, tuple(vector), ("sofa", "lamp"))]
    nodes.append(MemoryNode(1, HERE, tuple(vector), ("red", "backpack")))
    found = retrieve("red backpack", NodeStore(nodes), scoring)
    assert [candidate["node_id"] for candidate in found] == [1, 0]


@EVERY
def test_empty_goal_text(scoring):
    assert retrieve("", store_of("sofa"), scoring) == []


@EVERY
def test_whitespace_only_goal_text(scoring):
    assert retrieve(" \t\n ", store_of("sofa"), scoring) == []


@EVERY
@pytest.mark.parametrize("goal", ["!!!", "...", "!@#$%"])
def test_punctuation_only_goal_text(scoring, goal):
    assert retrieve(goal, store_of("sofa"), scoring) == []


@EVERY
def test_top_k_limit(scoring):
    store = store_of(*(f"place {number}" for number in range(10)))
    assert len(retrieve("red backpack", store, scoring, k=3)) == 3
    assert retrieve("red backpack", store, scoring, k=0) == []


@EVERY
def test_an_empty_store_has_no_candidates(scoring):
    assert retrieve("red backpack", NodeStore(), scoring) == []


def test_a_score_halves_with_every_half_life():
    vector = tuple(StubEmbedder().embed_exactly("x"))
    seen = ((0, 0.0), (1, 86_400.0), (2, None))
    store = NodeStore(MemoryNode(i, HERE, vector, ("backpack",), "", at) for i, at in seen)
    aged = Narrowing(half_life_days=1.0, now=86_400.0)
    fresh = retrieve("backpack", store, "calibrated")[0]["score"]
    found = retrieve_candidates("backpack", store, StubEmbedder(), narrowing=aged)
    assert [candidate["node_id"] for candidate in found] == [1, 2, 0]
    assert found[0]["score"] == found[1]["score"] == fresh
    assert found[2]["score"] == pytest.approx(fresh / 2, abs=1e-6)


def test_only_nodes_within_a_distance_are_candidates():
    store = NodeStore(MemoryNode(i, Pose2D(3.0 * i, 4.0 * i), None, (), "x") for i in range(4))
    near = Narrowing(near=HERE, within_metres=5.0)
    found = retrieve_candidates("backpack", store, StubEmbedder(), narrowing=near)
    assert sorted(candidate["node_id"] for candidate in found) == [0, 1]


def test_nodes_that_were_looked_at_are_left_out():
    looked = Narrowing(frozenset({0, 2}))
    found = retrieve_candidates(
        "backpack", store_of("a", "b", "c"), StubEmbedder(), narrowing=looked
    )
    assert [candidate["node_id"] for candidate in found] == [1]
