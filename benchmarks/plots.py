"""Pictures of runs and of ablations, as SVG."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

from benchmarks.metrics import CUTS, interval
from benchmarks.report import MeasuredDifference, core
from benchmarks.runs import Run
from memory_palace.errors import MissingPartError
from memory_palace.libraries import install_command
from memory_palace.storage import write_atomic

WIDTH = 6.8
"""Inches."""
_COLOURS = ("#0436e8", "#b37c00", "#28977b", "#7464c0", "#633209", "#053648")
_MARKERS = ("o", "s", "^", "D", "v", "P")
_SMALL = 8
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
    "legend.fontsize": _SMALL,
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
            _draw_bars(axes, list(CUTS), bars, place, system, is_line=True)
        axes.set(xlabel="k", xticks=CUTS, ylim=(0, 1), ylabel="recall_any@k, 95 % interval")

    return _write(folder, f"{name}-recall", f"{name}: recall among the first k", 3.6, draw_curves)


def draw_ablation(
    name: str, differences: Sequence[MeasuredDifference], folder: Path, *, measure: str
) -> Path:
    """Draw the gain of each configuration over the first, with its interval."""
    first = differences[0].first

    def draw(axes: Any) -> None:
        axes.axvline(0, color="#59636e", linewidth=0.8)
        bars = [(d.mean, d.low, d.high) for d in differences]
        _draw_bars(axes, list(range(len(bars))), bars, 0, measure, is_line=False)
        _name_rows(axes, [d.second for d in differences])
        axes.set(xlabel=f"{measure}, difference, 95 % interval")

    title = f"{name}: gained over {first}, of {differences[0].questions} questions"
    return _write(folder, f"{name}-{first}", title, 1.6 + 0.24 * len(differences), draw)


def _bar(values: Sequence[float]) -> tuple[float, float, float]:
    return sum(values) / len(values), *interval(values)


def _draw_bars(
    axes: Any,
    places: Sequence[float],
    bars: Sequence[tuple[float, float, float]],
    number: int,
    label: str,
    *,
    is_line: bool,
) -> None:
    """Draw a series of means with their intervals: upright along a line, or lying in rows."""
    means = [mean for mean, _, _ in bars]
    ends = [[mean - low for mean, low, _ in bars], [high - mean for mean, _, high in bars]]
    along = {"x": places, "y": means, "yerr": ends}
    if not is_line:
        along = {"x": means, "y": places, "xerr": ends}
    axes.errorbar(
        **along,
        label=label,
        color=_COLOURS[number % len(_COLOURS)],
        marker=_MARKERS[number % len(_MARKERS)],
        linestyle="-" if is_line else "none",
        elinewidth=1,
        markersize=4,
    )


def _name_rows(axes: Any, names: Sequence[str]) -> None:
    axes.set_yticks(range(len(names)), names, fontsize=_SMALL)
    axes.set_ylim(max(1, len(names)) - 0.5, -0.5)


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
