"""Two systems compared question by question."""

from __future__ import annotations

from dataclasses import dataclass

from memory_palace.bench.metrics import MEASURES, mcnemar, paired_interval
from memory_palace.bench.report import core
from memory_palace.bench.runs import Run
from memory_palace.errors import UsageError


@dataclass(frozen=True, slots=True)
class Difference:
    """What the second system gains over the first on the questions that both were asked."""

    first: str
    second: str
    measure: str
    questions: int
    value: float
    """Mean of the second."""
    mean: float
    low: float
    high: float
    """Mean difference, and its 95 % paired bootstrap interval."""
    lost: int
    won: int
    """Questions where the second is worse, and better."""
    p: float
    """Of the sign test; for measures of 0 and 1 that is McNemar's, exact and two-sided."""


def compare_runs(first: Run, second: Run, *, measure: str = "any@5") -> Difference:
    """Compare two runs; questions without an answer, or not all labelled, are left out.

    Raise ``UsageError`` where the runs share no question, or where one of those they share has
    other gold.
    """
    if measure not in MEASURES:
        raise UsageError(f"there is no measure {measure!r}; there are {', '.join(MEASURES)}")
    by_id = {answer.id: answer for answer in core(first.answers) if answer.scores}
    pairs = [(by_id[a.id], a) for a in core(second.answers) if a.scores and a.id in by_id]
    if not pairs:
        raise UsageError(f"{first.system} and {second.system} have no question in common")
    for before, after in pairs:
        if before.gold != after.gold:
            raise UsageError(
                f"question {after.id} has other gold in {second.name} than in {first.name}; "
                "these are runs of different question sets"
            )
    old, new = ([answer.scores[measure] for answer in side] for side in zip(*pairs, strict=True))
    mean, low, high = paired_interval(old, new)
    lost, won, p = mcnemar(old, new)
    value = sum(new) / len(new)
    return Difference(
        first.system, second.system, measure, len(pairs), value, mean, low, high, lost, won, p
    )
