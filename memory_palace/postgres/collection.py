"""Figures of a whole palace for one question, from its posting lists.

The lists stand for a snapshot without texts, and what counts is counted by the code that counts in
the files: a figure is the same to the last bit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memory_palace.errors import UsageError
from memory_palace.index.calibration import Spread, find_spread
from memory_palace.index.postings import (
    BM25,
    FIELDS,
    NO_ROWS,
    Counts,
    PostingLookup,
    Rows,
    fact_term,
    hash_key,
)
from memory_palace.index.segment import VectorChoice
from memory_palace.index.snapshot import Snapshot
from memory_palace.index.statistics import Figure, OwnStatistics, Statistics
from memory_palace.language.word_lists import expect_idf
from memory_palace.models import Vector
from memory_palace.postgres.generation import Generation
from memory_palace.postgres.packing import (
    BLOCK_FIELD,
    unpack_block,
    unpack_lengths,
    unpack_posting,
)
from memory_palace.postgres.statements import Statements
from memory_palace.retrieval.question import ParsedQuestion

_WORDS, _EXTRAS = FIELDS.index("words"), FIELDS.index("extras")
_BLOCKS = (
    "SELECT key, block, data FROM posting WHERE palace = %(palace)s AND field = %(field)s"
    " AND key = ANY(%(keys)s) AND block = ANY(%(blocks)s)"
)
_LISTS = (
    "SELECT field, key, block, data FROM posting JOIN unnest(%(fields)s::int2[], %(keys)s::int8[])"
    " AS wanted (field, key) USING (field, key)"
    " WHERE palace = %(palace)s AND block = ANY(%(blocks)s)"
)


class PostedRows:
    """The rows of all blocks of a generation, one block after the other."""

    def __init__(
        self, statements: Statements, generation: Generation, *, include_cold: bool
    ) -> None:
        blocks = [block for block in generation.blocks if block > 0 or include_cold]
        self.blocks = sorted(blocks, key=abs)
        found: dict[tuple[int, int], bytes] = {
            (block, key): bytes(data)
            for key, block, data in statements.ask(
                _BLOCKS,
                field=BLOCK_FIELD,
                keys=[0, 1 + _WORDS, 1 + _EXTRAS],
                blocks=self.blocks,
            )
        }
        held = [unpack_block(found[block, 0]) for block in self.blocks]
        self.sizes = {block: len(rows) for block, (rows, _) in zip(self.blocks, held, strict=True)}
        starts = np.cumsum([0, *self.sizes.values()]).tolist()
        self.starts = dict(zip(self.blocks, starts, strict=False))
        none = np.zeros(0, np.int32)
        self.numbers: NDArray[np.int32] = np.concatenate([none, *(rows for rows, _ in held)])
        """The number of each row in the store."""
        owners = np.concatenate([none, *(notes for _, notes in held)])
        self.is_question = owners < 0
        owners = np.where(self.is_question, ~owners, owners)
        self.notes, self.owners = np.unique(owners, return_inverse=True)
        """The notes that have rows, ascending by number, and for each row which one it is of."""
        self.is_dead = np.isin(self.numbers, generation.dead)
        is_cold = np.repeat(
            np.array([block < 0 for block in self.blocks], np.bool_), [*self.sizes.values()]
        )
        self.cold_notes = np.zeros(len(self.notes), np.bool_)
        self.cold_notes[self.owners[is_cold & ~self.is_dead]] = True
        self.lengths = {
            field: np.concatenate(
                [np.zeros(0), *(unpack_lengths(found[block, 1 + field]) for block in self.blocks)]
            ).astype(np.float64)
            for field in (_WORDS, _EXTRAS)
        }


class PostedSnapshot(Snapshot):
    """Rows as posting lists have them: enough to count and to score words."""

    def __init__(self, generation: Generation, posted: PostedRows) -> None:
        super().__init__(generation.commit, [])
        self.posted = posted
        owners = np.where(posted.is_dead, -1, posted.owners).astype(np.int32)
        self.paths = [""] * len(posted.notes)
        self.row_owner = owners
        self.row_note = np.where(posted.is_question, -1, owners).astype(np.int32)
        self.question_rows = np.flatnonzero(posted.is_question & ~posted.is_dead)
        self.cold = posted.cold_notes

    @cached_property
    def hot_rows(self) -> NDArray[np.bool_]:
        """Live passages outside the cold zone."""
        hot = np.append(~self.cold, False)  # the place after the last note is that of -1
        rows: NDArray[np.bool_] = hot[self.row_note]
        return rows


class PostedLists(PostingLookup):
    """Finds rows by term in one field of a store."""

    def __init__(self, snapshot: PostedSnapshot, field: str, statements: Statements) -> None:
        super().__init__(snapshot, field)
        self._posted, self._statements = snapshot.posted, statements
        self._place = FIELDS.index(field)

    @cached_property
    def lengths(self) -> Counts:
        """How many terms each row holds, repeated ones included."""
        return self._posted.lengths[self._place]

    def fetch(self, terms: Iterable[str]) -> None:
        """Read the lists of some terms at once."""
        wanted = {hash_key(term): (term,) for term in terms if (term,) not in self._found}
        for key, found in self._read(wanted).items():
            self._found[wanted[key]] = found

    def _look_up(self, *parts: str) -> tuple[Rows, Counts]:
        key = hash_key(parts[0] if len(parts) == 1 else fact_term(*parts))
        return self._read([key])[key]

    def _read(self, keys: Iterable[int]) -> dict[int, tuple[Rows, Counts]]:
        signed = {key - (1 << 64) if key >> 63 else key: key for key in keys}
        lists: dict[int, list[tuple[Rows, Counts]]] = {key: [] for key in signed.values()}
        asked = {"fields": [self._place] * len(signed), "keys": [*signed]}
        rows = self._statements.ask(_LISTS, **asked, blocks=self._posted.blocks) if signed else []
        for _, key, block, data in sorted(rows, key=lambda row: abs(row[2])):
            places, counts = unpack_posting(bytes(data), self._posted.sizes[block])
            lists[signed[key]].append(
                (places + self._posted.starts[block], counts.astype(np.float64))
            )
        return {key: self._join(found) for key, found in lists.items()}

    def _join(self, found: list[tuple[Rows, Counts]]) -> tuple[Rows, Counts]:
        rows = np.concatenate([NO_ROWS, *(places for places, _ in found)])
        counts = np.concatenate([np.zeros(0), *(often for _, often in found)])
        is_live = ~self._posted.is_dead[rows]
        return rows[is_live], counts[is_live]


class PostedStatistics:
    """What one question needs of all notes of a palace; see ``index.statistics``."""

    def __init__(
        self,
        statements: Statements,
        snapshot: PostedSnapshot,
        question: ParsedQuestion,
        *,
        notes: int,
        sample: Any,
    ) -> None:
        """Take how many ``notes`` there are, without words too; ``sample`` compares those rows."""
        self._own: Statistics = OwnStatistics(snapshot)
        self._snapshot, self.question, self._sample = snapshot, question, sample
        self._notes = notes
        self.lists = {field: PostedLists(snapshot, field, statements) for field in FIELDS}
        for field in ("words", "names", "extras"):
            self.lists[field].fetch(question.terms)
        self._bm25 = BM25(self.lists["words"])

    @cached_property
    def rows(self) -> int:
        """How many passages are live and outside the cold zone."""
        return self._own.rows

    def figure(self, name: Figure, found: float) -> float:
        """Return a figure of all notes."""
        return self._figures[name]

    @cached_property
    def _figures(self) -> Mapping[str, float]:
        snapshot, words = self._snapshot, self.lists["words"]
        live = snapshot.hot_rows
        of_notes = np.bincount(
            snapshot.row_note[live], weights=words.lengths[live], minlength=len(snapshot.paths)
        )
        of_notes = of_notes[of_notes > 0]
        return {
            "words_length": words.mean_length(),
            "extras_length": self.lists["extras"].mean_length(),
            "notes": len(of_notes),
            "note_length": float(of_notes.mean()) if len(of_notes) else 0.0,
            "most_held": self._bm25.familiarity(self.question.terms)[1],
        }

    def frequency(self, field: str, parts: tuple[str, ...], rows: Rows) -> int:
        """Return how many passages outside the cold zone hold a term, or a fact by its parts."""
        return self._own.frequency(field, parts, self.lists[field].rows(*parts))

    def note_frequency(self, term: str, found: int) -> int:
        """Return how many notes outside the cold zone have a word in a passage."""
        rows = self.lists["words"].rows(term)
        rows = rows[self._snapshot.hot_rows[rows]]
        return len(np.unique(self._snapshot.row_note[rows]))

    def holds(self, field: str, parts: tuple[str, ...], rows: Rows) -> bool:
        """Say whether any live passage holds a term."""
        return len(self.lists[field].rows(*parts)) > 0

    def spread(
        self, name: str, scores: NDArray[np.float64], *counted: NDArray[np.bool_]
    ) -> Spread | None:
        """Return how scores are spread over all notes or passages."""
        if name not in self._spreads:
            raise UsageError(f"a store cannot be asked by the signal {name}; leave it out")
        return self._spreads[name]

    @cached_property
    def _spreads(self) -> Mapping[str, Spread | None]:
        snapshot, is_passage = self._snapshot, self._snapshot.row_note >= 0
        extras = BM25(self.lists["extras"]).passages(self.question.content_terms)
        return {
            "words": self._own.spread(
                "words", self.row_scores, is_passage, snapshot.row_owner >= 0
            ),
            "extras": self._own.spread("extras", extras, is_passage),
            "note_words": find_spread(
                self.note_scores,
                count=self._notes,
                best=float(self.note_scores.max(initial=0.0)),
            ),
        }

    def weigh(self, term: str) -> float:
        """Return what a word of the question counts: the rarer the more."""
        return expect_idf(term, self.lists["words"].document_frequency(term), self.rows)

    @cached_property
    def row_scores(self) -> Counts:
        """BM25 of every row."""
        return self._bm25.passages(self.question.terms)

    @cached_property
    def note_scores(self) -> Counts:
        """BM25 of every note that has rows."""
        return self._bm25.notes(self.question.content_terms)

    def sample(self, vector: Vector, which: VectorChoice) -> NDArray[np.float64]:
        """Return the cosines of a vector with those of the rows that stand for all."""
        found: NDArray[np.float64] = self._sample(vector, which)
        return found
