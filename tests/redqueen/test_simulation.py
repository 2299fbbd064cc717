from __future__ import annotations

import math

import pytest

from memory_palace.bench.forgetting import (
    BANDS,
    ROUNDS,
    recall_in_review,
    recall_in_test,
    simulate,
)
from memory_palace.errors import UsageError
from memory_palace.mnemonics.decay import decay_per_day, half_life_days


def test_formulas_are_those_of_the_source():
    assert recall_in_test(0) == 0.5
    assert recall_in_test(12) == pytest.approx(0.86)
    assert recall_in_review(12, 0) == pytest.approx(0.94)
    assert recall_in_review(0, 1000) == pytest.approx(0.4)


def test_the_claimed_half_life_is_the_last_line_of_the_table():
    assert half_life_days(12) == pytest.approx(46.2, abs=0.1)
    assert half_life_days(0) == pytest.approx(3.5, abs=0.1)
    assert decay_per_day(6.5) == pytest.approx((decay_per_day(6) + decay_per_day(7)) / 2)
    assert decay_per_day(-3) == decay_per_day(0)
    assert decay_per_day(99) == decay_per_day(12)


def test_rows_are_the_same_for_a_seed_and_cover_every_band_and_round():
    first = simulate(memories=20, seed=3)
    assert first == simulate(memories=20, seed=3)
    assert first != simulate(memories=20, seed=4)
    assert len(first) == 2 * len(BANDS) * len(ROUNDS)
    assert all(cell.repetitions >= 30 and cell.recall[1] > 0 for cell in first)


def test_rounds_raise_scores_and_the_code_raises_them_more_than_the_paper():
    cells = {(c.rule[:5], c.band, c.rounds): c for c in simulate(memories=50)}
    for band in BANDS:
        scores = [cells["paper", band, count].score[0] for count in ROUNDS]
        assert scores == sorted(scores)
        assert cells["code:", band, 5].score[0] > cells["paper", band, 5].score[0]


def test_fewer_than_thirty_repetitions_are_refused():
    with pytest.raises(UsageError, match="30 repetitions"):
        simulate(repetitions=29)


def test_every_share_is_a_share():
    for cell in simulate(memories=10):
        assert 0 <= cell.recall[0] <= 1
        assert 0 <= cell.confidence[0] <= 1
        assert not math.isnan(cell.score[1])
