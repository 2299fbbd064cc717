"""Runs as Markdown tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict

from memory_palace.bench.metrics import MEASURES, interval
from memory_palace.bench.runs import Answer, Run

_COSTS = ("any@5, 95 %", "ranking s", "CPU s", "preparing CPU s", "peak MiB")
SHOWN = ("any@1", "any@3", "any@5", "any@10", "all@5", "recall@5", "ndcg@10", "mrr")


def summarise(answers: Iterable[Answer]) -> dict[str, float]:
    """Return the mean of every measure over questions that have gold; empty where none has."""
    scored = [answer.scores for answer in answers if answer.scores]
    if not scored:
        return {}
    return {measure: sum(s[measure] for s in scored) / len(scored) for measure in MEASURES}


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
        "questions": len(answers),
        "left_out": len(run.answers) - len(answers),
        **summarise(answers),
        "categories": {c: summarise(a for a in answers if a.category == c) for c in categories},
        "cost": asdict(run.cost),
    }
    if values := [answer.scores["any@5"] for answer in answers if answer.scores]:
        record["any@5_low"], record["any@5_high"] = interval(values)
    return record


def table(runs: Sequence[Run]) -> Iterator[str]:
    """Yield the lines of a Markdown table, a row per run, with the interval of recall_any@5."""
    yield f"| run | questions | {' | '.join(SHOWN)} | {' | '.join(_COSTS)} |"
    yield "|" + "---|" * (2 + len(SHOWN) + len(_COSTS))
    for run in runs:
        for label, answers in _views(run):
            means = summarise(answers)
            if not means:
                continue
            low, high = interval([a.scores["any@5"] for a in answers if a.scores])
            cells = " | ".join(f"{means[measure]:.3f}" for measure in SHOWN)
            cost = _cost_cells(run) if label == run.system else " | " * (len(_COSTS) - 2)
            yield f"| {label} | {len(answers)} | {cells} | {low:.3f}–{high:.3f} | {cost} |"


def _cost_cells(run: Run) -> str:
    """Show the cost, and of how many questions it is where some were answered by a killed run."""
    cost = run.cost
    wall = f"{cost.wall_seconds:.1f}"
    if cost.questions != len(run.answers):
        wall += f" for {cost.questions}"
    return f"{wall} | {cost.cpu_seconds:.1f} | {cost.prepare_cpu_seconds:.1f} | {cost.peak_mib:.0f}"


def _views(run: Run) -> Iterator[tuple[str, list[Answer]]]:
    answers = core(run.answers)
    yield run.system, answers
    if len(answers) < len(run.answers):
        yield f"{run.system}, with abstentions and incomplete labels", list(run.answers)
    categories = sorted({answer.category for answer in answers})
    if len(categories) > 1:
        for category in categories:
            yield f"{run.system}, {category}", [a for a in answers if a.category == category]
