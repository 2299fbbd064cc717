"""Confidence stays in its bounds, and never takes a token for granted."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_palace.errors import UsageError
from memory_palace.features.memories.form import Memory
from memory_palace.features.memories.verification import (
    calculate_retrieval_score,
    cosine_similarity,
)

FINITE = st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=3, max_size=3)


def memory(embedding=(1.0, 0.0), token="violet raincoat seesaw", score=6):
    return Memory("a", "A", "", "", token, score, embedding)


def score_answer(kept, vector, response):
    return calculate_retrieval_score(kept, "q", vector, response)


def test_the_document_s_formula_holds_where_there_is_a_token():
    kept = memory(embedding=(0.6, 0.8))
    with_token = calculate_retrieval_score(kept, "q", [1.0, 0.0], "violet raincoat seesaw")
    assert with_token == pytest.approx(0.5 * 0.6 + 0.3 + 0.2 * 0.5)
    without = calculate_retrieval_score(kept, "q", [1.0, 0.0], "no")
    assert without == pytest.approx(0.5 * 0.6 + 0.2 * 0.5)


@pytest.mark.parametrize("vector", [[0.0, 0.0], [], [math.nan, 1.0], [math.inf, 1.0]])
def test_d1_d9_a_vector_of_noughts_or_nothing_finite_has_the_cosine_zero(vector):
    assert cosine_similarity(vector, [1.0, 0.0]) == 0.0


def test_d2_without_a_token_its_weight_is_shared_not_given():
    none = memory(token="", score=12)
    assert score_answer(none, [1.0, 0.0], "anything") == pytest.approx(1.0)
    assert score_answer(none, [0.0, 1.0], "anything") == pytest.approx(0.2 / 0.7)


def test_d13_a_negative_cosine_counts_as_nothing():
    assert score_answer(memory(score=0), [-1.0, 0.0], "no") == 0.0


@pytest.mark.parametrize("score", [-1, 13, 6.5, True, "8"])
def test_d16_smashin_scope_is_a_whole_number_from_0_to_12(score):
    with pytest.raises(UsageError, match="from 0 to 12"):
        memory(score=score)


def test_vectors_of_different_lengths_and_weights_that_make_no_mean_are_refused():
    with pytest.raises(ValueError, match="cannot be compared"):
        cosine_similarity([1.0], [1.0, 0.0])
    with pytest.raises(ValueError, match="weights"):
        calculate_retrieval_score(memory(token=""), "q", [1.0, 0.0], "", alpha=0, gamma=0)


@given(FINITE, FINITE)
def test_a_cosine_is_symmetric_and_within_bounds(a, b):
    found = cosine_similarity(a, b)
    assert -1 <= found <= 1 and found == pytest.approx(cosine_similarity(b, a))


@given(FINITE, FINITE, st.integers(0, 11), st.booleans())
def test_confidence_is_within_bounds_and_rises_with_each_part(vector, question, score, has_token):
    low = Memory("a", "A", "", "", "red owl", score, vector)
    high = Memory("a", "A", "", "", "red owl", score + 1, vector)
    response = "red owl" if has_token else ""
    found = score_answer(low, question, response)
    assert 0 <= found <= 1
    assert found <= score_answer(high, question, response)
    assert found <= score_answer(low, question, "a red owl")


def test_tiny_and_huge_vectors_keep_their_direction():
    assert cosine_similarity([1e-300, 0.0], [1e300, 0.0]) == pytest.approx(1.0)
    assert cosine_similarity(np.array([1e-300, 1e-300]), [1.0, 0.0]) == pytest.approx(0.5**0.5)
