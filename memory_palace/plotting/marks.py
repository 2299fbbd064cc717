"""What pictures are made of: lines named at their ends, and dots and bars with their intervals."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

from memory_palace.plotting.picture import SMALL, WIDTH
from memory_palace.plotting.text import fit, measure
from memory_palace.plotting.themes import DASHES, MARKERS, Theme

_LABEL_WIDTH = 0.27 * WIDTH * 72
"""Points that names beside an axis may take."""
_LINE = 1.35 * SMALL
_HANDLE = 5.0
"""Of the size of letters: a mark in a legend, and the gaps beside it."""
_SIDES = (
    (5, 0, "left", "center"),
    (-5, 0, "right", "center"),
    (0, 5, "center", "bottom"),
    (0, -5, "center", "top"),
)
"""Where a name may stand beside its point: points across and up, and how it is aligned."""
_DODGE = 1.6
"""Points between intervals of series at the same place."""


class Point(NamedTuple):
    """A measured value, with its interval where there is one."""

    x: float
    y: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Series:
    """What one system, or one way, reaches."""

    label: str
    points: Sequence[Point]


def height_of(rows: int, *, each: float = 0.24, least: float = 2.6, rest: float = 1.5) -> float:
    """Return the inches that a picture with so many rows of names takes."""
    return max(least, rest + each * rows)


def draw_lines(axes: Any, theme: Theme, series: Sequence[Series]) -> None:
    """Draw each series as a line with markers, and intervals as thin lines side by side."""
    for place, one in enumerate(series):
        colour = theme.colour(place)
        xs, ys = [p.x for p in one.points], [p.y for p in one.points]
        axes.plot(xs, ys, zorder=3, clip_on=False, **_line_style(theme, place))
        shift = _shift(axes, (place - (len(series) - 1) / 2) * min(_DODGE, 10 / len(series)))
        if ends := _list_intervals([(p.x, p.low, p.high) for p in one.points]):
            axes.vlines(*zip(*ends, strict=True), colors=colour, linewidth=1, transform=shift)


def name_ends(axes: Any, theme: Theme, series: Sequence[Series]) -> None:
    """Name each line to the right of the axes, near its end; limits must be set already.

    Names that would overlap are moved apart, and a thin line leads to each.
    """
    named = [(one.points[-1], fit(one.label, _LABEL_WIDTH, SMALL)) for one in series if one.points]
    axes.figure.draw_without_rendering()
    height = axes.get_window_extent().height * 72 / axes.figure.dpi
    to_axes = axes.transData + axes.transAxes.inverted()
    wanted = [float(to_axes.transform((point.x, point.y))[1]) for point, _ in named]
    sizes = [(text.count("\n") + 1) * _LINE / height for _, text in named]
    colours = [theme.colour(place) for place, one in enumerate(series) if one.points]
    places = spread(wanted, sizes)
    for (point, text), place, colour in zip(named, places, colours, strict=True):
        axes.annotate(
            text,
            (point.x, point.y),
            xytext=(1.06, place),
            textcoords="axes fraction",
            va="center",
            fontsize=SMALL,
            annotation_clip=False,
            arrowprops={
                "arrowstyle": "-",
                "color": colour,
                "linewidth": 0.8,
                "shrinkB": 0,
                "relpos": (0, 0.5),
            },
        )


def spread(wanted: Sequence[float], sizes: Sequence[float]) -> list[float]:
    """Return places near those wanted in which nothing of these sizes overlaps, inside 0 to 1.

    What does not fit inside of it goes on below 0.
    """
    order = sorted(range(len(wanted)), key=lambda at: (wanted[at], at))
    found = list(wanted)
    for lower, upper in pairwise(order):
        found[upper] = max(found[upper], found[lower] + (sizes[lower] + sizes[upper]) / 2)
    ceiling = 1.0 + max(sizes, default=0.0) / 2
    for at in reversed(order):
        found[at] = min(found[at], ceiling - sizes[at] / 2)
        ceiling = found[at] - sizes[at] / 2
    return found


def draw_dots(axes: Any, theme: Theme, groups: Sequence[str], series: Sequence[Series]) -> None:
    """Draw a row of dots for each group, a dot for each series; ``y`` of a point is its group.

    The measured value is ``x``; intervals lie along it.
    """
    step = 0.8 / len(series)
    for place, one in enumerate(series):
        shift = (place - (len(series) - 1) / 2) * step
        colour, rows = theme.colour(place), [point.y + shift for point in one.points]
        style = _line_style(theme, place) | {"linestyle": "none"}
        axes.plot([p.x for p in one.points], rows, zorder=3, clip_on=False, **style)
        ends = _list_intervals(
            [(row, p.low, p.high) for row, p in zip(rows, one.points, strict=True)]
        )
        if ends:
            axes.hlines(*zip(*ends, strict=True), colors=colour, linewidth=1.2)
    name_rows(axes, groups)
    for border in range(1, len(groups)):
        axes.axhline(border - 0.5, color=theme.grid, linewidth=0.6)


def name_rows(axes: Any, names: Sequence[str]) -> None:
    """Name the rows of a picture, the first at the top; there may be none."""
    labels = [fit(name, _LABEL_WIDTH, SMALL, lines=2) for name in names]
    axes.set_yticks(range(len(names)), labels, linespacing=1.05)
    axes.set_ylim(max(1, len(names)) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False, axis="y")


def name_points(axes: Any, theme: Theme, spots: Sequence[tuple[float, float, str]]) -> None:
    """Name points beside, above or below them, where no name or point is hidden by it.

    A name for which there is no such place is left out: its point stays. Call it when all else is
    drawn, for names take the room that is left.
    """
    from matplotlib.patheffects import withStroke

    axes.figure.draw_without_rendering()
    taken = [_around(axes, x, y) for x, y, _ in spots]
    for x, y, name in spots:
        text = fit(name, _LABEL_WIDTH / 1.5, SMALL)
        label = axes.annotate(text, (x, y), (0, 0), textcoords="offset points", fontsize=SMALL)
        label.set_path_effects([withStroke(linewidth=2.5, foreground=theme.paper)])
        label.set_in_layout(False)
        for across, up, beside, above in _SIDES:
            label.set(ha=beside, va=above, position=(across, up))
            box = label.get_window_extent()
            inside = axes.bbox.x0 <= box.x0 and box.x1 <= axes.bbox.x1
            inside &= axes.bbox.y0 <= box.y0 and box.y1 <= axes.bbox.y1
            if inside and not box.count_overlaps(taken):
                taken.append(box)
                break
        else:
            label.remove()


def _around(axes: Any, x: float, y: float) -> Any:
    from matplotlib.transforms import Bbox

    middle, half = axes.transData.transform((x, y)), 3 * axes.figure.dpi / 72
    return Bbox([middle - half, middle + half])


def add_legend(figure: Any, theme: Theme, labels: Iterable[str], *, lines: bool = True) -> None:
    """Name series below all axes, in as many columns as the page has room for."""
    from matplotlib.lines import Line2D

    names = [fit(label, _LABEL_WIDTH * 1.6, SMALL, lines=1) for label in labels]
    handles = []
    for place, _ in enumerate(names):
        style = _line_style(theme, place) | ({} if lines else {"linestyle": "none"})
        handles.append(Line2D([], [], **style))
    widest = max(measure(name, SMALL) for name in names) + _HANDLE * SMALL
    columns = max(1, min(len(names), int(0.94 * WIDTH * 72 // widest)))
    figure.legend(handles, names, loc="outside lower left", ncols=columns)


def share_axis(axes: Any, label: str, *, along: str = "y") -> None:
    """Make an axis one of shares: from 0 to 1, named."""
    axes.set(**{f"{along}lim": (0, 1), f"{along}label": label})
    axes.set(**{f"{along}ticks": [0, 0.2, 0.4, 0.6, 0.8, 1]})


def _list_intervals(
    ends: Sequence[tuple[float, float | None, float | None]],
) -> list[tuple[float, float, float]]:
    return [(at, low, high) for at, low, high in ends if low is not None and high is not None]


def _line_style(theme: Theme, place: int) -> dict[str, Any]:
    return {
        "color": theme.colour(place),
        "marker": MARKERS[place % len(MARKERS)],
        "linestyle": (0, DASHES[place % len(DASHES)]) if place % len(DASHES) else "solid",
        "markeredgecolor": theme.paper,
        "markeredgewidth": 0.6,
    }


def _shift(axes: Any, points: float) -> Any:
    from matplotlib.transforms import ScaledTranslation

    return axes.transData + ScaledTranslation(points / 72, 0, axes.figure.dpi_scale_trans)
