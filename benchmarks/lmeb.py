"""Figures of memory tasks: means over a task's subsets, as the leaderboard counts them.

Its score is nDCG@10, the mean over the subsets of a task, each weighing the same.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.metrics import DRAWS, SEED, Floats
from benchmarks.runs import Answer, Run

SHOWN = ("ndcg@10", "recall@5", "any@5", "all@5")
"""Measures of the table, the leaderboard's own first."""
PUBLISHED = Path(__file__).parent / "lmeb_published.toml"


@dataclass(frozen=True, slots=True)
class TaskFigures:
    """Means of one system on one task, or on one subset of it."""

    task: str
    system: str
    subset: str
    """Empty for the mean over the subsets."""
    questions: int
    means: dict[str, float]
    low: float
    """The 95 % interval of nDCG@10."""
    high: float


@dataclass(frozen=True, slots=True)
class Published:
    """What others measured on a whole task; never beside figures of a part of its questions."""

    task: str
    questions: int
    scores: dict[str, float]
    """nDCG@10 by system."""


def judge_run(run: Run) -> Iterator[TaskFigures]:
    """Yield the mean over the subsets of a run, then each subset, the lowest first."""
    parts: dict[str, list[Answer]] = {}
    for answer in run.answers:
        if answer.scores:
            parts.setdefault(answer.category, []).append(answer)
    if not parts:
        return
    values = [[answer.scores[SHOWN[0]] for answer in part] for part in parts.values()]
    count = sum(map(len, values))
    means = {
        measure: float(np.mean([_mean(part, measure) for part in parts.values()]))
        for measure in SHOWN
    }
    yield TaskFigures(run.name, run.system, "", count, means, *interval_of_macro(values))
    for subset, part in sorted(parts.items(), key=lambda item: _mean(item[1], SHOWN[0])):
        own = [answer.scores[SHOWN[0]] for answer in part]
        means = {measure: _mean(part, measure) for measure in SHOWN}
        bounds = interval_of_macro([own])
        yield TaskFigures(run.name, run.system, subset, len(part), means, *bounds)


def interval_of_macro(parts: Sequence[Floats]) -> tuple[float, float]:
    """Return the 95 % bootstrap interval of the mean of means, drawn within each part."""
    draw = np.random.default_rng(SEED)
    total = np.zeros(DRAWS)
    for part in parts:
        found = np.asarray(part, np.float64)
        total += found[draw.integers(0, len(found), (DRAWS, len(found)))].mean(axis=1)
    low, high = np.percentile(total / len(parts), [2.5, 97.5])
    return float(low), float(high)


def read_published(path: Path = PUBLISHED) -> tuple[str, tuple[Published, ...]]:
    """Return where the figures are from, with the date, and the figures."""
    table = tomllib.loads(path.read_text("utf-8"))
    rows = tuple(
        Published(name, row["questions"], dict(row["ndcg@10"]))
        for name, row in table["tasks"].items()
    )
    return f"{table['source']}, read {table['read']}", rows


def _mean(answers: Sequence[Answer], measure: str) -> float:
    return sum(answer.scores[measure] for answer in answers) / len(answers)
