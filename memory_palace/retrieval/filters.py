"""Which notes may be found at all. Filters are exact and come before ranking."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, cast, get_args
from unicodedata import normalize

import numpy as np
from numpy.typing import NDArray

from memory_palace.config import ROOMS, SEVEN, Rooms
from memory_palace.errors import UsageError, did_you_mean
from memory_palace.index.segment import PRIORITIES
from memory_palace.language.moments import to_timestamp
from memory_palace.models import Filters, Priority, TimeReading
from memory_palace.places import PALACE
from memory_palace.query import Names, Query

if TYPE_CHECKING:
    from memory_palace.index.snapshot import Snapshot


def read_filters(
    asked: Query, *, now: float, moment: float, locale: str = "", rooms: Rooms = SEVEN
) -> Filters:
    """Check the conditions of a query; ``now`` is what ``30d`` counts back from.

    ``moment`` is that of the question. Raise ``UsageError`` for an unknown priority, a room that is
    none of the seven or no folder here, and for text that is not a date. Folders and tags are known
    to an index only, and checked where it is asked.
    """
    since, until, room = asked.since, asked.until, asked.room
    if room is not None:
        check_room(room)
        rooms.folder_of(room.casefold())
    return Filters(
        type=asked.type,
        priority=None if asked.priority is None else check_priority(asked.priority),
        room=room,
        since=None if since is None else to_timestamp(since, now=now),
        until=None if until is None else to_timestamp(until, now=now, end_of_day=True),
        folder=tuple(_strip_folder(name) for name in _listed(asked.folder)),
        tags=tuple(_strip_tag(name) for name in _listed(asked.tags)),
        when=_read_when(asked.when, moment, locale),
        written_by=None if asked.as_of is None else moment,
    )


def _read_when(expression: str | None, asked: float, locale: str) -> tuple[TimeReading, ...]:
    if expression is None:
        return ()
    from memory_palace.retrieval.when import read_when  # delayed: few questions need it

    return read_when(expression, asked, locale=locale)


def check_priority(name: str) -> Priority:
    """Return a priority in lower case; raise ``UsageError`` where there is none of that name."""
    level = name.lower()
    if level not in get_args(Priority):
        raise UsageError(f"a priority is high, medium or low, not {name!r}")
    return cast(Priority, level)


def check_room(name: str) -> None:
    """Raise ``UsageError`` where ``name`` is none of the seven rooms."""
    if name.casefold() not in ROOMS:
        hint = did_you_mean(name.casefold(), ROOMS, ".")
        rooms = ", ".join(ROOMS)
        raise UsageError(
            f"there is no room {name!r}{hint} The rooms are {rooms}; "
            "for any other folder use --in FOLDER."
        )


def match_notes(snapshot: Snapshot, filters: Filters) -> NDArray[np.bool_]:
    """Say for each note whether it passes every filter. Private notes never do.

    Types and rooms are compared without regard to case; ``since`` and ``until`` are inclusive.
    """
    passes: NDArray[np.bool_] = ~snapshot.private
    if filters.type is not None:
        passes &= _are(snapshot.types, filters.type)
    if filters.room is not None:
        check_room(filters.room)
        passes &= _are(snapshot.rooms, filters.room)
    if filters.priority is not None:
        passes &= snapshot.priorities == PRIORITIES.index(check_priority(filters.priority))
    if (filters.since, filters.until, filters.written_by) != (None, None, None):
        passes &= _match_dates(snapshot, filters)
    if filters.folder + filters.tags:
        passes &= _match_names(snapshot, filters)
    if filters.when:
        naming = snapshot.row_note[match_times(snapshot, filters)]
        passes &= np.isin(np.arange(len(passes)), naming)
    return passes


def match_times(snapshot: Snapshot, filters: Filters) -> NDArray[np.bool_]:
    """Say for each row whether it is from the times of the filters, or names one of them."""
    from memory_palace.retrieval.when import match_when  # delayed: few questions need it

    notes, rows = match_when(snapshot, filters.when)
    matches: NDArray[np.bool_] = rows | np.append(notes, False)[snapshot.row_note]
    return matches


def _match_dates(snapshot: Snapshot, filters: Filters) -> NDArray[np.bool_]:
    dates = snapshot.told_dates
    passes: NDArray[np.bool_] = np.ones(len(dates), np.bool_)
    if filters.since is not None:
        passes &= dates >= filters.since
    if filters.until is not None:
        passes &= (dates <= filters.until) & (dates != 0)
    if filters.written_by is not None:
        passes &= ~_begins_after(snapshot, filters.written_by)
    return passes


def _begins_after(snapshot: Snapshot, moment: float) -> NDArray[np.bool_]:
    """Say for each note whether the earliest day that it gives itself is later than a moment.

    Its last change does not count, nor do git and the file: it may have been written long before.
    """
    firsts = snapshot.days[:, [0, 2]]
    day = datetime.fromtimestamp(moment, UTC).toordinal()
    later: NDArray[np.bool_] = ((firsts > day) | (firsts == 0)).all(axis=1) & firsts.any(axis=1)
    return later


def _are(values: list[str], wanted: str) -> NDArray[np.bool_]:
    wanted = wanted.casefold()
    matches = (value.casefold() == wanted for value in values)
    return np.fromiter(matches, np.bool_, len(values))


def _match_names(snapshot: Snapshot, filters: Filters) -> NDArray[np.bool_]:
    """Say for each note whether it lies in a folder of the filters and bears all their tags.

    Raise ``UsageError`` for a folder or tag that no note of the index has.
    """
    passes = np.ones(len(snapshot.paths), np.bool_)
    if filters.folder:
        passes &= _are_in(snapshot, filters.folder)
    if filters.tags:
        passes &= _bear(snapshot, filters.tags)
    return passes


def _are_in(snapshot: Snapshot, folders: Sequence[str]) -> NDArray[np.bool_]:
    """Say for each path whether it lies in or below one of the folders, in any case.

    A folder is given from the root, or from ``palace/``.
    """
    paths = snapshot.paths
    parents = [fold(path.rpartition("/")[0]) for path in paths]
    above = {
        parent: {parent[:end] for end in (*_slashes(parent), len(parent))} | {""}
        for parent in set(parents)
    }
    known = set().union(*above.values()) if above else {""}
    wanted = set()
    for folder in folders:
        places = [place for place in (fold(folder), fold(f"{PALACE}/{folder}")) if place in known]
        if not places:
            written = {path[:end] for path in paths for end in _slashes(path)}
            raise UsageError(
                describe_unknown("no note of the index is in the folder", folder, written)
            )
        wanted.update(places[:1])
    passing = {parent for parent, places in above.items() if places & wanted}
    return np.fromiter((parent in passing for parent in parents), np.bool_, len(parents))


def _bear(snapshot: Snapshot, tags: Sequence[str]) -> NDArray[np.bool_]:
    """Say for each note whether it has every tag, or one nested in it, in any case.

    ``project`` passes ``project/hut`` too.
    """
    passes = np.ones(len(snapshot.paths), np.bool_)
    for tag in tags:
        has = bear_tag(snapshot, tag)
        if not has.any():
            written = {name for note in snapshot.shown_tags for name in note}
            raise UsageError(describe_unknown("no note of the index has the tag", tag, written))
        passes &= has
    return passes


def bear_tag(snapshot: Snapshot, tag: str) -> NDArray[np.bool_]:
    """Say for each note whether it has a tag or one nested in it, in any case."""
    key = fold(tag)
    found = (
        any(own == key or own.startswith(f"{key}/") for own in map(fold, tags))
        for tags in snapshot.shown_tags
    )
    return np.fromiter(found, np.bool_, len(snapshot.paths))


def describe_unknown(what: str, name: str, known: Collection[str]) -> str:
    """Say that a name is unknown, with the nearest of the known ones."""
    from memory_palace.graph.naming import find_nearest  # delayed: only a wrong name needs it

    names = {entry: {fold(entry), fold(entry).rpartition("/")[2]} for entry in known if entry}
    near = [repr(entry) for entry in find_nearest(fold(name), names)] if names else []
    return f"{what} {name!r}" + (f"; did you mean {' or '.join(near)}?" if near else "")


def _listed(names: Names) -> Sequence[str]:
    return (names,) if isinstance(names, str) else names or ()


def _strip_folder(name: str) -> str:
    parts = (part for part in name.split("/") if part not in ("", "."))
    return "/".join(parts)


def _strip_tag(name: str) -> str:
    tag = name.strip().removeprefix("#").strip("/")
    if not tag:
        raise UsageError(f"a tag is a word such as #project, not {name!r}")
    return tag


def _slashes(path: str) -> Iterator[int]:
    return (place for place, letter in enumerate(path) if letter == "/")


def fold(name: str) -> str:
    """Return the name of a folder or tag for comparing."""
    return normalize("NFC", name).casefold()


def check_least(**given: tuple[int | None, int]) -> None:
    """Raise ``UsageError`` for a value below its least."""
    for name, (value, least) in given.items():
        if value is not None and value < least:
            raise UsageError(f"{name} must be at least {least}, not {value}")
