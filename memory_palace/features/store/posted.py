"""The rows of a palace as its posting lists have them, which stay from question to question."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memory_palace.features.store.generation import Generation
from memory_palace.features.store.packing import (
    BLOCK_FIELD,
    damaged,
    unpack_block,
    unpack_lengths,
    unpack_posting,
)
from memory_palace.features.store.records import read_text
from memory_palace.features.store.statements import Statements
from memory_palace.index.postings import FIELDS, fact_term, hash_key
from memory_palace.index.snapshot import Snapshot
from memory_palace.index.words import NO_ROWS, Counts, PostingLookup, Rows
from memory_palace.notes.reading import read_parties

_WORDS, _EXTRAS = FIELDS.index("words"), FIELDS.index("extras")
_DATES = (
    "SELECT coalesce(string_agg(int4send(id) || float8send(date) || int4send(days[1])"
    " || int4send(days[2]) || int4send(days[3]) || int4send(days[4])"
    " || int2send((record->>'date_source')::int2), '' ORDER BY id), '')"
    " FROM note WHERE palace = %(palace)s AND rows > 0 AND (%(cold)s OR NOT is_cold)"
)
_DATED = np.dtype([("id", ">i4"), ("date", ">f8"), ("days", ">i4", 4), ("source", ">i2")])
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
        members = (0, 1 + _WORDS, 1 + _EXTRAS)
        found: dict[tuple[int, int], bytes] = {
            (block, key): bytes(data)
            for key, block, data in statements.ask(
                _BLOCKS,
                field=BLOCK_FIELD,
                keys=[*members],
                blocks=self.blocks,
            )
        }
        if any((block, key) not in found for block in self.blocks for key in members):
            raise damaged("a block of posting lists")
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
        if any(len(lengths) != len(self.numbers) for lengths in self.lengths.values()):
            raise damaged("a block of posting lists")


class PostedSnapshot(Snapshot):
    """Rows as posting lists have them: enough to count and to score words."""

    def __init__(self, statements: Statements, generation: Generation, posted: PostedRows) -> None:
        super().__init__(generation.commit, [])
        self.posted = posted
        self.lists = {field: PostedLists(self, field, statements) for field in FIELDS}
        owners = np.where(posted.is_dead, -1, posted.owners).astype(np.int32)
        self.paths = [""] * len(posted.notes)
        self.row_owner = owners
        self.row_note = np.where(posted.is_question, -1, owners).astype(np.int32)
        self.question_rows = np.flatnonzero(posted.is_question & ~posted.is_dead)
        self.cold = posted.cold_notes
        self.read: dict[int, Any] = {}
        """Notes that were read for questions before, by number; see ``fetching``."""
        self._statements = statements

    @cached_property
    def hot_rows(self) -> NDArray[np.bool_]:
        """Live passages outside the cold zone."""
        hot = np.append(~self.cold, False)  # the place after the last note is that of -1
        rows: NDArray[np.bool_] = hot[self.row_note]
        return rows

    @cached_property
    def count_hot(self) -> int:
        """How many passages are live and outside the cold zone."""
        return int(np.count_nonzero(self.hot_rows))

    @cached_property
    def count_passages(self) -> int:
        """How many passages are live."""
        return int(np.count_nonzero(self.row_note >= 0))

    @cached_property
    def count_live(self) -> int:
        """How many rows are live."""
        return int(np.count_nonzero(self.row_owner >= 0))

    @cached_property
    def note_rows(self) -> NDArray[np.int64]:
        """How many passages each note has."""
        passages = self.row_note[self.row_note >= 0]
        return np.bincount(passages, minlength=len(self.paths))

    @cached_property
    def disputes(self) -> Mapping[str, tuple[str, ...]]:
        """The open conflicts of every note that is party to one."""
        found: dict[str, tuple[str, ...]] = {}
        for path, text in self._statements.ask(
            "SELECT path, text FROM note WHERE palace = %(palace)s AND room = 'conflict_room'"
            " AND NOT is_cold ORDER BY path"
        ):
            for party in read_parties(read_text(text, path)):
                found[party] = (*found.get(party, ()), path)
        return found

    @cached_property
    def dates(self) -> NDArray[np.float64]:
        """When each note was last changed."""
        return self._dated["date"].astype(np.float64)

    @cached_property
    def days(self) -> NDArray[np.int32]:
        """First and last day of two spans that each note is of."""
        return self._dated["days"].astype(np.int32)

    @cached_property
    def date_sources(self) -> NDArray[np.uint8]:
        """Who says so of each note."""
        return self._dated["source"].astype(np.uint8)

    @cached_property
    def _dated(self) -> NDArray[np.void]:
        cold = any(block < 0 for block in self.posted.blocks)
        ((packed,),) = self._statements.ask(_DATES, cold=cold)
        # Posting lists name notes that are gone as well, maybe no others: those have no date.
        found = np.append(np.frombuffer(packed, _DATED), np.zeros(1, _DATED))
        if not np.isfinite(found["date"]).all():
            raise damaged("when a note was changed")
        places = np.searchsorted(found["id"][:-1], self.posted.notes)
        places[found["id"][places] != self.posted.notes] = -1
        chosen: NDArray[np.void] = found[places]
        return chosen


class PostedLists(PostingLookup):
    """Finds rows by term in one field of a store, from one question to the next."""

    def __init__(self, snapshot: PostedSnapshot, field: str, statements: Statements) -> None:
        super().__init__(snapshot, field)
        self._posted, self._statements = snapshot.posted, statements
        self.place = FIELDS.index(field)

    @cached_property
    def lengths(self) -> Counts:
        """How many terms each row holds, repeated ones included."""
        return self._posted.lengths[self.place]

    @cached_property
    def norms(self) -> Counts:
        """By what BM25 tempers the count of a term in each row."""
        return super().norms

    @cached_property
    def _mean_length(self) -> float:
        return super().mean_length()

    def mean_length(self) -> float:
        """Return how many terms a row outside the cold zone holds, on average."""
        return self._mean_length

    def begin(self) -> None:
        """Forget the rows of the last question."""
        self._found = {}

    def fetch(self, terms: Iterable[tuple[str, ...]]) -> None:
        """Read the lists of some terms at once."""
        wanted = ((self, parts) for parts in terms if parts not in self._found)
        fetch(self._statements, wanted, self._posted.blocks)

    def keep(self, parts: tuple[str, ...], found: Sequence[tuple[int, bytes]]) -> None:
        """Take the lists of a term, by their blocks."""
        rows, counts = [NO_ROWS], [np.zeros(0)]
        for block, data in sorted(found, key=lambda each: abs(each[0])):
            places, often = unpack_posting(data, self._posted.sizes[block])
            rows.append(places + self._posted.starts[block])
            counts.append(often.astype(np.float64))
        all_rows, all_counts = np.concatenate(rows), np.concatenate(counts)
        if self._posted.is_dead.any():
            is_live = ~self._posted.is_dead[all_rows]
            all_rows, all_counts = all_rows[is_live], all_counts[is_live]
        self._found[parts] = all_rows, all_counts

    def _look_up(self, *parts: str) -> tuple[Rows, Counts]:
        self.fetch([parts])
        return self._found[parts]


def fetch(
    statements: Statements,
    wanted: Iterable[tuple[PostedLists, tuple[str, ...]]],
    blocks: Sequence[int],
) -> None:
    """Read the lists of some terms, in several fields, at once."""
    asked: dict[tuple[int, int], tuple[PostedLists, tuple[str, ...]]] = {}
    for lists, parts in wanted:
        key = hash_key(parts[0] if len(parts) == 1 else fact_term(*parts))
        asked[lists.place, key - (1 << 64) if key >> 63 else key] = lists, parts
    found: dict[tuple[int, int], list[tuple[int, bytes]]] = {key: [] for key in asked}
    fields, keys = [field for field, _ in asked], [key for _, key in asked]
    rows = statements.ask(_LISTS, fields=fields, keys=keys, blocks=blocks) if asked else []
    for field, key, block, data in rows:
        found[field, key].append((block, bytes(data)))
    for place, (lists, parts) in asked.items():
        lists.keep(parts, found[place])
