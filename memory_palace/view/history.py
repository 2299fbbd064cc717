"""A year of a palace by weeks, as far as notes and logs tell it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from memory_palace.changes.journal import read_log
from memory_palace.changes.logged_change import LoggedChange
from memory_palace.config import Rooms
from memory_palace.engine import Engine
from memory_palace.index.segment import SOURCES
from memory_palace.mnemonics.reviews import load_reviews
from memory_palace.notes.usage import logs_usage, read_usage

WEEKS = 53


@dataclass(frozen=True, slots=True)
class WeeklyTrack:
    """One kind of thing that happens to notes, week by week."""

    name: str
    source: str
    """What it is counted from."""
    limit: str
    """What that leaves out; empty for nothing."""
    began: date | None
    """The first day of which anything is known; ``None`` where nothing is."""
    counts: tuple[int | None, ...]
    """The latest week last; ``None`` in weeks before the log began."""
    earlier: int
    """Counted before the first week."""


@dataclass(frozen=True, slots=True)
class PalaceHistory:
    """What was written, changed, used, reviewed and archived in the last 53 weeks."""

    first: date
    """Monday of the first week."""
    last: date
    """Today, in the last week."""
    tracks: tuple[WeeklyTrack, ...]

    def week(self, place: int) -> date:
        """Return the Monday of a week."""
        return self.first + timedelta(weeks=place)


def read_history(engine: Engine, *, today: date) -> PalaceHistory:
    """Return the history of a palace up to a day, from its index and its logs.

    Raise ``IndexMissingError`` without an index: the dates of notes are read from there.
    """
    first = today - timedelta(days=today.weekday(), weeks=WEEKS - 1)
    snapshot = engine.snapshot(include_cold=True)
    is_told = snapshot.date_sources != SOURCES.index("mtime")
    told = snapshot.dates[is_told].tolist()
    written = [datetime.fromtimestamp(second, UTC).date() for second in told]
    by_file = int((~is_told).sum())
    dated = f"not {by_file:,} dated by the file alone" if by_file else ""
    log = read_log(engine.paths)
    moves = [(move.old, move.new) for entry in log for move in entry.moves]
    is_kept = logs_usage(engine.paths, engine.config)
    use = read_usage(engine.paths.logs, moves, today=today, is_kept=is_kept)
    used = [day for days in use.days.values() for day in days]
    reviews = load_reviews(engine.paths).values()
    reviewed = [one.time.astimezone(UTC).date() for rows in reviews for one in rows]
    logged = min(filter(None, map(_day_of, log)), default=None)
    off = "" if is_kept else "not logged now, only with `usage_log: on`"
    elsewhere = "edits made elsewhere are not logged"

    def track(
        name: str, source: str, days: Sequence[date], began: date | None, limit: str = ""
    ) -> WeeklyTrack:
        weeks, earlier = _count(days, began, first, today)
        return WeeklyTrack(name, source, limit, began, weeks, earlier)

    return PalaceHistory(
        first,
        today,
        (
            track("written", "by the dates of notes", written, min(written, default=None), dated),
            track("changed", "by commands of palace", list(_edits(log)), logged, elsewhere),
            track("used", "opened or cited", used, min(used, default=use.began), off),
            track("reviewed", "reviews of memories", reviewed, min(reviewed, default=None)),
            track("archived", "moved to the archive", list(_archived(log, engine)), logged),
        ),
    )


def _count(
    days: Sequence[date], began: date | None, first: date, today: date
) -> tuple[tuple[int | None, ...], int]:
    """Return the weeks, and how many days lie before them."""
    inside = Counter((day - first).days // 7 for day in days if first <= day <= today)
    start = WEEKS if began is None else (began - first).days // 7
    counts = tuple(inside[week] if week >= start else None for week in range(WEEKS))
    return counts, sum(day < first for day in days)


def _day_of(entry: LoggedChange) -> date | None:
    with suppress(ValueError):
        return datetime.fromisoformat(entry.time).date()
    return None


def _edits(log: Sequence[LoggedChange]) -> Iterable[date]:
    """Yield a day for each text that a change made or wrote over."""
    for entry in log:
        if day := _day_of(entry):
            yield from (day for write in entry.writes if write.after is not None)


def _archived(log: Sequence[LoggedChange], engine: Engine) -> Iterable[date]:
    rooms: Rooms = engine.paths.rooms
    for entry in log:
        if day := _day_of(entry):
            for move in entry.moves:
                if rooms.is_archived(move.new) and not rooms.is_archived(move.old):
                    yield day
