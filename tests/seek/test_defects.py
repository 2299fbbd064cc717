"""N1 to N10, but for the stub: what is wrong with source document 004, each as it must be."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_palace.embedding.hashing import HashingEmbedder
from memory_palace.errors import UsageError, WrongEmbedderError
from memory_palace.features.seek.belief import new_belief
from memory_palace.features.seek.nodes import (
    MemoryNode,
    NodeStore,
    Pose2D,
    blend,
    goal_words,
    node_words,
    retrieve_candidates,
)
from memory_palace.features.seek.search_session import SearchSessions

HERE = Pose2D(0.0, 0.0)
COSINES = st.floats(-1, 1, width=32)
SHARES = st.sampled_from([0.0, 0.25, 0.5, 1.0])


@given(COSINES, COSINES, SHARES)
def test_n1_the_score_rises_with_the_cosine(first, second, share):
    low, high = sorted((first, second))
    scores = blend(np.array([low, high], np.float32), np.full(2, share, np.float32))
    assert 0 <= scores[0] <= scores[1] <= 1


def test_n1_what_is_no_more_alike_than_chance_gets_nothing():
    assert blend(np.array([0.0, -0.5], np.float32), np.zeros(2, np.float32)).tolist() == [0, 0]


def test_n3_a_word_said_twice_counts_once():
    vector = tuple(HashingEmbedder().embed_passages(["x"])[0].tolist())
    store = NodeStore([MemoryNode(0, HERE, vector, ("backpack",))])
    assert goal_words("red red backpack") == goal_words("red backpack")
    once, twice = (store.shelve(HashingEmbedder()).word_shares(goal_words(goal)).tolist()
                   for goal in ("red backpack", "red red backpack"))  # fmt: skip
    assert once == twice == [0.5]


def test_n4_a_hyphen_separates_words():
    assert goal_words("red-backpack") == goal_words("red backpack")
    assert goal_words("red-backpack") <= node_words("the Red Backpack!")


def test_n5_a_goal_without_words_is_refused_where_a_belief_would_hold_it():
    for goal in ("", "  ", "?!"):
        with pytest.raises(UsageError, match="has no words"):
            new_belief(goal)
        assert retrieve_candidates(goal, NodeStore(), HashingEmbedder()) == []


def test_n6_an_embedding_of_another_length_is_an_error():
    store = NodeStore([MemoryNode(3, HERE, (1.0, 0.0))])
    with pytest.raises(WrongEmbedderError, match="node 3 has an embedding of 2 numbers"):
        retrieve_candidates("backpack", store, HashingEmbedder())


def test_n6_an_embedding_of_zeros_is_an_error():
    with pytest.raises(UsageError, match="is zero"):
        MemoryNode(3, HERE, (0.0, 0.0))


def test_n10_a_session_folder_given_relatively_stays_where_it_was(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "elsewhere").mkdir()
    sessions = SearchSessions((tmp_path / "s").relative_to(tmp_path))
    monkeypatch.chdir(tmp_path / "elsewhere")
    with sessions.writing("one"):
        assert (tmp_path / "s" / "one.lock").exists()
