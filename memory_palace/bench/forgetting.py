"""What rounds of pre-learning would be worth if the source document's assumptions were true."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from math import exp
from statistics import fmean, stdev

from memory_palace.errors import UsageError
from memory_palace.mnemonics.decay import decay_per_day

ROUNDS = (0, 3, 5)
BANDS = {"poor": (0, 3), "moderate": (4, 6), "good": (7, 9), "excellent": (10, 12)}
"""SMASHIN SCOPE, first and last score of each band (source document 000)."""
CLAIMED = {
    "poor": (0.65, 0.72),
    "moderate": (0.75, 0.82),
    "good": (0.83, 0.88),
    "excellent": (0.89, 0.96),
}
"""Recall@1 that the source claims for each band; no data were published with it."""
FIBONACCI_DAYS = (1, 2, 3, 5, 8, 13, 21, 34)
LEAST_REPETITIONS = 30
_MOST = 12


@dataclass(frozen=True, slots=True)
class TestGain:
    """What a failed test adds to a memory."""

    name: str
    score: int
    confidence: float


PAPER = TestGain("paper: score +1", 1, 0.0)
CODE = TestGain("code: score +2, confidence +.15", 2, 0.15)
"""The paper and the code of the source disagree; the code made the published numbers."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One row of the table, over all repetitions: means and standard deviations."""

    band: str
    rounds: int
    rule: str
    repetitions: int
    score: tuple[float, float]
    """SMASHIN SCOPE after the rounds."""
    recall: tuple[float, float]
    """Share of reviews that succeeded."""
    confidence: tuple[float, float]
    """After the last day, 0 to 1."""
    claimed: tuple[float, float]
    """What the source claims of the band, without rounds."""


def simulate(
    *,
    repetitions: int = LEAST_REPETITIONS,
    memories: int = 100,
    seed: int = 0,
    rounds: Sequence[int] = ROUNDS,
    rules: Sequence[TestGain] = (PAPER, CODE),
) -> list[Cell]:
    """Play rounds of tests and then a Fibonacci schedule of reviews, ``repetitions`` times.

    Every formula is the source's (000): a test succeeds with 0.5 + 0.03 S, a review with
    0.7 + 0.02 S - min(0.3, 0.01 days since the last), confidence fades by the table of decay.
    Nothing here is measured on people or models: it says what follows from the assumptions.
    """
    if repetitions < LEAST_REPETITIONS:
        raise UsageError(f"fewer than {LEAST_REPETITIONS} repetitions show no spread; ask for more")
    return [
        _cell(band, count, rule, repetitions, memories, seed)
        for rule in rules
        for band in BANDS
        for count in rounds
    ]


def recall_in_test(score: int) -> float:
    """Return the chance that a test succeeds."""
    return min(1.0, 0.5 + 0.03 * score)


def recall_in_review(score: int, interval_days: float) -> float:
    """Return the chance that a review succeeds so many days after the last one."""
    return min(1.0, max(0.0, 0.7 + 0.02 * score - min(0.3, 0.01 * interval_days)))


def _cell(
    band: str, rounds: int, rule: TestGain, repetitions: int, memories: int, seed: int
) -> Cell:
    runs = []
    for repetition in range(repetitions):
        rng = random.Random(f"{seed}/{band}/{rounds}/{rule.name}/{repetition}")
        runs.append(_repeat(band, rounds, rule, memories, rng))
    scores, recalls, confidences = (
        (fmean(values), stdev(values)) for values in zip(*runs, strict=True)
    )
    return Cell(band, rounds, rule.name, repetitions, scores, recalls, confidences, CLAIMED[band])


def _repeat(
    band: str, rounds: int, rule: TestGain, memories: int, rng: random.Random
) -> tuple[float, float, float]:
    scores, passed, confidences = [], [], []
    for _ in range(memories):
        score, confidence = rng.randint(*BANDS[band]), 0.6
        for _ in range(rounds):
            if rng.random() >= recall_in_test(score):
                score = min(_MOST, score + rule.score)
                confidence = min(1.0, confidence + rule.confidence)
        scores.append(float(score))
        for days in FIBONACCI_DAYS:
            confidence *= exp(-decay_per_day(score) * days)
            has_passed = rng.random() < recall_in_review(score, days)
            passed.append(float(has_passed))
            if has_passed:
                confidence = 1.0
        confidences.append(confidence)
    return fmean(scores), fmean(passed), fmean(confidences)
