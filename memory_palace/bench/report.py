"""Runs as Markdown tables and as pictures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from memory_palace.bench.metrics import CUTS, MEASURES, interval
from memory_palace.bench.runs import Answer, Run
from memory_palace.errors import MissingPartError

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


def draw(runs: Sequence[Run], folder: Path) -> list[Path]:
    """Draw recall curves and bars per category as PNG, and return the files.

    Raise ``MissingPartError`` where matplotlib is missing.
    """
    try:
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot
    except ImportError:
        raise MissingPartError(
            "plots need matplotlib; run `pip install 'memory-palace[plots]'`"
        ) from None
    folder.mkdir(parents=True, exist_ok=True)
    figure, axes = pyplot.subplots(figsize=(6, 4))
    for run in runs:
        means = summarise(core(run.answers))
        axes.plot(CUTS, [means[f"any@{k}"] for k in CUTS], marker="o", label=run.system)
    axes.set(xlabel="k", ylabel="recall_any@k", title=runs[0].name, ylim=(0, 1))
    axes.legend()
    paths = [folder / f"{runs[0].name}-recall.png"]
    figure.savefig(paths[0], dpi=120, bbox_inches="tight")
    categories = sorted({answer.category for run in runs for answer in core(run.answers)})
    figure, axes = pyplot.subplots(figsize=(7, 4))
    width = 0.8 / len(runs)
    for place, run in enumerate(runs):
        heights = [
            summarise(a for a in core(run.answers) if a.category == c).get("any@5", 0.0)
            for c in categories
        ]
        axes.bar([i + place * width for i in range(len(categories))], heights, width,
                 label=run.system)  # fmt: skip
    ticks = [i + 0.4 - width / 2 for i in range(len(categories))]
    axes.set_xticks(ticks, [c or "all" for c in categories])
    axes.set(ylabel="recall_any@5", title=runs[0].name, ylim=(0, 1))
    axes.legend()
    paths.append(folder / f"{runs[0].name}-categories.png")
    figure.savefig(paths[1], dpi=120, bbox_inches="tight")
    pyplot.close("all")
    return paths
