"""Which notes of a palace hold a term: posting lists of a store.

A list is of one term and one block of notes, by their numbers. It has an entry for each note: how
many of its passages hold the term, and how often all of them do. Notes are found in the same way by
their names and their links.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from memory_palace.features.store.generation import damaged
from memory_palace.features.store.statements import Statements
from memory_palace.graph.near import list_ends, read_link
from memory_palace.graph.resolve import join_labels
from memory_palace.index.arrays import FIELDS as WORDS
from memory_palace.index.arrays import Array, hash_key
from memory_palace.index.segment import SEPARATOR, NoteRow
from memory_palace.language.tokens import squeeze_all
from memory_palace.notes.note import stem_of
from memory_palace.retrieval.question import FOLDER_NOTES

FIELDS = (*WORDS, "called", "ends", "links")
"""After the fields of the files: what a note is called, and what its links call others; the ends of
names by which a link may mean it; the ends of what its links may mean."""
BLOCK_NOTES = 1 << 13
"""Notes of a block: an edit writes the lists of one block that hold its words."""
ENTRY = np.dtype([("place", "<u2"), ("passages", "<u2"), ("count", "<u2")])
_TERM = np.dtype(
    [
        ("field", "i2"),
        ("block", "i4"),
        ("key", "i8"),
        ("place", "i4"),
        ("passages", "i8"),
        ("count", "i8"),
    ]
)
_MOST = np.iinfo(np.uint16).max
_LIST = ["field", "block", "key"]
"""What a list is known by."""
COLUMNS = {"field": "int2", "block": "int4", "key": "int8", "data": "bytea"}
_ASKED = (
    "FROM unnest(%(fields)b::int2[], %(keys)b::int8[]) AS asked (field, key)"
    " JOIN posting USING (field, key) WHERE palace = %(palace)s"
)
_TAKEN = (
    "DELETE FROM posting AS p USING unnest(%(field)b::int2[], %(block)b::int4[], %(key)b::int8[])"
    " AS old (field, block, key) WHERE p.palace = %(palace)s AND p.field = old.field"
    " AND p.key = old.key AND p.block = old.block RETURNING p.field, p.block, p.key, p.data"
)
Terms: TypeAlias = np.ndarray[Any, np.dtype[np.void]]
"""Entries with the lists that they are of."""
NO_TERMS: Terms = np.zeros(0, _TERM)


def key_of(term: str) -> int:
    """Return the key of a term as PostgreSQL holds it, signed."""
    key = hash_key(term)
    return key - (1 << 64) if key >> 63 else key


def list_names(row: NoteRow) -> list[str]:
    """Return what a note is called: by its title, file, aliases, and the folder it stands for."""
    folder, _, leaf = row.path.rpartition("/")
    stem = leaf.rpartition(".")[0]
    folders = [folder.rpartition("/")[2]] if stem.casefold() in FOLDER_NOTES else []
    return [row.title, stem, stem_of(row.path), *folders, *split_list(row.aliases)]


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
        labels = [pair.partition("|")[2] for pair in split_list(row.link_names)]
        called = filter(None, squeeze_all([*list_names(row), *labels]))
        named = called, list_own_ends(row), list_link_ends(row)
        for place, names in enumerate(named, len(WORDS)):
            found = np.array([key_of(name) for name in set(names)], np.int64)
            parts.append((place, number, True, found, np.ones(len(found))))
    sizes = [len(found) for *_, found, _ in parts]
    terms = np.zeros(sum(sizes), _TERM)
    if not len(terms):
        return terms
    fields, numbers, are_passages, every, counted = zip(*parts, strict=True)
    terms["field"] = np.repeat(fields, sizes)
    terms["block"] = np.repeat(numbers, sizes) // BLOCK_NOTES
    terms["place"] = np.repeat(numbers, sizes) % BLOCK_NOTES
    terms["key"] = np.concatenate([each.astype(np.uint64).view(np.int64) for each in every])
    terms["passages"] = np.repeat(are_passages, sizes)
    terms["count"] = np.concatenate(counted) * terms["passages"]
    terms, starts = _sort(terms, [*_LIST, "place"])
    summed = terms[starts]
    for name in ("passages", "count"):
        summed[name] = np.minimum(np.add.reduceat(terms[name], starts), _MOST)
    return summed


def _sort(terms: Terms, by: Sequence[str]) -> tuple[Terms, NDArray[np.int64]]:
    """Return terms in order, and where each new value begins."""
    terms = terms[np.lexsort([terms[name] for name in reversed(by)])]
    is_new = np.ones(len(terms), np.bool_)
    is_new[1:] = np.any([terms[name][1:] != terms[name][:-1] for name in by], axis=0)
    return terms, np.flatnonzero(is_new)


def pack_lists(terms: Terms) -> Iterator[tuple[int, int, int, bytes]]:
    """Yield the values of ``COLUMNS`` of all lists."""
    terms, _ = _sort(terms, [*_LIST, "place"])
    entries = np.zeros(len(terms), ENTRY)
    for name in ENTRY.names or ():
        entries[name] = terms[name]
    _, firsts = _sort(terms, _LIST)
    for first, last in pairwise([*firsts.tolist(), len(terms)]):
        field, block, key = (int(terms[name][first]) for name in _LIST)
        yield field, block, key, entries[first:last].tobytes()


def unpack_lists(lists: Sequence[tuple[Any, ...]]) -> Terms:
    """Undo ``pack_lists``; raise ``IndexDamagedError`` for what is no list."""
    sizes = [len(data) for *_, data in lists]
    if any(size % ENTRY.itemsize for size in sizes):
        raise damaged("a posting list")
    entries = np.frombuffer(b"".join(data for *_, data in lists), ENTRY)
    terms = np.zeros(len(entries), _TERM)
    counts = np.array(sizes, np.int64) // ENTRY.itemsize
    for place, name in enumerate(_LIST):
        terms[name] = np.repeat(np.array([row[place] for row in lists], np.int64), counts)
    for name in ENTRY.names or ():
        terms[name] = entries[name]
    return terms


class ListWriter:
    """Changes the lists of a palace; what is new waits until there is enough of it."""

    def __init__(self, statements: Statements, last: int) -> None:
        """Take the last number of a note that lists may hold."""
        self._statements, self._last_block = statements, last // BLOCK_NOTES
        self._gone, self._new = [NO_TERMS], [NO_TERMS]

    def change(self, gone: Terms, new: Terms) -> None:
        """Take the terms of some notes out of the lists, and put others in."""
        self._gone.append(gone)
        self._new.append(new)
        if sum(map(len, self._new)) > _ENOUGH:
            self.flush()

    def flush(self) -> None:
        """Write what waits."""
        gone, new = np.concatenate(self._gone), np.concatenate(self._new)
        self._gone, self._new = [NO_TERMS], [NO_TERMS]
        touched = np.concatenate([gone, new])
        touched = touched[touched["block"] <= self._last_block]
        if len(touched):
            touched, firsts = _sort(touched, _LIST)
            asked = {name: touched[name][firsts].tolist() for name in _LIST}
            held = unpack_lists(self._statements.ask(_TAKEN, **asked))
            new = np.concatenate([held[~_are_of(held, gone)], new])
        if len(new):
            self._statements.insert("posting", COLUMNS, pack_lists(new))
            self._last_block = max(self._last_block, int(new["block"].max()))


_ENOUGH = 1_500_000
"""Terms that are written at once: those of a block of usual notes."""


def _are_of(terms: Terms, others: Terms) -> NDArray[np.bool_]:
    """Say for each of some terms whether it is of a note that others are of."""
    numbers = terms["block"].astype(np.int64) * BLOCK_NOTES + terms["place"]
    return np.isin(numbers, others["block"].astype(np.int64) * BLOCK_NOTES + others["place"])


class Posted(NamedTuple):
    """The notes that hold a term."""

    places: NDArray[np.int64]
    """Where they stand among the notes at hand, ascending."""
    passages: NDArray[np.int64]
    """How many passages of each hold it; 0 where only questions of the note do."""
    counts: NDArray[np.int64]


class Lists:
    """Finds the notes that hold a term, as a segment finds rows; it is that of an outline."""

    def __init__(self, statements: Statements, figures: Terms) -> None:
        """Take the ``notes.FIGURES`` of the notes at hand, by their numbers."""
        self._statements, self._notes = statements, figures["id"]
        self._words = figures["words"]
        self._found: dict[tuple[int, int], Posted] = {}

    def fetch(self, asked: Iterable[tuple[str, str]]) -> None:
        """Read the lists of some terms, given with their fields, at once."""
        wanted = {(FIELDS.index(field), key_of(term)) for field, term in asked}
        self._read(wanted - self._found.keys())

    def _read(self, wanted: Iterable[tuple[int, int]]) -> None:
        keys = sorted(wanted)
        if not keys:
            return
        terms = unpack_lists(
            self._statements.ask(
                f"SELECT field, block, key, data {_ASKED}",
                fields=[field for field, _ in keys],
                keys=[key for _, key in keys],
            )
        )
        numbers = terms["block"].astype(np.int64) * BLOCK_NOTES + terms["place"]
        order = np.lexsort([numbers, terms["key"], terms["field"]])
        terms, numbers = terms[order], numbers[order]
        places = np.searchsorted(self._notes, numbers)
        is_here = places < len(self._notes)
        is_here[is_here] = self._notes[places[is_here]] == numbers[is_here]
        terms, places = terms[is_here], places[is_here]
        for field, key in keys:
            own = np.flatnonzero((terms["field"] == field) & (terms["key"] == key))
            held = terms[own]
            self._found[field, key] = Posted(places[own], held["passages"], held["count"])

    def find(self, field: str, key: int) -> tuple[Array, Array]:
        """Return the notes that hold a key, and how often each does."""
        found = self._get(FIELDS.index(field), key - (1 << 64) if key >> 63 else key)
        return found.places, found.counts

    def __getitem__(self, column: str) -> Array:
        """Return how many words each note has: the one column that is asked for."""
        return self._words

    def get(self, field: str, term: str) -> Posted:
        """Return the notes that hold a term."""
        return self._get(FIELDS.index(field), key_of(term))

    def _get(self, field: int, key: int) -> Posted:
        if (field, key) not in self._found:
            self._read([(field, key)])
        return self._found[field, key]
