"""Inverted lists: which rows of a segment or a snapshot hold a key, and what that scores (BM25).

Keys are 64-bit digests: of a million terms two are equal with a chance of one in thirty million.
Rows and sizes have the smallest types that hold them; counts that are all 1 are left out.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memory_palace.index.npz import Array
from memory_palace.index.values import Derived
from memory_palace.language.word_lists import expect_idf

if TYPE_CHECKING:
    from memory_palace.index.snapshot import Snapshot
    from memory_palace.index.statistics import Figure

Rows = NDArray[np.int64]
Counts = NDArray[np.float64]
NO_ROWS: Rows = np.zeros(0, np.int64)

K1, NOTE_B = 1.2, 0.75
PASSAGE_B = 0.3
"""Passages are cut to like length, so length says little of them (on LoCoMo dev .3 beats .75)."""
UNSEEN = 0.5
"""Passages that an unknown word is counted as having."""


def find_sorted(ordered: Array, wanted: Array) -> tuple[Rows, NDArray[np.bool_]]:
    """Return where each wanted value stands in an ascending array, and whether it does."""
    places = np.searchsorted(ordered, wanted)
    is_there = np.zeros(len(wanted), np.bool_)
    inside = places < len(ordered)
    is_there[inside] = ordered[places[inside]] == wanted[inside]
    return places, is_there


FIELDS = ("words", "names", "extras", "facts")
"""The words of a passage; those of its note's names, at the note's first passage alone; words that
help to find it; what was extracted from it."""

_MOST = 255
_NO_KEYS: NDArray[np.uint64] = np.zeros(0, np.uint64)


class KeyCounts(NamedTuple):
    """The keys of one row in ascending order, and how often it holds each, 255 at most."""

    keys: NDArray[np.uint64]
    counts: NDArray[np.uint8]


@lru_cache(maxsize=1 << 15)
def hash_key(term: str) -> int:
    """Return the key of a term."""
    return int.from_bytes(blake2b(term.encode(), digest_size=8).digest(), "little")


def fact_term(kind: str, key: str) -> str:
    """Return the term that a fact is kept under."""
    return f"{kind}\x1f{key}"


def count_keys(terms: Iterable[str]) -> KeyCounts:
    """Count the keys of one row."""
    counted = Counter(terms)
    keys = np.fromiter(map(hash_key, counted), np.uint64, len(counted))
    counts = np.minimum(np.fromiter(counted.values(), np.int64, len(counted)), _MOST)
    order = np.argsort(keys)
    return KeyCounts(keys[order], counts[order].astype(np.uint8))


def derived_keys(derived: Derived) -> tuple[KeyCounts, ...]:
    """Return the keys of a chunk, one value for each of ``FIELDS``."""
    return (
        count_keys(derived.words),
        count_keys(derived.names),
        count_keys(set(derived.extras)),
        count_keys({fact_term(kind, key) for kind, key in derived.facts}),
    )


def same_keys(first: Sequence[KeyCounts], second: Sequence[KeyCounts]) -> bool:
    """Say whether two rows hold the same keys equally often in every field."""
    return all(
        np.array_equal(one.keys, other.keys) and np.array_equal(one.counts, other.counts)
        for one, other in zip(first, second, strict=True)
    )


def pack_postings(field: str, rows: Sequence[KeyCounts]) -> dict[str, Sequence[Array]]:
    """Turn the keys of all rows into the members of a segment."""
    keys = np.concatenate([_NO_KEYS, *(row.keys for row in rows)])
    counts = np.concatenate([np.zeros(0, np.uint8), *(row.counts for row in rows)])
    owners = np.repeat(np.arange(len(rows)), [len(row.keys) for row in rows])
    lengths = np.bincount(owners, counts, len(rows)).astype(np.int64)
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    starts = np.flatnonzero(np.append(np.ones(1, np.bool_), keys[1:] != keys[:-1]))[: len(keys)]
    return {
        f"{field}_keys": [keys[starts]],
        f"{field}_sizes": [smallest(np.diff(np.append(starts, len(keys))))],
        f"{field}_rows": [owners[order].astype(np.min_scalar_type(max(len(rows), 1)))],
        f"{field}_counts": [counts[order] if (counts != 1).any() else counts[:0]],
        f"{field}_lengths": [smallest(lengths)],
    }


def list_starts(columns: Mapping[str, Array], field: str) -> Array:
    """Return where the list of each key begins, and one more for the end."""
    starts: Array = np.zeros(len(columns[f"{field}_sizes"]) + 1, np.int64)
    np.cumsum(columns[f"{field}_sizes"], out=starts[1:])
    return starts


def find_key(
    columns: Mapping[str, Array], field: str, key: int, *, starts: Array
) -> tuple[Array, Array]:
    """Return the rows of a segment that hold a key, ascending, and how often each does.

    ``starts`` are those of ``list_starts``, which need to be summed up only once.
    """
    keys = columns[f"{field}_keys"]
    place = int(keys.searchsorted(np.uint64(key)))  # the function would take twice as long
    if place == len(keys) or int(keys[place]) != key:
        return _NO_KEYS, _NO_KEYS
    part = slice(int(starts[place]), int(starts[place + 1]))
    rows = columns[f"{field}_rows"][part]
    counts = columns[f"{field}_counts"]
    return rows, counts[part] if len(counts) else np.ones(len(rows), np.uint8)


def unpack_postings(columns: Mapping[str, Array], field: str, rows: int) -> list[KeyCounts]:
    """Undo ``pack_postings``: the keys of every row."""
    owners = columns[f"{field}_rows"]
    keys = np.repeat(columns[f"{field}_keys"], columns[f"{field}_sizes"])
    order = np.argsort(owners, kind="stable")
    ends = np.cumsum(np.bincount(owners, minlength=rows))[:-1]
    counts = columns[f"{field}_counts"]
    counts = counts[order] if len(counts) else np.ones(len(order), np.uint8)
    return [
        KeyCounts(*pair)
        for pair in zip(np.split(keys[order], ends), np.split(counts, ends), strict=True)
    ][:rows]


def smallest(numbers: Array) -> Array:
    """Return numbers in the smallest unsigned type that holds them."""
    return numbers.astype(np.min_scalar_type(int(numbers.max(initial=0))))


class PostingLookup:
    """Finds live passages by term in one field; cold ones too, which no frequency counts."""

    def __init__(self, snapshot: Snapshot, field: str) -> None:
        self.snapshot, self._field = snapshot, field
        self._found: dict[tuple[str, ...], tuple[Rows, Counts]] = {}
        self._frequencies: dict[tuple[str, ...], int] = {}

    def find(self, *parts: str) -> tuple[Rows, Counts]:
        """Return the live passages that hold a term, ascending, and how often each does.

        A fact is found by its kind and its key. What was found is kept, for several signals ask.
        """
        rows, counts = self.find_all(*parts)
        if not len(self.snapshot.question_rows):
            return rows, counts
        is_passage = self.snapshot.row_note[rows] >= 0
        return rows[is_passage], counts[is_passage]

    def find_all(self, *parts: str) -> tuple[Rows, Counts]:
        """Return the same of live rows that are questions as well."""
        if parts not in self._found:
            self._found[parts] = self._look_up(*parts)
        return self._found[parts]

    def _look_up(self, *parts: str) -> tuple[Rows, Counts]:
        key = hash_key(parts[0] if len(parts) == 1 else fact_term(*parts))
        rows: list[Rows] = [NO_ROWS]
        counts: list[Counts] = [np.zeros(0)]
        snapshot = self.snapshot
        for segment, start in zip(snapshot.segments, snapshot.row_starts.tolist(), strict=False):
            found, often = segment.find(self._field, key)
            if len(found):
                rows.append(found.astype(np.int64) + start)
                counts.append(often.astype(np.float64))
        if len(rows) == 1:
            return rows[0], counts[0]
        all_rows, all_counts = np.concatenate(rows), np.concatenate(counts)
        is_live = snapshot.row_owner[all_rows] >= 0
        return all_rows[is_live], all_counts[is_live]

    def rows(self, *parts: str) -> Rows:
        """Return the live rows that hold a term, ascending."""
        return self.find(*parts)[0]

    def document_frequency(self, *parts: str) -> int:
        """Return how many live rows of all notes hold a term, those in the cold zone aside."""
        if parts not in self._frequencies:
            rows = self.rows(*parts)
            self._frequencies[parts] = self.snapshot.statistics.frequency(self._field, parts, rows)
        return self._frequencies[parts]

    def is_held(self, *parts: str) -> bool:
        """Say whether any live row of all notes holds a term."""
        return self.snapshot.statistics.holds(self._field, parts, self.rows(*parts))

    def mean_length(self) -> float:
        """Return how many terms a row outside the cold zone holds, on average over all notes."""
        name: Figure = "extras_length" if self._field == "extras" else "words_length"
        hot = self.lengths[self.snapshot.hot_rows]
        return self.snapshot.statistics.figure(name, float(hot.sum()) / max(len(hot), 1))

    @cached_property
    def lengths(self) -> Counts:
        """How many terms each row holds, repeated ones included."""
        columns = [segment[f"{self._field}_lengths"] for segment in self.snapshot.segments]
        return np.concatenate([np.zeros(0), *columns]).astype(np.float64)

    @property
    def norms(self) -> Counts:
        """By what BM25 tempers the count of a term in each row."""
        return K1 * (1 - PASSAGE_B + PASSAGE_B * self.lengths / max(self.mean_length(), 1.0))

    @cached_property
    def hot_notes(self) -> NDArray[np.bool_]:
        """Notes outside the cold zone that have text."""
        return ~self.snapshot.cold & (self.note_lengths > 0)

    @cached_property
    def note_lengths(self) -> Counts:
        """How many terms each note holds in its passages, repeated ones included."""
        live = self.snapshot.row_note >= 0
        owners, size = self.snapshot.row_note[live], len(self.snapshot.paths)
        return np.bincount(owners, weights=self.lengths[live], minlength=size).astype(np.float64)


class BM25:
    """Scores a question's terms, by passages and by whole notes, from the same postings.

    Robertson and Zaragoza 2009, "The Probabilistic Relevance Framework". Frequencies count live
    rows outside the cold zone.
    """

    def __init__(self, lists: PostingLookup) -> None:
        self._lists, self._snapshot, self._all = lists, lists.snapshot, lists.snapshot.statistics
        self._count_rows = self._all.rows

    def passages(self, terms: Sequence[str]) -> Counts:
        """Return one score per row, questions too, 0 for rows without any of the distinct terms."""
        norm = self._lists.norms
        scores = np.zeros(len(norm))
        if not self._count_rows:
            return scores
        for term in dict.fromkeys(terms):
            rows, counts = self._lists.find_all(term)
            weight = expect_idf(term, self._lists.document_frequency(term), self._count_rows)
            scores[rows] += weight * counts * (K1 + 1) / (counts + norm[rows])
        return scores

    def notes(self, terms: Sequence[str]) -> Counts:
        """Return one score per note, from the terms of all its passages."""
        note_of, size = self._snapshot.row_note, len(self._snapshot.paths)
        scores = np.zeros(size)
        hot = self._lists.hot_notes
        if not (notes := int(self._all.figure("notes", int(np.count_nonzero(hot))))):
            return scores
        lengths = self._lists.note_lengths
        mean = self._all.figure("note_length", float(lengths[hot].sum()) / max(hot.sum(), 1))
        norm = K1 * (1 - NOTE_B + NOTE_B * lengths / mean)
        for term in dict.fromkeys(terms):
            rows, counts = self._lists.find(term)
            totals = np.bincount(note_of[rows], weights=counts, minlength=size)
            having = self._all.note_frequency(term, int(np.count_nonzero(totals[hot])))
            weight = expect_idf(term, having, notes)
            scores += weight * totals * (K1 + 1) / (totals + norm)
        return scores

    def familiarity(self, terms: Sequence[str]) -> tuple[float, float]:
        """Return the mean share of passages with a term, and the largest of terms, by weight."""
        note_of, hot = self._snapshot.row_note, self._snapshot.hot_rows
        whole, common, held = 0.0, 0.0, np.zeros(len(self._snapshot.paths))
        for term in (distinct := dict.fromkeys(terms)):
            rows = self._lists.rows(term)
            rows = rows[hot[rows]]
            having = self._lists.document_frequency(term)
            common += having / max(self._count_rows, 1)
            weight = math.log1p(self._count_rows / max(having, UNSEEN))
            whole += weight
            held[np.bincount(note_of[rows], minlength=len(held)) > 0] += weight  # np.unique sorts
        most = self._all.figure("most_held", float(held.max(initial=0.0)) / (whole or 1.0))
        return common / max(len(distinct), 1), most
