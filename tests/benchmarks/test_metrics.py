"""Measures are those of the books, worked out by hand."""

from math import log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.metrics import MEASURES, interval, mcnemar, paired_interval, score_ranking


def test_a_ranking_is_scored_by_hand():
    scores = score_ranking(["x", "a", "y", "z", "w", "b"], {"a", "b"})
    assert (scores["any@1"], scores["any@3"], scores["any@10"]) == (0, 1, 1)
    assert (scores["all@5"], scores["recall@5"], scores["mrr"]) == (0, 0.5, 0.5)
    ideal = 1 + 1 / log2(3)
    assert scores["ndcg@10"] == pytest.approx((1 / log2(3) + 1 / log2(7)) / ideal)


def test_graded_gains_count_by_their_grade():
    gains = {"a": 2, "b": 1}
    best = score_ranking(["a", "b"], gains, gains)["ndcg@10"]
    other = score_ranking(["b", "a"], gains, gains)["ndcg@10"]
    assert best == pytest.approx(1)
    assert other == pytest.approx((1 + 2 / log2(3)) / (2 + 1 / log2(3)))


@given(
    st.lists(st.sampled_from("abcdef"), unique=True), st.sets(st.sampled_from("abc"), min_size=1)
)
def test_every_measure_lies_between_nothing_and_all(ranked, gold):
    scores = score_ranking(ranked, gold)
    assert set(scores) == set(MEASURES)
    assert all(0 <= value <= 1 + 1e-12 for value in scores.values())
    assert scores["any@1"] <= scores["any@3"] <= scores["any@5"] <= scores["any@10"]
    assert scores["all@5"] <= scores["recall@5"] <= scores["any@5"]


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ([1, 1, 0], [1, 1, 0], (0, 0, 1.0)),
        ([0] * 6, [1] * 6, (0, 6, 2 / 64)),
        ([1, 0, 0, 0], [0, 1, 1, 1], (1, 3, 2 * (1 + 4) / 16)),
    ],
)
def test_mcnemar_is_the_exact_binomial_test(first, second, expected):
    lost, won, p = mcnemar(first, second)
    assert (lost, won) == expected[:2]
    assert p == pytest.approx(min(1.0, expected[2]))


def test_an_interval_holds_the_mean_and_is_the_same_each_time():
    values = [0.0] * 30 + [1.0] * 70
    low, high = interval(values)
    assert 0.58 < low < 0.7 < high < 0.80
    assert (low, high) == interval(values)


def test_a_difference_that_every_question_shows_has_no_doubt():
    assert paired_interval([0, 0.5], [0.25, 0.75]) == (0.25, 0.25, 0.25)
