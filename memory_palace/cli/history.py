"""A year of the palace on a terminal: a row of blocks for each kind of thing, with numbers."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from textwrap import wrap
from typing import Annotated, Any

from typer import Option

from memory_palace.cli.drawing import save_picture
from memory_palace.cli.printing import to_record
from memory_palace.palace import Palace
from memory_palace.plotting.calendars import MONTHS
from memory_palace.view.history import PalaceHistory, WeeklyTrack, read_history
from memory_palace.view.history_plot import describe_track, draw_history

History = Annotated[
    bool, Option("--history", help="Show the weeks of a year instead: what was done in each.")
]
_BLOCKS, _LETTERS = "▁▂▃▄▅▆▇█", ".:-=+*#@"
"""From few to many, each eighth of the most in its row."""
_ZERO, _ZERO_LETTER = "·", "_"
_INDENT, _WIDTH = 10, 78


def show_history(palace: Palace, plot: Path | None) -> tuple[dict[str, Any], list[str]]:
    """Return the history as a record and as lines, and draw it where that is asked for."""
    history = read_history(palace, today=datetime.now(UTC).date())
    if plot is not None:
        title = f"A year of {palace.paths.root.resolve().name}"
        save_picture(draw_history(history, title=title), plot)
    return to_record(history), list(chart_history(history, blocks=has_blocks(os.environ)))


def has_blocks(environ: Mapping[str, str]) -> bool:
    """Whether the locale of a terminal is UTF-8, or none is named."""
    names = (environ.get(key, "") for key in ("LC_ALL", "LC_CTYPE", "LANG"))
    name = next(filter(None, names), "UTF-8").casefold()
    return "utf-8" in name or "utf8" in name


def chart_history(history: PalaceHistory, *, blocks: bool) -> Iterator[str]:
    """Yield lines of 80 columns at most; without ``blocks`` of ASCII alone."""
    ramp, zero = (_BLOCKS, _ZERO) if blocks else (_LETTERS, _ZERO_LETTER)
    yield f"weeks from {history.first} to {history.last}; the highest of a row is the most in it"
    yield " " * _INDENT + _name_months(history)
    for track in history.tracks:
        known = [count for count in track.counts if count is not None]
        row = draw_row(track.counts, ramp, zero)
        total = f"{sum(known):>8,}" if known else ""
        yield f"{track.name:<{_INDENT}}{row}{total}".rstrip()
        words = f"{_describe_most(history, track)}{describe_track(track)}"
        yield from (" " * _INDENT + line for line in wrap(words, _WIDTH - _INDENT))
    yield f"{zero} is none; blank is before the log began"


def draw_row(counts: Sequence[int | None], ramp: str, zero: str) -> str:
    """Return a character for each count: blank where it is not known, else by its share."""
    most = max((count for count in counts if count), default=1)
    return "".join(
        " " if count is None else ramp[-(-count * len(ramp) // most) - 1] if count else zero
        for count in counts
    )


def _describe_most(history: PalaceHistory, track: WeeklyTrack) -> str:
    most = max((count for count in track.counts if count), default=0)
    if not most:
        return ""
    return f"most {most:,} in the week of {history.week(track.counts.index(most))}; "


def _name_months(history: PalaceHistory) -> str:
    """Return the names of months, each above the week of its first day."""
    row = ""
    for place in range(len(history.tracks[0].counts)):
        monday, next_monday = history.week(place), history.week(place + 1)
        begins = monday.day == 1 or (monday.month != next_monday.month and next_monday.day != 1)
        if begins and len(row) <= place:
            month = monday if monday.day == 1 else next_monday
            row = row.ljust(place) + MONTHS[month.month - 1]
    return row.rstrip()
