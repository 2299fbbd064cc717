"""A picture: drawn once for each theme, and the same bytes each time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, Literal, TypeAlias

from memory_palace.errors import UsageError
from memory_palace.libraries import import_matplotlib
from memory_palace.plotting.text import find_fonts, fit
from memory_palace.plotting.themes import LIGHT, THEMES, Theme
from memory_palace.storage.atomic import write_atomic

ImageKind: TypeAlias = Literal["svg", "png"]
WIDTH = 6.8
"""Inches: what a page of A4 or Letter has between its margins."""
SMALL, NORMAL, LARGE = 8.0, 9.0, 11.0
"""Points of text."""
_DPI = 144
_EDGE = 0.12
_LONGEST_NAME = 60
_METADATA: dict[ImageKind, dict[str, str | None]] = {
    "svg": {"Date": None, "Creator": None},
    "png": {"Software": None},
}


@dataclass(frozen=True, slots=True)
class Picture:
    """What is drawn, not yet on any paper."""

    name: str
    """Of its file, without suffix."""
    title: str
    """Stands above it, and for it where it cannot be seen."""
    height: float
    """Inches; the width is that of a page."""
    draw: Callable[[Any, Theme], None]
    """Draws on a matplotlib figure."""

    def encode(self, theme: Theme = LIGHT, kind: ImageKind = "svg") -> bytes:
        """Return the picture as a file; raise ``MissingPartError`` where matplotlib is missing."""
        with self.lay_out(theme) as figure:
            stream = BytesIO()
            named = {"Title": self.title} if kind == "svg" else {}
            figure.savefig(stream, format=kind, dpi=_DPI, metadata=_METADATA[kind] | named)
        return stream.getvalue()

    @contextmanager
    def lay_out(self, theme: Theme) -> Iterator[Any]:
        """Give the drawn figure, in whose style it is to be written."""
        matplotlib = import_matplotlib()
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        with matplotlib.rc_context():
            matplotlib.rcdefaults()
            matplotlib.rcParams.update(_style(theme))
            figure = Figure(figsize=(WIDTH, self.height), layout="constrained")
            FigureCanvasAgg(figure)
            engine: Any = figure.get_layout_engine()
            engine.set(w_pad=_EDGE, h_pad=_EDGE, wspace=0.06, hspace=0.06)
            title = fit(self.title, (WIDTH - 2 * _EDGE) * 72, LARGE, weight="bold")
            left = _EDGE / WIDTH
            figure.suptitle(title, x=left, ha="left", fontsize=LARGE, fontweight="bold")
            self.draw(figure, theme)
            figure.draw_without_rendering()
            yield figure

    def write(self, path: Path) -> list[Path]:
        """Write it on light paper, and on dark beside it as ``NAME-dark``; return both files.

        Raise ``UsageError`` where ``path`` is neither SVG nor PNG.
        """
        if path.suffix not in (".svg", ".png"):
            raise UsageError(f"{path} must end in .png or .svg")
        kind: ImageKind = "svg" if path.suffix == ".svg" else "png"
        path.parent.mkdir(parents=True, exist_ok=True)
        files = [path, path.with_stem(f"{path.stem}-dark")]
        for theme, file in zip(THEMES, files, strict=True):
            write_atomic(file, self.encode(theme, kind), mode=0o644)
        return files


def write_pictures(pictures: Iterable[Picture], folder: Path) -> list[Path]:
    """Write pictures as SVG into a folder; return the files."""
    return [file for one in pictures for file in one.write(folder / f"{_name_file(one.name)}.svg")]


def _name_file(name: str) -> str:
    """Return a name that every file system takes."""
    return "".join(c if c.isalnum() or c in ".+-_" else "-" for c in name)[:_LONGEST_NAME]


def _style(theme: Theme) -> dict[str, object]:
    return {
        "font.family": list(find_fonts()),
        "font.size": NORMAL,
        "text.parse_math": False,
        "text.color": theme.ink,
        "figure.facecolor": theme.paper,
        "savefig.facecolor": theme.paper,
        "axes.facecolor": theme.paper,
        "axes.edgecolor": theme.dim,
        "axes.labelcolor": theme.ink,
        "axes.linewidth": 0.7,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "axes.axisbelow": True,
        "axes.titlesize": NORMAL,
        "axes.titlelocation": "left",
        "axes.titleweight": "bold",
        "axes.unicode_minus": True,
        "grid.color": theme.grid,
        "grid.linewidth": 0.6,
        "xtick.color": theme.dim,
        "ytick.color": theme.dim,
        "xtick.labelcolor": theme.ink,
        "ytick.labelcolor": theme.ink,
        "xtick.labelsize": SMALL,
        "ytick.labelsize": SMALL,
        "lines.linewidth": 1.6,
        "lines.markersize": 5,
        "legend.frameon": False,
        "legend.fontsize": SMALL,
        "svg.fonttype": "path",
        "svg.hashsalt": "palace",
    }
