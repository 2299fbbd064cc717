"""A picture of a year of a palace: small charts below each other, with their numbers."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from memory_palace.plotting.calendars import draw_days
from memory_palace.plotting.picture import SMALL, WIDTH, Picture
from memory_palace.plotting.text import fit
from memory_palace.plotting.themes import Theme
from memory_palace.view.history import WEEKS, PalaceHistory, WeeklyTrack

_EACH = 1.1
_ROOM = 0.6
"""Share of the width that words on a track may take."""


def draw_history(history: PalaceHistory, *, title: str) -> Picture:
    """Draw each kind of thing on its own scale from zero; weeks before a log began are grey."""

    def draw(figure: Any, theme: Theme) -> None:
        panels = figure.subplots(len(history.tracks), sharex=True)
        for place, (axes, track) in enumerate(zip(panels, history.tracks, strict=True)):
            _draw_track(axes, theme, history, track, place)
        if any(None in track.counts for track in history.tracks):
            panels[-1].set_xlabel("grey: before anything was logged")
        draw_days(panels[-1], history.first, history.first + timedelta(weeks=WEEKS))

    span = f"weeks from {history.first} to {history.last}"
    return Picture("history", f"{title}: {span}", 0.9 + _EACH * len(history.tracks), draw)


def describe_track(track: WeeklyTrack) -> str:
    """Return where the numbers of a track come from, since when, and what is not shown."""
    began = "nothing yet" if track.began is None else f"since {track.began}"
    earlier = f"{track.earlier:,} before these weeks" if track.earlier else ""
    return "; ".join(filter(None, [f"{track.source}, {began}", track.limit, earlier]))


def _draw_track(
    axes: Any, theme: Theme, history: PalaceHistory, track: WeeklyTrack, place: int
) -> None:
    known = [(week, count) for week, count in enumerate(track.counts) if count is not None]
    starts = [history.week(week).toordinal() for week, _ in known]
    counts = [count for _, count in known]
    axes.bar(starts, counts, 6, align="edge", color=theme.colour(place), zorder=3)
    first = history.first.toordinal()
    if unknown := len(track.counts) - len(known):
        axes.axvspan(first, first + 7 * unknown, color=theme.grid, alpha=0.6, linewidth=0)
    most = max(counts, default=0)
    axes.set(ylim=(0, max(most, 1) * 1.1), yticks=[0, most] if most else [0])
    axes.yaxis.set_major_formatter("{x:,.0f}")
    axes.grid(visible=False)
    axes.set_title(f"{track.name}: {sum(counts):,}" if known else track.name, fontsize=SMALL)
    words = fit(describe_track(track), _ROOM * WIDTH * 72, SMALL)
    axes.set_title(words, loc="right", fontsize=SMALL, fontweight="normal")
