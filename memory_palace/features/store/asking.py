"""Which notes may answer a question at a store: filters, and the best by words, names, vectors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, date, datetime
from pathlib import PurePosixPath
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memory_palace.errors import UsageError
from memory_palace.features.store.statements import Statements
from memory_palace.index.segment import PRIORITIES
from memory_palace.models import Filters
from memory_palace.places import PALACE
from memory_palace.retrieval.filters import check_priority, check_room, describe_unknown, fold
from memory_palace.retrieval.signals.time import SAYS_WHEN

_EPOCH = date(1970, 1, 1).toordinal()
_FROM_TIMES = f"""rows > 0 AND (id = ANY(%(naming)s) OR EXISTS (
    SELECT FROM unnest(%(firsts)s::int4[], %(lasts)s::int4[]) AS asked (first, last)
    WHERE (days[1] > 0 AND days[1] <= last AND first <= days[2])
    OR (days[3] > 0 AND days[3] <= last AND first <= days[4])
    OR ((record->>'date_source')::int <= %(source)s
        AND floor(date / 86400) + {_EPOCH} BETWEEN first AND last)))"""
"""What ``retrieval.when.match_when`` says of a note."""


class Passing(NamedTuple):
    """The notes that pass the filters of a question."""

    notes: NDArray[np.int32]
    """Their numbers, ascending."""
    rows: int
    """How many rows they have together."""


def find_passing(
    statements: Statements, filters: Filters, *, include_cold: bool, naming: Sequence[int] = ()
) -> Passing | None:
    """Return the notes that pass the filters; ``None`` where all do.

    ``naming`` are those with a passage that names one of the times of the filters.
    """
    clauses, values = _write_clauses(statements, filters, include_cold=include_cold)
    if filters.when:
        clauses.append(_FROM_TIMES)
        values |= {"naming": list(naming), "source": SAYS_WHEN}
        values |= {"firsts": [time.first.toordinal() for time in filters.when]}
        values |= {"lasts": [time.last.toordinal() for time in filters.when]}
    if not clauses:
        return None
    cold = () if include_cold else ("NOT is_cold",)
    where = " AND ".join(["palace = %(palace)s", *cold, *clauses])
    ((notes, rows),) = statements.ask(
        "SELECT coalesce(string_agg(int4send(id), '' ORDER BY id), ''), coalesce(sum(rows), 0)"
        f" FROM note WHERE {where}",
        **values,
    )
    return Passing(np.frombuffer(notes, ">i4").astype(np.int32), int(rows))


def _write_clauses(
    statements: Statements, filters: Filters, *, include_cold: bool
) -> tuple[list[str], dict[str, Any]]:
    """Return the conditions in SQL, with their values; names are compared here, not there."""
    names = _write_names(statements, filters, include_cold=include_cold)
    found = [*names, *_write_dates(filters)]
    if filters.priority is not None:
        priority = PRIORITIES.index(check_priority(filters.priority))
        found.append(("priority = %(priority)s", "priority", priority))
    tags = known_tags(statements, include_cold=include_cold) if filters.tags else ()
    for place, tag in enumerate(filters.tags):
        bearers = bearing(tags, tag)
        if not bearers:
            raise UsageError(describe_unknown("no note of the index has the tag", tag, tags))
        found.append((f"tags && %(tags{place})s", f"tags{place}", bearers))
    return [clause for clause, _, _ in found], {name: value for _, name, value in found}


def _write_names(
    statements: Statements, filters: Filters, *, include_cold: bool
) -> Iterator[tuple[str, str, Any]]:
    def known(column: str) -> list[str]:
        return _known(statements, f"DISTINCT {column}", include_cold=include_cold)

    if filters.type is not None:
        types = _like(known("type"), filters.type)
        yield "type = ANY(%(types)s)", "types", types
    if filters.room is not None:
        check_room(filters.room)
        yield "room = ANY(%(rooms)s)", "rooms", _like(known("room"), filters.room)
    if filters.folder:
        folders = _find_folders(known("folder"), filters.folder)
        yield "folder = ANY(%(folders)s)", "folders", folders


def _write_dates(filters: Filters) -> Iterator[tuple[str, str, Any]]:
    if filters.since is not None:
        yield "date >= %(since)s", "since", filters.since
    if filters.until is not None:
        yield "date <= %(until)s", "until", filters.until
    if filters.written_by is not None:
        clause = (
            "NOT ((days[1] > %(day)s OR days[1] = 0) AND (days[3] > %(day)s OR days[3] = 0)"
            " AND (days[1] <> 0 OR days[3] <> 0))"
        )
        yield clause, "day", datetime.fromtimestamp(filters.written_by, UTC).toordinal()


def known_tags(statements: Statements, *, include_cold: bool) -> list[str]:
    """Return every tag of the palace, as written."""
    return _known(statements, "DISTINCT unnest(tags)", include_cold=include_cold)


def bearing(tags: Iterable[str], wanted: str) -> list[str]:
    """Return the tags that are a wanted one or below it, in any case."""
    key = fold(wanted)
    return [tag for tag in tags if fold(tag) == key or fold(tag).startswith(f"{key}/")]


def _known(statements: Statements, what: str, *, include_cold: bool) -> list[str]:
    """Return what notes are called; of those in the archive only where it is asked for."""
    rows = statements.ask(
        f"SELECT {what} FROM note WHERE palace = %(palace)s AND (%(cold)s OR NOT is_cold)",
        cold=include_cold,
    )
    return [value for (value,) in rows if value is not None]


def _like(known: Iterable[str], wanted: str) -> list[str]:
    return [value for value in known if value.casefold() == wanted.casefold()]


def _find_folders(known: Sequence[str], wanted: Sequence[str]) -> list[str]:
    """Return the folders that are in or below one of some, given from the root or ``palace/``."""
    folded = {folder: fold(folder) for folder in known}
    above = {str(place) for each in known for place in (each, *PurePosixPath(each).parents)}
    found: list[str] = []
    for folder in wanted:
        below: list[str] = []
        for name in (fold(folder), fold(f"{PALACE}/{folder}")):
            below = below or [
                place
                for place, key in folded.items()
                if key == name or key.startswith(f"{name}/") or not name
            ]
        if not below:
            raise UsageError(
                describe_unknown("no note of the index is in the folder", folder, above)
            )
        found += below
    return found
