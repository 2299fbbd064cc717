"""Runs and differences as PNG files. matplotlib is imported when something is drawn."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memory_palace.bench.metrics import CUTS
from memory_palace.bench.report import MeasuredDifference, core, summarise
from memory_palace.bench.runs import Run
from memory_palace.libraries import import_pyplot

if TYPE_CHECKING:
    from memory_palace.bench.two_hops import HierarchyRow
    from memory_palace.bench.verify_set.measuring import VerificationRow

_DPI = 120


def draw_runs(runs: Sequence[Run], folder: Path) -> list[Path]:
    """Draw recall_any@k of each run, and recall_any@5 by category; return the files.

    Raise ``MissingPartError`` where matplotlib is missing.
    """
    name = runs[0].name
    curves, bars = folder / f"{name}-recall.png", folder / f"{name}-categories.png"
    with _drawing(curves, width=6) as axes:
        for run in runs:
            if means := summarise(core(run.answers)):
                axes.plot(CUTS, [means[f"any@{k}"] for k in CUTS], marker="o", label=run.system)
        axes.set(xlabel="k", ylabel="recall_any@k", title=name, ylim=(0, 1), xticks=CUTS)
        axes.legend()
    categories = sorted({answer.category for run in runs for answer in core(run.answers)})
    heights = {
        run.system: [
            summarise(a for a in core(run.answers) if a.category == c).get("any@5", 0.0)
            for c in categories
        ]
        for run in runs
    }
    with _drawing(bars, width=7) as axes:
        _draw_bars(axes, [c or "all" for c in categories], heights)
        axes.set(ylabel="recall_any@5", title=name, ylim=(0, 1))
    return [curves, bars]


def draw_ablation(
    name: str, differences: Sequence[MeasuredDifference], folder: Path, *, measure: str
) -> Path:
    """Draw what each configuration gains over the first, with its interval; return the file."""
    path = folder / f"{name}-{differences[0].first}.png"
    means = [d.mean for d in differences]
    below, above = [d.mean - d.low for d in differences], [d.high - d.mean for d in differences]
    places = range(len(differences))
    with _drawing(path, width=6, height=1 + 0.28 * len(differences)) as axes:
        axes.errorbar(means, places, xerr=[below, above], fmt="o", capsize=3)
        axes.axvline(0, color="grey", linewidth=0.8)
        axes.set_yticks(places, [d.second for d in differences])
        axes.invert_yaxis()
        axes.set(xlabel=f"{measure}, difference to {differences[0].first}", title=name)
    return path


def draw_hierarchy(rows: Sequence[HierarchyRow], folder: Path) -> Path:
    """Draw recall and bytes of two hops beside flat, by size of the set; return the file."""
    counts = [row.memories for row in rows]
    sizes = {
        "two hops, index and memories": [row.total_bytes for row in rows],
        "listing and top-k": [row.flat_bytes for row in rows],
        "top-k alone": [row.top_k_bytes for row in rows],
        "whole corpus": [row.corpus_bytes for row in rows],
    }
    with _drawing(folder / "hierarchy.png", width=10, columns=2) as (recall, size):
        recall.plot(counts, [row.recall for row in rows], marker="o", label="two hops")
        recall.plot(counts, [row.flat_recall for row in rows], marker="x", label="flat")
        recall.set(xscale="log", xlabel="memories", ylabel=f"recall@{rows[0].k}", ylim=(0, 1))
        for label, values in sizes.items():
            size.plot(counts, values, marker="o", label=label)
        size.set(xscale="log", yscale="log", xlabel="memories", ylabel="bytes read")
        recall.legend()
        size.legend()
    return folder / "hierarchy.png"


def draw_verification(rows: Sequence[VerificationRow], folder: Path) -> Path:
    """Draw the share of right verdicts on claims, by check and kind of answer; return the file."""
    split = rows[0].split
    by_claims = [row for row in rows if row.judged_by == "claims"]
    kinds = list(dict.fromkeys(row.kind for row in by_claims))
    heights: dict[str, list[float]] = {}
    for row in by_claims:
        heights.setdefault(row.check, []).append(row.correct)
    path = folder / f"verification-{split}.png"
    with _drawing(path, width=9) as axes:
        _draw_bars(axes, kinds, heights)
        axes.set(ylabel="right verdicts on claims", title=f"verification, {split}", ylim=(0, 1))
    return path


@contextmanager
def _drawing(path: Path, *, width: float, height: float = 4, columns: int = 1) -> Iterator[Any]:
    """Give axes to draw on, and write the file."""
    pyplot = import_pyplot()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure, axes = pyplot.subplots(1, columns, figsize=(width, height))
    yield axes
    figure.savefig(path, dpi=_DPI, bbox_inches="tight")
    pyplot.close(figure)


def _draw_bars(
    axes: Any,
    groups: Sequence[str],
    heights: Mapping[str, Sequence[float]],
    errors: Mapping[str, Sequence[Sequence[float]]] | None = None,
) -> None:
    """Draw bars side by side: one of each label in every group."""
    width = 0.8 / len(heights)
    for place, (label, values) in enumerate(heights.items()):
        lefts = [group + place * width for group in range(len(values))]
        spread = errors[label] if errors else None
        axes.bar(lefts, values, width, yerr=spread, capsize=2, label=label)
    middles = [group + 0.4 - width / 2 for group in range(len(groups))]
    axes.set_xticks(middles, groups, fontsize="small")
    axes.legend(fontsize="small")
