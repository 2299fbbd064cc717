"""Runs and differences as PNG files. matplotlib is imported when something is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memory_palace.bench.differences import Difference
from memory_palace.bench.metrics import CUTS
from memory_palace.bench.report import core, summarise
from memory_palace.bench.runs import Run
from memory_palace.libraries import import_pyplot

if TYPE_CHECKING:
    from types import ModuleType

    from memory_palace.bench.corf import Figures
    from memory_palace.bench.hierarchy import HierarchyRow
    from memory_palace.bench.verification import VerificationRow

_DPI = 120


def draw_runs(runs: Sequence[Run], folder: Path) -> list[Path]:
    """Draw recall_any@k of each run, and recall_any@5 by category; return the files.

    Raise ``MissingPartError`` where matplotlib is missing.
    """
    pyplot = import_pyplot()
    folder.mkdir(parents=True, exist_ok=True)
    name = runs[0].name
    figure, axes = pyplot.subplots(figsize=(6, 4))
    for run in runs:
        means = summarise(core(run.answers))
        if means:
            axes.plot(CUTS, [means[f"any@{k}"] for k in CUTS], marker="o", label=run.system)
    axes.set(xlabel="k", ylabel="recall_any@k", title=name, ylim=(0, 1), xticks=CUTS)
    axes.legend()
    curves = folder / f"{name}-recall.png"
    figure.savefig(curves, dpi=_DPI, bbox_inches="tight")
    pyplot.close(figure)
    return [curves, _draw_categories(pyplot, runs, folder / f"{name}-categories.png")]


def draw_ablation(
    name: str, differences: Sequence[Difference], folder: Path, *, measure: str
) -> Path:
    """Draw what each configuration gains over the first, with its interval; return the file."""
    pyplot = import_pyplot()
    folder.mkdir(parents=True, exist_ok=True)
    figure, axes = pyplot.subplots(figsize=(6, 1 + 0.28 * len(differences)))
    places = range(len(differences))
    axes.errorbar(
        [d.mean for d in differences],
        places,
        xerr=[[d.mean - d.low for d in differences], [d.high - d.mean for d in differences]],
        fmt="o",
        capsize=3,
    )
    axes.axvline(0, color="grey", linewidth=0.8)
    axes.set_yticks(places, [d.second for d in differences])
    axes.invert_yaxis()
    axes.set(xlabel=f"{measure}, difference to {differences[0].first}", title=name)
    path = folder / f"{name}-{differences[0].first}.png"
    figure.savefig(path, dpi=_DPI, bbox_inches="tight")
    pyplot.close(figure)
    return path


def draw_corf(figures: Sequence[Figures], folder: Path) -> Path:
    """Draw recall@20 of every system by failure mode, with its interval; return the file."""
    pyplot = import_pyplot()
    folder.mkdir(parents=True, exist_ok=True)
    modes = list(dict.fromkeys(row.mode for row in figures))
    systems = list(dict.fromkeys(row.system for row in figures))
    figure, axes = pyplot.subplots(figsize=(1.5 + 1.6 * len(modes), 4))
    width = 0.8 / len(systems)
    for place, system in enumerate(systems):
        rows = [row for row in figures if row.system == system]
        lefts = [modes.index(row.mode) + place * width for row in rows]
        below = [row.recall - row.low for row in rows]
        above = [row.high - row.recall for row in rows]
        heights = [row.recall for row in rows]
        axes.bar(lefts, heights, width, yerr=[below, above], capsize=2, label=system)
    axes.set_xticks([at + 0.4 - width / 2 for at in range(len(modes))], modes)
    axes.set(ylabel="recall@20", title="CORF", ylim=(0, 1))
    axes.legend(fontsize="small")
    path = folder / "corf.png"
    figure.savefig(path, dpi=_DPI, bbox_inches="tight")
    pyplot.close(figure)
    return path


def draw_hierarchy(rows: Sequence[HierarchyRow], folder: Path) -> Path:
    """Draw recall and bytes of two hops beside flat, by size of the set; return the file."""
    pyplot = import_pyplot()
    folder.mkdir(parents=True, exist_ok=True)
    figure, (recall, size) = pyplot.subplots(1, 2, figsize=(10, 4))
    counts = [row.memories for row in rows]
    recall.plot(counts, [row.recall for row in rows], marker="o", label="two hops")
    recall.plot(counts, [row.flat_recall for row in rows], marker="x", label="flat")
    recall.set(xscale="log", xlabel="memories", ylabel=f"recall@{rows[0].k}", ylim=(0, 1))
    for label, values in (
        ("two hops, index and memories", [row.total_bytes for row in rows]),
        ("listing and top-k", [row.flat_bytes for row in rows]),
        ("top-k alone", [row.top_k_bytes for row in rows]),
        ("whole corpus", [row.corpus_bytes for row in rows]),
    ):
        size.plot(counts, values, marker="o", label=label)
    size.set(xscale="log", yscale="log", xlabel="memories", ylabel="bytes read")
    recall.legend()
    size.legend()
    return _save(pyplot, figure, folder / "hierarchy.png")


def draw_verification(rows: Sequence[VerificationRow], folder: Path) -> Path:
    """Draw the share of right verdicts on claims, by check and kind of answer; return the file."""
    pyplot = import_pyplot()
    folder.mkdir(parents=True, exist_ok=True)
    told = [row for row in rows if row.judged_by == "claims"]
    kinds = list(dict.fromkeys(row.kind for row in told))
    checks = list(dict.fromkeys(row.check for row in told))
    figure, axes = pyplot.subplots(figsize=(9, 4))
    width = 0.8 / len(checks)
    for place, check in enumerate(checks):
        found = [row for row in told if row.check == check]
        lefts = [kinds.index(row.kind) + place * width for row in found]
        axes.bar(lefts, [row.correct for row in found], width, label=check)
    axes.set_xticks([at + 0.4 - width / 2 for at in range(len(kinds))], kinds, fontsize="small")
    axes.set(ylabel="right verdicts on claims", title=f"verification, {rows[0].split}", ylim=(0, 1))
    axes.legend(fontsize="small")
    return _save(pyplot, figure, folder / f"verification-{rows[0].split}.png")


def _save(pyplot: ModuleType, figure: Any, path: Path) -> Path:
    figure.savefig(path, dpi=_DPI, bbox_inches="tight")
    pyplot.close(figure)
    return path


def _draw_categories(pyplot: ModuleType, runs: Sequence[Run], path: Path) -> Path:
    categories = sorted({answer.category for run in runs for answer in core(run.answers)})
    figure, axes = pyplot.subplots(figsize=(7, 4))
    width = 0.8 / len(runs)
    for place, run in enumerate(runs):
        heights = [
            summarise(a for a in core(run.answers) if a.category == c).get("any@5", 0.0)
            for c in categories
        ]
        lefts = [at + place * width for at in range(len(categories))]
        axes.bar(lefts, heights, width, label=run.system)
    middles = [at + 0.4 - width / 2 for at in range(len(categories))]
    axes.set_xticks(middles, [c or "all" for c in categories])
    axes.set(ylabel="recall_any@5", title=runs[0].name, ylim=(0, 1))
    axes.legend()
    figure.savefig(path, dpi=_DPI, bbox_inches="tight")
    pyplot.close(figure)
    return path
