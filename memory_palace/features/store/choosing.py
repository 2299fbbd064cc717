"""The notes of a store that are read to answer a question: the best by one quick estimate.

Words are estimated from the posting lists of all notes, meaning from the nearest passages. What is
read is ranked as ever, so that the estimate decides only what is not looked at.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from memory_palace.facts.fact import FactKind
from memory_palace.features.store.asking import Passing
from memory_palace.features.store.collection import PostedStatistics
from memory_palace.features.store.generation import Generation
from memory_palace.features.store.packing import damaged
from memory_palace.features.store.posted import PostedSnapshot
from memory_palace.features.store.statements import Statements
from memory_palace.features.store.writing import INDEXED_ROWS
from memory_palace.index.calibration import LEAST, expect, read_null, stand_above, stand_out
from memory_palace.index.words import NO_ROWS
from memory_palace.language.tokens import tokenize
from memory_palace.language.word_lists import STOPWORDS, answer_stems
from memory_palace.models import Vector
from memory_palace.retrieval.profiles import HYBRID
from memory_palace.retrieval.quotes import find_quoted
from memory_palace.retrieval.signals.table import SPOKEN
from memory_palace.retrieval.signals.time import is_sure, near_notes, share_of_time, weigh_keys

BY_ALL = 100
"""Notes that are read, the best by words and meaning together."""
BY_EACH = 20
"""Notes that are read for their words, their best passage, their names or their meaning alone."""
BY_LIMIT = 4
"""Times as many are read as hits are asked for, at least, and half as many for each way alone."""
BY_VECTORS = 400
"""Passages that are looked at for their meaning."""
BY_INDEX = 1000
"""Passages that an index proposes, and looks at for it, which is as many as pgvector allows."""
BY_QUOTE = 400
"""Notes that are read for the words of a quote."""
EXACT_ROWS = 75_000
"""Where a filter leaves so few passages, all of them are compared: 1 microsecond each."""
_BEST = 3

_FOR_SCAN = "SELECT set_config('jit', 'off', true), set_config('enable_seqscan', %(all)s, true)"
"""Compiling is for statements that take seconds. The planner guesses four times the passages of
some thousand notes, since those of a note lie together: an index is used unless all are compared.
"""
_FOR_INDEX = (
    "SELECT set_config('hnsw.iterative_scan', 'relaxed_order', true),"
    f" set_config('hnsw.ef_search', '{BY_INDEX}', true),"
    " set_config('plan_cache_mode', 'force_custom_plan', true)"
)
"""Until the end of the transaction, so that it holds behind a pool of connections as well. An index
goes on until enough rows pass the filter; a plan for any vector would not use it."""

Values = NDArray[np.float64]
PostedTerm: TypeAlias = tuple[str, tuple[str, ...]]
"""A field, and a term or the parts of a fact."""


class Nearest(NamedTuple):
    """The passages nearest to a question in meaning, nearest first."""

    vector: Vector
    notes: NDArray[np.int64]
    """The number of the note of each."""
    cosines: Values


def list_priors(text: str) -> tuple[list[PostedTerm], list[PostedTerm], list[PostedTerm]]:
    """Return what passages are looked up by: who speaks, what kind of thing is told, what asks."""
    names = sorted(set(tokenize(text, stems=False)) - STOPWORDS)
    return (
        [("facts", ("speaker", name)) for name in names],
        [("words", (stem,)) for stem in sorted(answer_stems(text))],
        [("facts", ("form", "question"))],
    )


def find_nearest(
    statements: Statements,
    generation: Generation,
    vector: Vector,
    passing: Passing | None,
    *,
    include_cold: bool,
) -> Nearest:
    """Return the passages of the notes that pass that are nearest in meaning.

    Compared are all passages of a small palace, and of few notes; otherwise an index proposes more
    than are looked at, which are compared exactly.
    """
    cold = "" if include_cold else " AND NOT is_cold"
    values: dict[str, Any] = {}
    is_whole = passing is None and generation.rows < INDEXED_ROWS
    statements.ask(_FOR_SCAN, all="on" if is_whole else "off")
    if is_whole:
        source = f"passage WHERE palace = %(palace)s{cold}"
    elif passing is not None and passing.rows <= EXACT_ROWS:
        source = "passage WHERE palace = %(palace)s AND note = ANY(%(allowed)s)"
        values["allowed"] = passing.notes.tolist()
    else:
        # A scalar of each row: any other form of filter, and the planner leaves the index aside.
        few = "" if passing is None else " AND (SELECT get_bit(%(bits)s, passage.note) = 1)"
        kind = f"halfvec({len(vector)})"
        source = (
            f"(SELECT note, vector FROM passage WHERE palace = %(palace)s{cold}{few}"
            f" ORDER BY (vector::{kind}) <#> %(vector)s::vector::{kind} LIMIT {BY_INDEX})"
            " AS proposed"
        )
        statements.ask(_FOR_INDEX)
        values["bits"] = None if passing is None else _pack_bits(passing.notes, generation)
    found = statements.ask(
        f"SELECT note, -away FROM (SELECT note, vector <#> %(vector)s::vector AS away FROM {source}"
        f" ORDER BY away LIMIT {BY_VECTORS}) AS nearest",  # or each is computed twice
        vector="[" + ",".join(map(repr, vector.tolist())) + "]",
        **values,
    )
    notes, cosines = zip(*found, strict=True) if found else ((), ())
    return Nearest(vector, np.array(notes, np.int64), np.array(cosines))


def _pack_bits(notes: NDArray[np.int32], generation: Generation) -> bytes:
    """Return a bit for each note by its number, as ``get_bit`` of PostgreSQL counts them."""
    is_chosen = np.zeros(generation.next_note + 1, np.bool_)  # the last one is next_note
    is_chosen[notes] = True
    return np.packbits(is_chosen, bitorder="little").tobytes()


class NoteEstimate:
    """What each note of a palace may score."""

    def __init__(
        self,
        collection: PostedStatistics,
        snapshot: PostedSnapshot,
        passing: Passing | None,
        nearest: Nearest | None,
    ) -> None:
        self._collection, self._snapshot = collection, snapshot
        self._numbers = snapshot.posted.notes
        self._passes = np.ones(len(self._numbers), np.bool_)
        if passing is not None:
            self._passes = self._are(passing.notes)
        self._nearest = nearest

    def choose(self, limit: int) -> set[int]:
        """Return the numbers of the notes to be read for the best ``limit`` of them."""
        each = max(BY_EACH, BY_LIMIT * limit // 2)
        ways = (
            self._collection.note_scores,
            self._best_rows,
            self._shares[1],
            self._meaning,
            self._times,
        )
        found = [self._best(scores, each) for scores in ways]
        return self._best(self._total, max(BY_ALL, BY_LIMIT * limit)).union(*found)

    def choose_quoting(self, text: str) -> set[int]:
        """Return the notes that have the most words of each quote."""
        found: set[int] = set()
        for quote in find_quoted(text):
            counts = np.zeros(len(self._numbers))
            for term in dict.fromkeys(tokenize(quote, languages=self._snapshot.languages)):
                has = np.zeros(len(counts), np.bool_)
                for field in ("words", "names"):
                    has[self._snapshot.row_note[self._collection.lists[field].rows(term)]] = True
                counts += has
            found |= self._best(counts, BY_QUOTE)
        return found

    def _are(self, numbers: NDArray[np.integer]) -> NDArray[np.bool_]:
        """Say for each note whether its number is one of some."""
        most = max(int(self._numbers.max(initial=0)), int(numbers.max(initial=0)))
        chosen = np.zeros(most + 1, np.bool_)
        chosen[numbers] = True
        found: NDArray[np.bool_] = chosen[self._numbers]
        return found

    def _best(self, scores: Values, most: int) -> set[int]:
        """Return the numbers of the notes that pass, of the highest scores above 0."""
        places = np.flatnonzero((scores > 0) & self._passes)
        if len(places) > most:
            places = places[np.argpartition(-scores[places], most)[:most]]
        return set(self._numbers[places].tolist())

    @cached_property
    def _total(self) -> Values:
        spread, best = self._collection.spread, self._best_rows
        none = np.zeros(0)
        near = HYBRID["lexical"] + HYBRID["beside_words"]
        words = HYBRID["note_lexical"] * stand_out(
            self._collection.note_scores, spread("note_words", none)
        ) + near * stand_out(best, spread("words", none))
        held, named = self._shares
        known = HYBRID["covered"] * held + HYBRID["titled"] * named**2
        found: Values = words + known + self._meaning + self._times + self._priors
        return found

    @cached_property
    def _priors(self) -> Values:
        """What is added where a note is found at all, and where it is spoken by whom is asked for.

        As the signals ``speaker``, ``asked_kind`` and ``statement`` have it, of the best passage.
        """
        lists, snapshot = self._collection.lists, self._snapshot
        spoken, kinds, asks = (
            np.bincount(
                snapshot.row_note[np.unique(np.concatenate([NO_ROWS, *rows]))],
                minlength=len(self._numbers),
            )
            for rows in (
                [lists[field].rows(*parts) for field, parts in listed]
                for listed in list_priors(self._collection.question.text)
            )
        )
        share = np.minimum(spoken / np.maximum(snapshot.note_rows * SPOKEN, LEAST), 1)
        found = (self._best_rows > 0) | (self._meaning > 0)
        tells = HYBRID["statement"] * (asks < snapshot.note_rows)
        values: Values = HYBRID["speaker"] * share + found * (
            HYBRID["asked_kind"] * (kinds > 0) + tells
        )
        return values

    @cached_property
    def _times(self) -> Values:
        """What the times of the question add."""
        found, snapshot = np.zeros(len(self._numbers)), self._snapshot
        question, lists = self._collection.question, self._collection.lists
        for asked in question.times:
            for window in asked.windows:
                near = near_notes(snapshot, window, is_sure=is_sure(asked))
                np.maximum(found, asked.certainty * near, out=found)
            keys = weigh_keys(asked) if is_sure(asked) else {}
            lists["facts"].fetch((FactKind.DATE, key) for key in keys)
            for key, value in keys.items():
                notes = snapshot.row_note[lists["facts"].rows(FactKind.DATE, key)]
                found[notes] = np.maximum(found[notes], asked.certainty * value)
        if not found.any():
            return found
        share = share_of_time(question, lists["words"])
        return (HYBRID["temporal"] + share * share * HYBRID["dated"]) * found

    @cached_property
    def _best_rows(self) -> Values:
        """Return the score of the best passage of each note."""
        scores, owners = self._collection.row_scores, self._snapshot.row_owner
        rows = np.flatnonzero(scores)
        rows = rows[owners[rows] >= 0]
        best = np.zeros(len(self._numbers))
        np.maximum.at(best, owners[rows], scores[rows])
        return best

    @cached_property
    def _shares(self) -> tuple[Values, Values]:
        """How much of the question is in the passages of each note, and in its names."""
        whole = LEAST
        shares = np.zeros((2, len(self._numbers)))
        for term in self._collection.question.content_terms:
            weight = self._collection.weigh(term)
            whole += weight
            for share, field in zip(shares, ("words", "names"), strict=True):
                share[self._snapshot.row_note[self._collection.lists[field].rows(term)]] += weight
        return shares[0] / whole, shares[1] / whole

    @cached_property
    def _meaning(self) -> Values:
        """What the best passages of each note add; others are as near as the last that is known."""
        size = len(self._numbers)
        if self._nearest is None or not len(self._nearest.notes):
            return np.zeros(size)
        above = self._stand_above(self._nearest)
        floor = above[-1] if len(above) == BY_VECTORS else 0.0
        if not np.isin(self._nearest.notes, self._numbers).all():
            raise damaged("a passage")
        places = np.searchsorted(self._numbers, self._nearest.notes)
        best = np.full((_BEST, size), floor)
        for row in best:
            firsts = np.unique(places, return_index=True)[1]
            row[places[firsts]] = above[firsts]
            places, above = np.delete(places, firsts), np.delete(above, firsts)
        counts = np.minimum(self._snapshot.note_rows, _BEST)
        best[np.arange(_BEST)[:, None] >= counts] = 0
        mean: Values = best.sum(axis=0) / np.maximum(counts, 1)
        near = HYBRID["dense"] + HYBRID["beside_meaning"]
        found: Values = near * best[0] + HYBRID["note_dense"] * mean
        return found

    def _stand_above(self, nearest: Nearest) -> Values:
        null = read_null(self._snapshot.commit.calibration)
        sample = self._collection.sample(nearest.vector)
        return stand_above(nearest.cosines, *expect(sample, null)).astype(np.float64)
