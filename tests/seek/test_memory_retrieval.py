"""The nine tests of retrieval that source document 004 names."""

import pytest

from memory_palace.embedding.hashing import HashingEmbedder
from memory_palace.features.seek.nodes import MemoryNode, NodeStore, Pose2D, retrieve_candidates

HERE = Pose2D(0.0, 0.0)


def store_of(*summaries, tags=()):
    return NodeStore(MemoryNode(i, HERE, None, tags, text) for i, text in enumerate(summaries))


def retrieve(goal, store, k=5, **more):
    return retrieve_candidates(goal, store, HashingEmbedder(), k, **more)


def test_deterministic_ordering():
    nodes = [MemoryNode(i, HERE, None, (), text) for i, text in ((7, "a"), (2, "b"), (5, "c"))]
    first = retrieve("red backpack", NodeStore(nodes))
    assert first == retrieve("red backpack", NodeStore(reversed(nodes)))
    assert sorted(found["node_id"] for found in first) == [2, 5, 7]


def test_tie_break_behavior():
    found = retrieve("backpack", store_of("the same", "the same", "the same"))
    assert [candidate["node_id"] for candidate in found] == [0, 1, 2]
    assert len({candidate["score"] for candidate in found}) == 1


def test_score_range():
    found = retrieve("red backpack", store_of("red backpack", "sofa", "", "stove"))
    for candidate in found:
        assert set(candidate) == {"node_id", "score"}
        assert type(candidate["node_id"]) is int
        assert type(candidate["score"]) is float
        assert 0.0 <= candidate["score"] <= 1.0


def test_score_mapping():
    """A text compared with itself has cosine 1 and all words: .8 and .2."""
    store = NodeStore([MemoryNode(0, HERE, None, (), "red backpack"), MemoryNode(1, HERE)])
    found = retrieve("red backpack", store)
    assert found[0]["node_id"] == 0
    assert found[0]["score"] > 0.3
    vector = tuple(HashingEmbedder().embed_passages(["red backpack"])[0].tolist())
    same = NodeStore([MemoryNode(0, HERE, vector, ("red", "backpack"))])
    assert retrieve("red backpack", same)[0]["score"] == pytest.approx(1.0, abs=1e-6)


def test_keyword_blending():
    vector = HashingEmbedder().embed_passages(["anything at all"])[0].tolist()
    nodes = [MemoryNode(0, HERE, tuple(vector), ("sofa", "lamp"))]
    nodes.append(MemoryNode(1, HERE, tuple(vector), ("red", "backpack")))
    found = retrieve("red backpack", NodeStore(nodes))
    assert [candidate["node_id"] for candidate in found] == [1, 0]


def test_empty_goal_text():
    assert retrieve("", store_of("sofa")) == []


def test_whitespace_only_goal_text():
    assert retrieve(" \t\n ", store_of("sofa")) == []


@pytest.mark.parametrize("goal", ["!!!", "...", "!@#$%"])
def test_punctuation_only_goal_text(goal):
    assert retrieve(goal, store_of("sofa")) == []


def test_top_k_limit():
    store = store_of(*(f"place {number}" for number in range(10)))
    assert len(retrieve("red backpack", store, k=3)) == 3
    assert retrieve("red backpack", store, k=0) == []


def test_an_empty_store_has_no_candidates():
    assert retrieve("red backpack", NodeStore()) == []


def test_nodes_that_were_looked_at_are_left_out():
    found = retrieve("backpack", store_of("a", "b", "c"), exclude={0, 2})
    assert [candidate["node_id"] for candidate in found] == [1]
