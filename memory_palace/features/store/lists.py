"""Which notes of a palace hold a term: posting lists of a store.

A list is of one term and one block of notes, by their numbers. It has an entry for each note: how
many of its passages hold the term, and how often all of them do. Notes are found in the same way by
their links.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from memory_palace.features.store.connecting import Statements
from memory_palace.features.store.rows import damaged
from memory_palace.graph.resolve import join_labels, list_ends, read_link
from memory_palace.index.segment import FIELDS as WORDS
from memory_palace.index.segment import SEPARATOR, Array, fact_term, hash_key
from memory_palace.index.writing import NoteRow

FIELDS = (*WORDS, "ends", "links")
"""After the fields of the files: the ends of names by which a link may mean a note, and the ends of
what its own links may mean."""
COLUMNS = {"field": "int2", "key": "int8", "block": "int4", "data": "bytea"}
BLOCK_NOTES = 2_000
"""Notes of a block: an edit writes the lists of one block that hold its words."""
ENTRY = np.dtype([("note", "<i4"), ("passages", "<u2"), ("count", "<u2")])
_LIST = ["field", "key", "block"]
"""What a list is known by."""
_TERM = np.dtype([(name, "i8") for name in (*_LIST, *(ENTRY.names or ()))])
_MOST = np.iinfo(np.uint16).max
Terms: TypeAlias = np.ndarray[Any, np.dtype[np.void]]
"""Entries with field and key of the lists that they are of."""
NO_TERMS: Terms = np.zeros(0, _TERM)
_TAKEN = (
    "DELETE FROM posting AS p USING unnest(%(field)b::int2[], %(key)b::int8[], %(block)b::int4[])"
    " AS old (field, key, block) WHERE p.palace = %(palace)s AND p.field = old.field"
    " AND p.key = old.key AND p.block = old.block RETURNING p.field, p.key, p.block, p.data"
)


def key_of(term: str) -> int:
    """Return the key of a term as PostgreSQL holds it, signed."""
    key = hash_key(term)
    return key - (1 << 64) if key >> 63 else key


def list_own_ends(row: NoteRow) -> list[str]:
    """Return the ends of names by which a link may mean a note."""
    return list_ends([row.path, *split_list(row.aliases), row.title])


def list_link_ends(row: NoteRow) -> list[str]:
    """Return the ends of what the links of a note may mean."""
    links = join_labels(split_list(row.targets), split_list(row.link_names))
    return list_ends([name for link in links for name in read_link(link, row.path)])


def split_list(text: str) -> list[str]:
    """Return the names or links that one field of a note holds."""
    return text.split(SEPARATOR) if text else []


def list_terms(notes: Iterable[tuple[int, NoteRow]]) -> Terms:
    """Return the terms of notes, given with their numbers; a question's count for no passage."""
    parts: list[tuple[int, int, bool, NDArray[Any], NDArray[Any]]] = []
    for number, row in notes:
        for chunk in row.chunks:
            for place, (keys, counts) in enumerate(chunk.keys):
                parts.append((place, number, chunk.first_line > 0, keys, counts))
        for place, names in enumerate((list_own_ends(row), list_link_ends(row)), len(WORDS)):
            found = np.array([key_of(name) for name in set(names)], np.int64)
            parts.append((place, number, True, found, np.ones(len(found))))
    sizes = [len(found) for *_, found, _ in parts]
    terms = np.zeros(sum(sizes), _TERM)
    if not len(terms):
        return terms
    fields, numbers, are_passages, every, counted = zip(*parts, strict=True)
    terms["field"], terms["note"] = np.repeat(fields, sizes), np.repeat(numbers, sizes)
    terms["key"] = np.concatenate([each.astype(np.uint64).view(np.int64) for each in every])
    terms["passages"] = np.repeat(are_passages, sizes)
    terms["count"] = np.concatenate(counted) * terms["passages"]
    terms["block"] = terms["note"] // BLOCK_NOTES
    terms, starts = _sort(terms, [*_LIST, "note"])
    summed = terms[starts]
    for name in ("passages", "count"):
        summed[name] = np.minimum(np.add.reduceat(terms[name], starts), _MOST)
    return summed


def _sort(terms: Terms, by: list[str]) -> tuple[Terms, NDArray[np.int64]]:
    """Return terms in order, and where each new value begins."""
    terms = terms[np.lexsort([terms[name] for name in reversed(by)])]
    is_new = np.ones(len(terms), np.bool_)
    is_new[1:] = terms[by][1:] != terms[by][:-1]
    return terms, np.flatnonzero(is_new)


def pack_lists(terms: Terms) -> Iterator[tuple[Any, ...]]:
    """Yield the values of ``COLUMNS`` of the lists of terms."""
    terms, _ = _sort(terms, [*_LIST, "note"])
    entries = np.zeros(len(terms), ENTRY)
    for name in ENTRY.names or ():
        entries[name] = terms[name]
    starts = _sort(terms, _LIST)[1].tolist()
    lists = terms[_LIST][starts].tolist()
    for known, (first, last) in zip(lists, pairwise([*starts, len(terms)]), strict=True):
        yield *known, entries[first:last].tobytes()


def write_lists(statements: Statements, gone: Terms, new: Terms) -> None:
    """Take the terms of some notes out of the lists of a palace, and put others in."""
    lists, starts = _sort(np.concatenate([gone, new]), _LIST)
    asked = {name: lists[name][starts].tolist() for name in _LIST}
    held = unpack_lists(statements.ask(_TAKEN, **asked))
    held = held[~np.isin(held["note"], gone["note"])]
    statements.insert("posting", COLUMNS, pack_lists(np.concatenate([held, new])))


def unpack_lists(lists: Sequence[tuple[Any, ...]]) -> Terms:
    """Undo ``pack_lists``; raise ``IndexDamagedError`` for what is no list."""
    parts = [_read_entries(data) for *_, data in lists]
    entries, counts = np.concatenate([np.zeros(0, ENTRY), *parts]), [*map(len, parts)]
    terms = np.zeros(len(entries), _TERM)
    for place, name in enumerate(_LIST):
        terms[name] = np.repeat(np.array([row[place] for row in lists], np.int64), counts)
    for name in ENTRY.names or ():
        terms[name] = entries[name]
    return terms


def _read_entries(data: bytes) -> np.ndarray[Any, np.dtype[np.void]]:
    if len(data) % ENTRY.itemsize:
        raise damaged("a posting list")
    return np.frombuffer(data, ENTRY)


class Posted(NamedTuple):
    """The notes that hold a term."""

    places: NDArray[np.int64]
    """Where they stand among the notes at hand, ascending."""
    passages: NDArray[np.int64]
    """How many passages of each hold it; 0 where only questions of the note do."""
    counts: NDArray[np.int64]


class Lists:
    """Finds the notes that hold a term, as a segment finds rows; it is that of an outline."""

    def __init__(self, statements: Statements, words: Array, places: NDArray[np.int64]) -> None:
        """Take how many words each note at hand has, and its place by its number, else -1."""
        self._statements, self._words, self._places = statements, words, places
        self._found: dict[tuple[int, int], Posted] = {}

    def fetch(self, asked: Iterable[tuple[str, str]]) -> None:
        """Read the lists of some terms, given with their fields, at once."""
        self._read({(FIELDS.index(field), key_of(term)) for field, term in asked})

    def _read(self, asked: Iterable[tuple[int, int]]) -> None:
        keys = sorted(set(asked) - self._found.keys())
        if not keys:
            return
        held: dict[tuple[int, int], list[bytes]] = {key: [] for key in keys}
        for field, key, data in self._statements.ask(
            "SELECT field, key, data"
            " FROM unnest(%(fields)b::int2[], %(keys)b::int8[]) AS asked (field, key)"
            " JOIN posting USING (field, key) WHERE palace = %(palace)s ORDER BY block",
            fields=[field for field, _ in keys],
            keys=[key for _, key in keys],
        ):
            held[field, key].append(data)
        for known, lists in held.items():
            entries = _read_entries(b"".join(lists))
            places = self._places.take(entries["note"], mode="clip")
            own = entries[places >= 0]
            counts = own["passages"].astype(np.int64), own["count"].astype(np.int64)
            self._found[known] = Posted(places[places >= 0], *counts)

    def find(self, field: str, key: int) -> tuple[Array, Array]:
        """Return the notes that hold a key, and how often each does."""
        found = self._get(FIELDS.index(field), key - (1 << 64) if key >> 63 else key)
        return found.places, found.counts

    def __getitem__(self, column: str) -> Array:
        """Return how many words each note has: the one column that is asked for."""
        return self._words

    def get(self, field: str, *parts: str) -> Posted:
        """Return the notes that hold a term, or a fact by its parts."""
        term = fact_term(*parts) if len(parts) > 1 else parts[0]
        return self._get(FIELDS.index(field), key_of(term))

    def _get(self, field: int, key: int) -> Posted:
        self._read([(field, key)])
        return self._found[field, key]
