"""A picture of memories that fade: how sure each still is, and when it is due."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import date, timedelta
from typing import Any

import numpy as np

from memory_palace.mnemonics.decay import Fit, fade
from memory_palace.mnemonics.memory_values import Memory
from memory_palace.mnemonics.reviews import Standing
from memory_palace.models import Matrix
from memory_palace.plotting.calendars import draw_days, mark_day
from memory_palace.plotting.marks import Point, Series, name_ends, name_rows, share_axis
from memory_palace.plotting.picture import SMALL, Picture
from memory_palace.plotting.themes import DASHES, Theme

WEAK = 0.6
"""Predicted confidence below which a memory is called weak (source document 000)."""
DAYS = 28
"""Shown before today, and after it."""
_CURVES, _NAMED = 8, 34
"""Memories that are drawn as a curve each, and as a row with a name."""
_LEVELS = 5

Standings = Sequence[tuple[Memory, Standing]]


def draw_due(standings: Standings, *, today: date, fit: Fit | None = None) -> Picture:
    """Draw memories, at least one; the earliest due is the first.

    A few are curves with their names, up to 34 rows with names, more are rows alone.
    """
    count = len(standings)
    first, last = today - timedelta(days=DAYS), today + timedelta(days=DAYS)
    upper = 3.2 if count <= _CURVES else 0.17 * min(max(count, 12), 34)

    def draw(figure: Any, theme: Theme) -> None:
        above, below = figure.subplots(2, height_ratios=(upper, 1.1), sharex=True)
        draw_days(above, first, last)
        if count <= _CURVES:
            _draw_curves(above, theme, standings, today, fit)
        else:
            _draw_rows(above, theme, standings, today, fit)
            _explain_levels(figure, theme)
        _draw_counts(below, theme, [standing.due for _, standing in standings], first, last)
        for axes in (above, below):
            mark_day(axes, theme, today)
        draw_days(below, first, last)

    noun = "memory" if count == 1 else "memories"
    title = f"{count} {noun} to review, as predicted on {today}"
    return Picture("due", title, upper + 2.4, draw)


def _predict(memory: Memory, standing: Standing, day: date, today: date, factor: float) -> float:
    """Return the confidence of a day; NaN before the last review, of which it is not known."""
    last = memory.last_retrieved or memory.created
    if day < (last or today):
        return float("nan")
    sure = standing.confidence if last is None else memory.confidence
    return fade(sure, (day - (last or today)).days, memory.smashin_score, factor=factor)


def _predict_all(standings: Standings, today: date, factor: float) -> Matrix:
    days = [today + timedelta(days=n) for n in range(-DAYS, DAYS + 1)]
    rows = [[_predict(m, s, day, today, factor) for day in days] for m, s in standings]
    return np.array(rows, np.float32)


def _draw_curves(
    axes: Any, theme: Theme, standings: Standings, today: date, fit: Fit | None
) -> None:
    xs = np.arange(-DAYS, DAYS + 1) + today.toordinal()
    values = _predict_all(standings, today, fit.factor if fit else 1.0)
    series = []
    for place, (memory, standing) in enumerate(standings):
        style = {"color": theme.colour(place), "dashes": DASHES[place % len(DASHES)]}
        axes.plot(xs, values[place], **style)
        at = standing.due.toordinal()
        if xs[0] <= at <= xs[-1]:
            sure = values[place, at - int(xs[0])]
            axes.plot(
                [at], [sure], "|", color=theme.colour(place), markersize=12, markeredgewidth=2
            )
        series.append(Series(memory.subject, [Point(float(xs[-1]), float(values[place, -1]))]))
    if fit is not None:
        slow, fast = (_predict_all(standings, today, end) for end in (fit.low, fit.high))
        for place in range(len(standings)):
            axes.fill_between(xs, fast[place], slow[place], color=theme.colour(place), alpha=0.12)
    axes.axhline(WEAK, color=theme.dim, linewidth=0.8, linestyle=(0, (1, 2)))
    share_axis(axes, f"predicted confidence, weak below {WEAK}")
    words = "A bar on a curve is the day when it is due, the dashed line is today."
    if fit is not None:
        words += "\nShaded is the 95 % interval of how fast you forget."
    axes.set_title(words, fontweight="normal")
    name_ends(axes, theme, series)


def _draw_rows(axes: Any, theme: Theme, standings: Standings, today: date, fit: Fit | None) -> None:
    from matplotlib.colors import BoundaryNorm, ListedColormap

    values = _predict_all(standings, today, fit.factor if fit else 1.0)
    count, middle = len(standings), today.toordinal()
    colours = ListedColormap(_list_levels(theme)).with_extremes(bad=theme.paper)
    axes.imshow(
        values,
        aspect="auto",
        interpolation="nearest",
        cmap=colours,
        norm=BoundaryNorm(np.linspace(0, 1, _LEVELS + 1), _LEVELS),
        extent=(middle - DAYS - 0.5, middle + DAYS + 0.5, count - 0.5, -0.5),
    )
    rows = [(standing.due.toordinal(), row) for row, (_, standing) in enumerate(standings)]
    shown = [(at, row) for at, row in rows if abs(at - middle) <= DAYS]
    xs, ys = [at for at, _ in shown], [row for _, row in shown]
    size = axes.get_window_extent().height * 72 / axes.figure.dpi / count
    for colour, width in ((theme.paper, 3.2), (theme.ink, 1.4)):
        axes.plot(xs, ys, "|", color=colour, markersize=size, markeredgewidth=width)
    axes.set_title(
        "Each row is a memory, its bar the day when it is due;\nthe dashed line is today.",
        fontweight="normal",
    )
    if count <= _NAMED:
        name_rows(axes, [memory.subject for memory, _ in standings], lines=1)
    else:
        axes.set(
            ylim=(count - 0.5, -0.5),
            yticks=[],
            ylabel=f"{count:,} memories, earliest due at the top",
        )
    axes.grid(visible=False)


def _draw_counts(axes: Any, theme: Theme, due: Sequence[date], first: date, last: date) -> None:
    """Draw how many are due on each day; what is outside is said in words."""
    counts = Counter(day.toordinal() for day in due if first <= day <= last)
    axes.bar(list(counts), list(counts.values()), 0.8, color=theme.colour(0), zorder=3)
    before, after = sum(day < first for day in due), sum(day > last for day in due)
    parts = [f"{before} due earlier"] * bool(before) + [f"{after} due later"] * bool(after)
    axes.set(ylim=(0, max(counts.values(), default=1) * 1.15), ylabel="due")
    axes.set_xlabel(", ".join(["day", *parts]))
    axes.yaxis.get_major_locator().set_params(integer=True, nbins=3)
    axes.grid(visible=False, axis="x")


def _list_levels(theme: Theme) -> list[str]:
    """Return colours from nearly the paper's to that of the first series."""
    from matplotlib.colors import to_hex, to_rgb

    paper, full = np.array(to_rgb(theme.paper)), np.array(to_rgb(theme.colour(0)))
    shares = np.linspace(0.12, 1, _LEVELS)
    return [to_hex(paper + (full - paper) * share) for share in shares]


def _explain_levels(figure: Any, theme: Theme) -> None:
    from matplotlib.patches import Patch

    colours = _list_levels(theme)
    names = [f"{n / _LEVELS:.1f} to {(n + 1) / _LEVELS:.1f}" for n in range(_LEVELS)]
    handles = [Patch(facecolor=colour, edgecolor=theme.dim, linewidth=0.5) for colour in colours]
    figure.legend(
        handles, names, loc="outside lower left", ncols=_LEVELS, title="predicted confidence",
        title_fontsize=SMALL, alignment="left",
    )  # fmt: skip
