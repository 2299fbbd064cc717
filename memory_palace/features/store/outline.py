"""Outline of a stored palace: a snapshot with one row per note, and its posting lists.

Filters and note-level signals run on the outline as on an index of files. The engine thus selects
candidate notes, whose passages are then read and ranked.

A posting list belongs to one field, one term and one block of note numbers. It has an entry per
note: the number of its passages with the term, and the term's frequency in them. Link targets have
posting lists too.
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
from memory_palace.features.store.rows import TALK, Generation, damaged, read_figures, read_matrix
from memory_palace.graph.resolve import join_labels, list_ends, read_link
from memory_palace.index.segment import FIELDS as WORDS
from memory_palace.index.segment import Array, hash_key
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
"""The fields of a file index, then two: suffixes of a note's own names (link targets that resolve
to it), and suffixes of the names that its links may resolve to."""
COLUMNS = {"field": "int2", "key": "int8", "block": "int4", "data": "bytea"}
BLOCK_NOTES = 2_000
"""Note numbers per block; an edited note rewrites its terms' posting lists of one block."""
ENTRY = np.dtype([("note", "<i4"), ("passages", "<u2"), ("count", "<u2")])
_LIST = ["field", "key", "block"]
"""Key columns of a posting list."""
_TERM = np.dtype([(name, "i8") for name in (*_LIST, *(ENTRY.names or ()))])
_MOST = np.iinfo(np.uint16).max
Terms: TypeAlias = np.ndarray[Any, np.dtype[np.void]]
"""Posting entries, each with the field, key and block of its posting list."""
NO_TERMS: Terms = np.zeros(0, _TERM)
_TAKEN = (
    "DELETE FROM posting AS p USING unnest(%(field)b::int2[], %(key)b::int8[], %(block)b::int4[])"
    " AS old (field, key, block) WHERE p.palace = %(palace)s AND p.field = old.field"
    " AND p.key = old.key AND p.block = old.block RETURNING p.field, p.key, p.block, p.data"
)


def key_of(*parts: str) -> int:
    """Return the 64-bit hash key of a term or fact as a signed integer, PostgreSQL's ``int8``."""
    key = hash_key(*parts)
    return key - (1 << 64) if key >> 63 else key


def list_own_ends(row: NoteRow) -> list[str]:
    """Return the suffixes of a note's path, aliases and title that links may name it by."""
    return list_ends([row.path, *split_list(row.aliases), row.title])


def list_link_ends(row: NoteRow) -> list[str]:
    """Return the suffixes of the names that a note's links may resolve to."""
    links = join_labels(split_list(row.targets), split_list(row.link_names))
    return list_ends([name for link in links for name in read_link(link, row.path)])


def list_terms(notes: Iterable[tuple[int, NoteRow]]) -> Terms:
    """Return the posting entries of numbered notes, sorted; terms of stored questions count 0."""
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
    """Return the terms sorted by the columns ``by``, and the start of each run of equal values."""
    terms = terms[np.lexsort([terms[name] for name in reversed(by)])]
    is_new = np.ones(len(terms), np.bool_)
    is_new[1:] = terms[by][1:] != terms[by][:-1]
    return terms, np.flatnonzero(is_new)


def pack_lists(terms: Terms) -> Iterator[tuple[Any, ...]]:
    """Yield the posting lists of terms, each as a row of ``COLUMNS``."""
    terms, _ = _sort(terms, [*_LIST, "note"])
    entries = np.zeros(len(terms), ENTRY)
    for name in ENTRY.names or ():
        entries[name] = terms[name]
    starts = _sort(terms, _LIST)[1].tolist()
    lists = terms[_LIST][starts].tolist()
    for known, (first, last) in zip(lists, pairwise([*starts, len(terms)]), strict=True):
        yield *known, entries[first:last].tobytes()


def write_lists(statements: Statements, gone: Terms, new: Terms) -> None:
    """Remove the entries of ``gone`` from a palace's posting lists and add those of ``new``."""
    lists, starts = _sort(np.concatenate([gone, new]), _LIST)
    asked = {name: lists[name][starts].tolist() for name in _LIST}
    held = unpack_lists(statements.ask(_TAKEN, **asked))
    held = held[~np.isin(held["note"], gone["note"])]
    statements.insert("posting", COLUMNS, pack_lists(np.concatenate([held, new])))


def unpack_lists(lists: Sequence[tuple[Any, ...]]) -> Terms:
    """Return the terms of packed posting lists; raise ``IndexDamagedError`` for a bad length."""
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
    """The notes of an outline that contain a term, as parallel arrays."""

    places: NDArray[np.int64]
    """Rows of the notes in the outline, ascending."""
    passages: NDArray[np.int64]
    """Passages with the term per note; 0 if only stored questions of the note have it."""
    counts: NDArray[np.int64]


class Lists:
    """Reads and caches posting lists; stands in for the outline's one index segment."""

    def __init__(self, statements: Statements, words: Array, places: NDArray[np.int64]) -> None:
        """``words`` are token counts by outline row; ``places`` maps note numbers to rows or -1."""
        self._statements, self._places = statements, places
        self.arrays = {"words_lengths": words}  # the one column that is asked for
        self._found: dict[tuple[int, int], Posted] = {}

    def fetch(self, asked: Iterable[tuple[str, str]]) -> None:
        """Read the posting lists of pairs of field and term in one query."""
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
        """Return the outline rows of the notes with an unsigned key, and its frequency in each."""
        (found,) = self._read([(FIELDS.index(field), key - (1 << 64) if key >> 63 else key)])
        return found.places, found.counts

    def get(self, field: str, *parts: str) -> Posted:
        return self._read([(FIELDS.index(field), key_of(*parts))])[0]


# --- The outline ---

_Mask = NDArray[np.bool_]


class Outline(Snapshot):
    """A snapshot of one generation with one row per note; cold notes only on request."""

    def __init__(
        self, statements: Statements, generation: Generation, *, include_cold: bool
    ) -> None:
        super().__init__(generation.commit, [], rooms=Rooms(generation.record["rooms"]))
        disputes = generation.record["disputes"].items()
        self.disputes = {path: tuple(found) for path, found in disputes}
        """Open conflicts by the path of a note involved in them."""
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
        # Attributes that a snapshot of files computes from its segments.
        size, self.cold, self.dates = len(kept), kept["is_cold"], kept["date"]
        self.row_note = np.where(kept["passages"] > 0, np.arange(size), -1).astype(np.int32)
        self.row_owner, self.row_starts = self.row_note, np.array([0, size])
        self.question_rows = np.zeros(0, np.int64)
        self.lacking, self.copies, self.speakers = None, {}, frozenset()
        self.are_talks = (kept["flags"] & TALK) > 0
        self.passages = int(kept["passages"][~self.cold].sum())
        self.words_length = float(kept["words"][~self.cold].sum()) / max(self.passages, 1)

    def ask(self) -> Outline:
        """Return a shallow copy for another question, with its own cache of posting lists."""
        asked = copy(self)
        asked.lists = Lists(self._statements, self.figures["words"], self.places)
        asked.segments = [asked.lists]
        return asked

    lists: Lists
    segments: list[Any]

    @property
    def statistics(self) -> ToldStatistics:
        """Corpus statistics counted in passages, although the outline's rows are notes."""
        return ToldStatistics(self)

    def similarities(self, vector: Vector) -> Scores:
        """Return each note's highest passage cosine, as ``find_nearest`` set it."""
        return self.cosines

    def cosines_of(self, rows: Rows, vector: Vector) -> NDArray[np.float64]:
        return self.cosines[rows].astype(np.float64)

    def _column(self, name: str) -> Array:
        return self.figures[name]

    def _texts(self, name: str) -> list[str]:
        return self._read[name]


class ToldStatistics(Statistics):
    """Corpus statistics of all notes, for ranking a subset of them for a question.

    All are exact except the spread of passage scores, which is estimated from note-level postings
    for the notes outside the subset. Without a question they describe the outline itself.
    """

    def __init__(self, outline: Outline, question: AskedWords | None = None) -> None:
        super().__init__(outline)
        self._outline, self._question = outline, question
        self.at_hand: _Mask = np.zeros(len(outline.paths), np.bool_)
        """Mask over outline rows: the subset of notes that is ranked."""

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
        """Return the passage frequency of a term, or of a fact's parts, outside the cold zone."""
        found = self._outline.lists.get(field, *parts)
        return int(found.passages[~self._outline.cold[found.places]].sum())

    def note_frequency(self, term: str, found: int) -> int:
        """Return the number of notes outside the cold zone with a word in a passage."""
        held = self._outline.lists.get("words", term)
        return int(np.count_nonzero(~self._outline.cold[held.places] & (held.passages > 0)))

    def holds(self, field: str, parts: tuple[str, ...], rows: Rows) -> bool:
        return bool(self._outline.lists.get(field, *parts).passages.any())

    def sample(self, vector: Vector) -> NDArray[np.float64]:
        """Return the cosines of a vector with the sample of passage vectors."""
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
        """Return estimated sums of BM25 and of squared BM25 over the passages not ``at_hand``.

        Model: a passage has a note's average length, each of the note's passages with a term its
        average frequency, and two terms fall into a note's passages independently.
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
