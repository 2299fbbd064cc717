"""Pictures of runs, as SVG."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

from benchmarks.metrics import CUTS, interval
from benchmarks.report import core
from benchmarks.runs import Run
from memory_palace.errors import MissingPartError
from memory_palace.libraries import install_command
from memory_palace.storage import write_atomic

WIDTH = 6.8
"""Inches."""
_COLOURS = ("#0436e8", "#b37c00", "#28977b", "#7464c0", "#633209", "#053648")
_MARKERS = ("o", "s", "^", "D", "v", "P")
_LONGEST_NAME = 60
_STYLE: Any = {
    "font.size": 9,
    "text.parse_math": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#dfe3e8",
    "legend.frameon": False,
    "legend.fontsize": 8,
    "svg.hashsalt": "palace",
}


def draw_runs(runs: Sequence[Run], folder: Path) -> Path:
    """Draw recall_any@k of runs."""
    name = runs[0].name
    found = {run.system: [a for a in core(run.answers) if a.scores] for run in runs}
    found = {system: answers for system, answers in found.items() if answers}

    def draw_curves(axes: Any) -> None:
        for place, (system, answers) in enumerate(found.items()):
            bars = [_bar([a.scores[f"any@{k}"] for a in answers]) for k in CUTS]
            _draw_bars(axes, bars, place, system)
        axes.set(xlabel="k", xticks=CUTS, ylim=(0, 1), ylabel="recall_any@k, 95 % interval")

    return _write(folder, f"{name}-recall", f"{name}: recall among the first k", 3.6, draw_curves)


def _bar(values: Sequence[float]) -> tuple[float, float, float]:
    return sum(values) / len(values), *interval(values)


def _draw_bars(
    axes: Any, bars: Sequence[tuple[float, float, float]], number: int, label: str
) -> None:
    """Draw a series of means, upright at the cuts along a line, with their intervals."""
    means = [mean for mean, _, _ in bars]
    axes.errorbar(
        CUTS,
        means,
        yerr=[[mean - low for mean, low, _ in bars], [high - mean for mean, _, high in bars]],
        label=label,
        color=_COLOURS[number % len(_COLOURS)],
        marker=_MARKERS[number % len(_MARKERS)],
        elinewidth=1,
        markersize=4,
    )


def _write(folder: Path, name: str, title: str, height: float, draw: Callable[[Any], None]) -> Path:
    """Write one picture; raise ``MissingPartError`` where matplotlib is missing."""
    try:
        import matplotlib
    except ModuleNotFoundError:
        command = install_command("plots")
        raise MissingPartError(f"plots need matplotlib; run `{command}`") from None
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=(WIDTH, height), layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.subplots()
        draw(axes)
        axes.set_title(title, loc="left", fontsize=10, fontweight="bold")
        if len(axes.get_legend_handles_labels()[0]) > 1:
            figure.legend(loc="outside lower left", ncols=4)
        stream = BytesIO()
        figure.savefig(stream, format="svg", metadata={"Date": None, "Creator": None})
    safe = "".join(c if c.isalnum() or c in ".+-_" else "-" for c in name)[:_LONGEST_NAME]
    file = folder / f"{safe}.svg"
    folder.mkdir(parents=True, exist_ok=True)
    write_atomic(file, stream.getvalue(), mode=0o644)
    return file
