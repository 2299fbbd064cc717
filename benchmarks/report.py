"""Runs as Markdown tables, and two of them compared question by question."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from benchmarks.metrics import MEASURES, interval, mcnemar, paired_interval
from benchmarks.runs import Answer, Run
from memory_palace.errors import UsageError

SHOWN = ("shown", "bytes")
"""Measures of what a system shows of its hits: whether a passage that answers stands there whole,
and how many bytes that takes."""
_ENDS = ("any@5, 95 %", "ranking s")


@dataclass(frozen=True, slots=True)
class MeasuredDifference:
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


def summarise(answers: Iterable[Answer]) -> dict[str, float]:
    """Return the mean of every measure over questions that have gold; empty where none has."""
    scored = [answer.scores for answer in answers if answer.scores]
    if not scored:
        return {}
    measures = [*MEASURES, *(more for more in SHOWN if all(more in s for s in scored))]
    return {measure: sum(s[measure] for s in scored) / len(scored) for measure in measures}


def core(answers: Iterable[Answer]) -> list[Answer]:
    """Leave out abstentions, whose gold is no answer, and questions not all labelled."""
    return [a for a in answers if not (a.is_abstention or a.is_incomplete)]


def run_record(run: Run) -> dict[str, object]:
    """Return what the table shows of a run, as one record."""
    answers = core(run.answers)
    categories = sorted({answer.category for answer in answers})
    record: dict[str, object] = {
        "set": run.name,
        "system": run.system,
        "embedder": run.embedder or None,
        "questions": len(answers),
        "left_out": len(run.answers) - len(answers),
        **summarise(answers),
        "categories": {c: summarise(a for a in answers if a.category == c) for c in categories},
        "seconds": round(run.seconds, 3),
    }
    if values := [answer.scores["any@5"] for answer in answers if answer.scores]:
        record["any@5_low"], record["any@5_high"] = interval(values)
    return record


def table(runs: Sequence[Run]) -> Iterator[str]:
    """Yield the lines of a Markdown table, a row per run, with the interval of recall_any@5."""
    measures = list(dict.fromkeys((*MEASURES, *(m for r in runs for m in summarise(r.answers)))))
    yield f"| run | questions | {' | '.join(measures)} | {' | '.join(_ENDS)} |"
    yield "|" + "---|" * (2 + len(measures) + len(_ENDS))
    is_mixed = len({run.embedder for run in runs if run.embedder}) > 1
    for run in runs:
        for label, answers in _views(run, names_embedder=is_mixed):
            means = summarise(answers)
            if not means:
                continue
            low, high = interval([a.scores["any@5"] for a in answers if a.scores])
            cells = " | ".join(_cell(measure, means.get(measure)) for measure in measures)
            seconds = f"{run.seconds:.1f}" if answers == core(run.answers) else ""
            yield f"| {label} | {len(answers)} | {cells} | {low:.3f}–{high:.3f} | {seconds} |"


def compare_runs(first: Run, second: Run, *, measure: str = "any@5") -> MeasuredDifference:
    """Compare two runs; questions without an answer, or not all labelled, are left out.

    Raise ``UsageError`` where the runs share no question, or where one of those they share has
    other gold.
    """
    if measure not in MEASURES:
        raise UsageError(f"unknown measure {measure!r}; choose from {', '.join(MEASURES)}")
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
    return MeasuredDifference(
        first.system, second.system, measure, len(pairs), value, mean, low, high, lost, won, p
    )


def _cell(measure: str, value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:,.0f}" if measure == "bytes" else f"{value:.3f}"


def _views(run: Run, *, names_embedder: bool) -> Iterator[tuple[str, list[Answer]]]:
    answers = core(run.answers)
    name = f"{run.system} ({run.embedder})" if names_embedder and run.embedder else run.system
    yield name, answers
    if len(answers) < len(run.answers):
        yield f"{name}, with abstentions and incomplete labels", list(run.answers)
    categories = sorted({answer.category for answer in answers})
    if len(categories) > 1:
        for category in categories:
            yield f"{name}, {category}", [a for a in answers if a.category == category]
