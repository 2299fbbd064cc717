"""All notes of a palace in a store as a snapshot whose rows are whole notes, and posting lists.

Filters, and signals that look at whole notes, work on it as on files. So the engine itself chooses
the notes that are read, and then ranks these by all of their passages.

A posting list is of one term and one block of notes, by their numbers. It has an entry for each
note: how many of its passages hold the term, and how often all of them do. Notes are found in the
same way by their links.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from copy import copy
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from memory_palace.config import Rooms
from memory_palace.features.store.connecting import Statements
from memory_palace.features.store.rows import Generation, damaged, read_figures, read_matrix
from memory_palace.graph.resolve import join_labels, list_ends, read_link
from memory_palace.index.segment import FIELDS as WORDS
from memory_palace.index.segment import Array, fact_term, hash_key
from memory_palace.index.snapshot import (
    PRIOR,
    Figure,
    Snapshot,
    Spread,
    Statistics,
    find_spread,
    split_list,
)
from memory_palace.index.words import BM25, K1, PASSAGE_B, PostingLookup, Rows
from memory_palace.index.writing import NoteRow
from memory_palace.language.words import expect_idf
from memory_palace.models import Scores, Vector
from memory_palace.retrieval.question import AskedWords

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
        self._statements, self._places = statements, places
        self.arrays = {"words_lengths": words}  # the one column that is asked for
        self._found: dict[tuple[int, int], Posted] = {}

    def fetch(self, asked: Iterable[tuple[str, str]]) -> None:
        """Read the lists of some terms, given with their fields, at once."""
        self._read({(FIELDS.index(field), key_of(term)) for field, term in asked})

    def _read(self, asked: Collection[tuple[int, int]]) -> list[Posted]:
        keys = sorted(set(asked) - self._found.keys())
        held: dict[tuple[int, int], list[bytes]] = {key: [] for key in keys}
        for field, key, data in keys and self._statements.ask(
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
        return [self._found[key] for key in asked]

    def find(self, field: str, key: int) -> tuple[Array, Array]:
        """Return the notes that hold a key, and how often each does."""
        (found,) = self._read([(FIELDS.index(field), key - (1 << 64) if key >> 63 else key)])
        return found.places, found.counts

    def get(self, field: str, *parts: str) -> Posted:
        """Return the notes that hold a term, or a fact by its parts."""
        term = fact_term(*parts) if len(parts) > 1 else parts[0]
        return self._read([(FIELDS.index(field), key_of(term))])[0]


# --- The outline ---

_Mask = NDArray[np.bool_]


class Outline(Snapshot):
    """All notes of one generation, with or without the archive."""

    def __init__(
        self, statements: Statements, generation: Generation, *, include_cold: bool
    ) -> None:
        super().__init__(generation.commit, [], rooms=Rooms(generation.record["rooms"]))
        disputes = generation.record["disputes"].items()
        self.disputes = {path: tuple(found) for path, found in disputes}
        """The open conflicts of every note that is party to one."""
        self._statements = statements
        ((sample, data, *texts),) = statements.ask(
            "SELECT (SELECT sample FROM generation WHERE palace = %(palace)s),"
            " coalesce(string_agg(figures, ''), ''), coalesce(array_agg(path), '{}'),"
            " coalesce(array_agg(type), '{}'), coalesce(array_agg(tags), '{}')"
            " FROM (SELECT * FROM note WHERE palace = %(palace)s ORDER BY id) AS note"
        )
        figures = read_figures(data, notes=len(texts[0]))
        places = np.flatnonzero(~figures["is_cold"] | include_cold).tolist()
        self.paths, *others = ([every[place] for place in places] for every in texts)
        self._read = dict(zip(("types", "tags"), others, strict=True))
        self.figures = kept = figures[places]
        self.is_whole = len(kept) == len(figures)
        self.places = np.full(int(figures["id"].max(initial=0)) + 1, -1, np.int64)
        self.places[kept["id"]] = np.arange(len(kept))
        self.sample_vectors = read_matrix(sample, self.commit.dimension, "the sample of vectors")
        self.cosines: Scores = np.zeros(0, np.float32)
        # What a snapshot of files reads from its segments.
        size, self.cold, self.dates = len(kept), kept["is_cold"], kept["date"]
        self.row_note = np.where(kept["passages"] > 0, np.arange(size), -1).astype(np.int32)
        self.row_owner, self.row_starts = self.row_note, np.array([0, size])
        self.question_rows = np.zeros(0, np.int64)
        self.lacking, self.copies, self.speakers = None, {}, frozenset()
        self.passages = int(kept["passages"][~self.cold].sum())
        self.words_length = float(kept["words"][~self.cold].sum()) / max(self.passages, 1)

    def ask(self) -> Outline:
        """Return the same for another question, with posting lists of its own."""
        asked = copy(self)
        asked.lists = Lists(self._statements, self.figures["words"], self.places)
        asked.segments = [asked.lists]
        return asked

    lists: Lists
    segments: list[Any]

    @property
    def statistics(self) -> ToldStatistics:
        """Figures of all notes by passages, though rows are notes."""
        return ToldStatistics(self)

    def similarities(self, vector: Vector) -> Scores:
        """Return what was found of the passage of each note that is nearest to the question."""
        return self.cosines

    def cosines_of(self, rows: Rows, vector: Vector) -> NDArray[np.float64]:
        return self.cosines[rows].astype(np.float64)

    def _column(self, name: str) -> Array:
        column: Array = self.figures[name]
        return column

    def _texts(self, name: str) -> list[str]:
        return self._read[name]


class ToldStatistics(Statistics):
    """Figures of all notes of a palace, told to who ranks some of them for a question.

    All are exact but one: how the scores of passages are spread is reckoned from whole notes, but
    for the passages of the notes at hand. Without a question they are those of the outline itself.
    """

    def __init__(self, outline: Outline, question: AskedWords | None = None) -> None:
        super().__init__(outline)
        self._outline, self._question = outline, question
        self.at_hand: _Mask = np.zeros(len(outline.paths), np.bool_)
        """Which notes are ranked."""

    def figure(self, name: Figure, found: float) -> float:
        if name == "words_length":
            return self._outline.words_length
        return self._figures[name] if self._question else found

    @cached_property
    def _bm25(self) -> BM25:
        return BM25(PostingLookup(self._outline, "words"))

    @cached_property
    def _figures(self) -> Mapping[str, float]:
        words = PostingLookup(self._outline, "words")
        lengths = words.note_lengths[words.hot_notes]
        terms = self._question.terms if self._question else ()
        return {
            "notes": len(lengths),
            "note_length": float(lengths.mean()) if len(lengths) else 0.0,
            "most_held": self._bm25.familiarity(terms)[1],
        }

    def frequency(self, field: str, parts: tuple[str, ...], rows: Rows) -> int:
        """Return how many passages outside the cold zone hold a term, or a fact by its parts."""
        found = self._outline.lists.get(field, *parts)
        return int(found.passages[~self._outline.cold[found.places]].sum())

    def note_frequency(self, term: str, found: int) -> int:
        """Return how many notes outside the cold zone have a word in a passage."""
        held = self._outline.lists.get("words", term)
        return int(np.count_nonzero(~self._outline.cold[held.places] & (held.passages > 0)))

    def holds(self, field: str, parts: tuple[str, ...], rows: Rows) -> bool:
        return bool(self._outline.lists.get(field, *parts).passages.any())

    def sample(self, vector: Vector) -> NDArray[np.float64]:
        """Return the cosines of a vector with those of the passages that stand for all."""
        sample = self._outline.sample_vectors
        cosines: NDArray[np.float64] = np.einsum("ij,j->i", sample, vector, dtype=np.float64)
        return cosines

    def spread(self, name: str, scores: NDArray[np.float64], *counted: _Mask) -> Spread | None:
        if self._question is None:
            return super().spread(name, scores, *counted)
        best = float(scores.max(initial=0.0))
        if name == "note_words":
            notes = self._bm25.notes(self._question.content_terms)
            return find_spread(notes, count=len(notes), best=float(notes.max(initial=0.0)))
        if not best:
            return None
        rest, squares = self._reckon_rest(self._question.terms)
        found = scores[counted[0]]
        total = float(found.sum()) + rest
        if not total:
            held = scores[counted[-1]]
            return find_spread(held, count=len(held), best=best)
        count = int(self._outline.figures["passages"].sum()) + PRIOR
        mean = total / count
        variance = (float((found * found).sum()) + squares) / count - mean * mean
        return Spread(mean, max(math.sqrt(max(variance, 0.0)), 1e-4), best)

    def _reckon_rest(self, terms: Iterable[str]) -> tuple[float, float]:
        """Return the sum of BM25 of all passages that are not at hand, and that of its squares.

        A passage of a note with ``n`` of them holds a term with the chance that any of them does,
        as often as those that hold it do on average; two terms meet by chance.
        """
        figures = self._outline.figures
        passages = np.maximum(figures["passages"], 1).astype(np.float64)
        mean = max(self._outline.words_length, 1.0)
        norm = K1 * (1 - PASSAGE_B + PASSAGE_B * figures["words"] / passages / mean)
        first, square, meeting = np.zeros((3, len(passages)))
        for term in terms:
            held = self._outline.lists.get("words", term)
            weight = expect_idf(
                term, self.frequency("words", (term,), held.places), self._outline.passages
            )
            count = held.counts / np.maximum(held.passages, 1)
            score = weight * count * (K1 + 1) / (count + norm[held.places])
            first[held.places] += held.passages * score
            square[held.places] += held.passages * score**2
            meeting[held.places] += (held.passages * score) ** 2
        square += (first**2 - meeting) / passages
        rest = ~self.at_hand
        return float(first[rest].sum()), float(square[rest].sum())
