"""Which notes may answer a question at a store: filters, and the best by words, names, vectors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, date, datetime
from typing import Any
from unicodedata import normalize

import numpy as np
from numpy.typing import NDArray

from memory_palace.errors import UsageError
from memory_palace.facts.fact import FactKind
from memory_palace.index.calibration import LEAST
from memory_palace.index.segment import PRIORITIES
from memory_palace.language.tokens import tokenize
from memory_palace.models import Filters, Vector
from memory_palace.places import PALACE
from memory_palace.postgres.collection import PostedSnapshot, PostedStatistics
from memory_palace.postgres.generation import Generation
from memory_palace.postgres.statements import Statements
from memory_palace.postgres.writing import INDEXED_ROWS
from memory_palace.retrieval.filters import check_priority, check_room
from memory_palace.retrieval.quotes import find_quoted
from memory_palace.retrieval.signals.time import SAYS_WHEN
from memory_palace.retrieval.when import list_keys

_EPOCH = date(1970, 1, 1).toordinal()
BY_WORDS = 200
"""Notes, and as many passages, that are looked at for their words."""
BY_VECTORS = 400
"""Passages that are looked at for their meaning."""
_FROM_TIMES = f"""rows > 0 AND (id = ANY(%(naming)s) OR EXISTS (
    SELECT FROM unnest(%(firsts)s::int4[], %(lasts)s::int4[]) AS asked (first, last)
    WHERE (days[1] > 0 AND days[1] <= last AND first <= days[2])
    OR (days[3] > 0 AND days[3] <= last AND first <= days[4])
    OR ((record->>'date_source')::int <= %(source)s
        AND floor(date / 86400) + {_EPOCH} BETWEEN first AND last)))"""
"""What ``retrieval.when.match_when`` says of a note."""
EXACT_ROWS = 10_000
"""Where a filter leaves so few passages, all of them are compared."""


def find_passing(
    statements: Statements, filters: Filters, *, include_cold: bool, naming: Sequence[int] = ()
) -> NDArray[np.int32] | None:
    """Return the numbers of the notes that pass the filters, ascending; ``None`` where all do.

    ``naming`` are those with a passage that names one of the times of the filters.
    """
    clauses, values = _write_clauses(statements, filters)
    if filters.when:
        clauses.append(_FROM_TIMES)
        values |= {"naming": list(naming), "source": SAYS_WHEN}
        values |= {"firsts": [time.first.toordinal() for time in filters.when]}
        values |= {"lasts": [time.last.toordinal() for time in filters.when]}
    if not clauses:
        return None
    cold = () if include_cold else ("NOT is_cold",)
    where = " AND ".join(["palace = %(palace)s", *cold, *clauses])
    found = statements.ask(f"SELECT id FROM note WHERE {where} ORDER BY id", **values)
    return np.array([number for (number,) in found], np.int32)


def _write_clauses(statements: Statements, filters: Filters) -> tuple[list[str], dict[str, Any]]:
    """Return the conditions in SQL, with their values; names are compared here, not there."""
    found = [*_write_names(statements, filters), *_write_dates(filters)]
    if filters.priority is not None:
        priority = PRIORITIES.index(check_priority(filters.priority))
        found.append(("priority = %(priority)s", "priority", priority))
    tags = known_tags(statements) if filters.tags else ()
    for place, tag in enumerate(filters.tags):
        bearers = bearing(tags, tag)
        if not bearers:
            raise UsageError(f"no note of the index has the tag {tag!r}")
        found.append((f"tags && %(tags{place})s", f"tags{place}", bearers))
    return [clause for clause, _, _ in found], {name: value for _, name, value in found}


def _write_names(statements: Statements, filters: Filters) -> Iterator[tuple[str, str, Any]]:
    if filters.type is not None:
        types = _like(_known(statements, "type"), filters.type)
        yield "type = ANY(%(types)s)", "types", types
    if filters.room is not None:
        check_room(filters.room)
        yield "room = ANY(%(rooms)s)", "rooms", _like(_known(statements, "room"), filters.room)
    if filters.domains is not None:
        yield "folder = ANY(%(domains)s)", "domains", sorted(filters.domains)
    if filters.folder:
        folders = _find_folders(_known(statements, "folder"), filters.folder)
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


def known_tags(statements: Statements) -> list[str]:
    """Return every tag of the palace, as written."""
    return [
        tag
        for (tag,) in statements.ask(
            "SELECT DISTINCT unnest(tags) FROM note WHERE palace = %(palace)s"
        )
    ]


def bearing(tags: Iterable[str], wanted: str) -> list[str]:
    """Return the tags that are a wanted one or below it, in any case."""
    key = _fold(wanted)
    return [tag for tag in tags if _fold(tag) == key or _fold(tag).startswith(f"{key}/")]


def _known(statements: Statements, column: str) -> list[str]:
    rows = statements.ask(f"SELECT DISTINCT {column} FROM note WHERE palace = %(palace)s")
    return [value for (value,) in rows]


def _like(known: Iterable[str], wanted: str) -> list[str]:
    return [value for value in known if value.casefold() == wanted.casefold()]


def _find_folders(known: Sequence[str], wanted: Sequence[str]) -> list[str]:
    """Return the folders that are in or below one of some, given from the root or ``palace/``."""
    folded = {folder: _fold(folder) for folder in known}
    found: list[str] = []
    for folder in wanted:
        below: list[str] = []
        for name in (_fold(folder), _fold(f"{PALACE}/{folder}")):
            below = below or [
                place
                for place, key in folded.items()
                if key == name or key.startswith(f"{name}/") or not name
            ]
        if not below:
            raise UsageError(f"no note of the index is in the folder {folder!r}")
        found += below
    return found


def _fold(name: str) -> str:
    return normalize("NFC", name).casefold()


def find_by_words(
    collection: PostedStatistics, snapshot: PostedSnapshot, allowed: NDArray[np.int32] | None
) -> set[int]:
    """Return the numbers of the notes whose words, names or best passage answer best."""
    passes = _pass(snapshot, allowed)
    names = np.zeros(len(passes))
    for term in collection.question.content_terms:
        names[snapshot.row_note[collection.lists["names"].rows(term)]] += collection.weigh(term)
    found = [collection.note_scores, names, _best_rows(collection, snapshot)]
    return set().union(*(_choose(scores * passes, snapshot) for scores in found))


def find_by_times(
    statements: Statements,
    collection: PostedStatistics,
    snapshot: PostedSnapshot,
    allowed: NDArray[np.int32] | None,
) -> set[int]:
    """Return the notes that are from a time of the question or name it, the best by words."""
    windows = [w for item in collection.question.times for w in item.windows]
    passes, is_named = _pass(snapshot, allowed), np.zeros(len(snapshot.paths), np.bool_)
    for window in windows:
        for key in list_keys(window.first, window.last):
            rows = collection.lists["facts"].rows(FactKind.DATE, key)
            is_named[snapshot.row_note[rows]] = True
        first, last = window.first.toordinal(), window.last.toordinal()
        notes = statements.ask(
            "SELECT id FROM note WHERE palace = %(palace)s AND ("
            " (days[1] > 0 AND days[1] <= %(last)s AND %(first)s <= days[2])"
            " OR (days[3] > 0 AND days[3] <= %(last)s AND %(first)s <= days[4])"
            " OR date BETWEEN %(begin)s AND %(end)s)",
            first=first,
            last=last,
            begin=(first - _EPOCH) * 86_400.0,
            end=(last + 1 - _EPOCH) * 86_400.0,
        )
        is_named |= np.isin(snapshot.posted.notes, [note for (note,) in notes])
    scores = _best_rows(collection, snapshot) + collection.note_scores + LEAST
    return _choose(scores * (passes & is_named), snapshot)


def find_by_quotes(
    text: str,
    collection: PostedStatistics,
    snapshot: PostedSnapshot,
    allowed: NDArray[np.int32] | None,
) -> set[int]:
    """Return the notes that have the most words of each quote, at most so many as are read."""
    found: set[int] = set()
    for quote in find_quoted(text):
        terms = list(dict.fromkeys(tokenize(quote, languages=snapshot.languages)))
        counts = np.zeros(len(snapshot.paths))
        for term in terms:
            has = np.zeros(len(counts), np.bool_)
            for field in ("words", "names"):
                has[snapshot.row_note[collection.lists[field].rows(term)]] = True
            counts += has
        found |= _choose(counts * _pass(snapshot, allowed), snapshot, most=2 * BY_WORDS)
    return found


def _pass(snapshot: PostedSnapshot, allowed: NDArray[np.int32] | None) -> NDArray[np.bool_]:
    numbers = snapshot.posted.notes
    return np.ones(len(numbers), np.bool_) if allowed is None else np.isin(numbers, allowed)


def _best_rows(collection: PostedStatistics, snapshot: PostedSnapshot) -> NDArray[np.float64]:
    """Return the score of the best passage of each note."""
    best = np.zeros(len(snapshot.paths))
    rows = np.flatnonzero(collection.row_scores * (snapshot.row_owner >= 0))
    np.maximum.at(best, snapshot.row_owner[rows], collection.row_scores[rows])
    return best


def _choose(
    scores: NDArray[np.float64], snapshot: PostedSnapshot, *, most: int = BY_WORDS
) -> set[int]:
    """Return the numbers of the notes of the highest scores above 0."""
    places = np.flatnonzero(scores > 0)
    if len(places) > most:
        places = places[np.argpartition(-scores[places], most)[:most]]
    return set(snapshot.posted.notes[places].tolist())


def find_by_vector(
    statements: Statements,
    generation: Generation,
    vector: Vector,
    allowed: NDArray[np.int32] | None,
    *,
    include_cold: bool,
) -> set[int]:
    """Return the numbers of the notes that hold the passages nearest in meaning.

    Compared are all passages of a small palace, and of few notes; otherwise an index proposes.
    """
    cold = "" if include_cold else " AND NOT is_cold"
    few = " AND note = ANY(%(allowed)s)" if allowed is not None else ""
    dimension = len(vector)
    is_exact = generation.rows < INDEXED_ROWS
    if not is_exact and allowed is not None:
        ((rows,),) = statements.ask(
            "SELECT coalesce(sum(rows), 0) FROM note"
            " WHERE palace = %(palace)s AND id = ANY(%(allowed)s)",
            allowed=allowed.tolist(),
        )
        is_exact = rows <= EXACT_ROWS
    if is_exact:
        order = "vector <#> %(vector)s::vector"
    else:
        statements.run("SET LOCAL hnsw.iterative_scan = relaxed_order")
        statements.run("SET LOCAL hnsw.ef_search = 400")
        kind = f"halfvec({dimension})"
        order = f"(vector::{kind}) <#> %(vector)s::{kind}"
    found = statements.ask(
        f"SELECT note FROM passage WHERE palace = %(palace)s{cold}{few}"
        f" ORDER BY {order} LIMIT {BY_VECTORS}",
        vector="[" + ",".join(map(repr, vector.tolist())) + "]",
        allowed=None if allowed is None else allowed.tolist(),
    )
    return {note for (note,) in found}
