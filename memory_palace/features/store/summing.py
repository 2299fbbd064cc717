"""Prove that posting lists are those of the rows, by sums of each block in whatever order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import groupby
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memory_palace.errors import IndexDamagedError
from memory_palace.features.store.exporting import StoredIndex
from memory_palace.features.store.packing import (
    BLOCK_FIELD,
    BlockRows,
    unpack_block,
    unpack_keys,
    unpack_lengths,
    unpack_posting,
)
from memory_palace.index.doctor import Finding
from memory_palace.index.postings import FIELDS, KeyCounts
from memory_palace.index.values import Progress

CHECKING_LISTS = "comparing posting lists"
_AT_A_TIME = 1_024
"""Rows, or posting lists, whose figures are in memory at once."""
_SPREAD = np.uint64(0xBF58476D1CE4E5B9)
"""An odd number that spreads what is summed up over 64 bits (one of SplitMix64)."""
_MOST = np.iinfo(np.uint16).max
_Figures = NDArray[np.int64]


class _Sums:
    """Of each block and field, how many postings there are, and what they come to."""

    def __init__(self, blocks: int) -> None:
        self.counts = np.zeros((blocks, len(FIELDS)), np.int64)
        self.totals = np.zeros((blocks, len(FIELDS)), np.uint64)

    def add(self, blocks: _Figures, field: int, figures: Sequence[NDArray[Any]]) -> None:
        """Add postings, given the block of each and, in parallel, all that is said of it."""
        mixed = np.zeros(len(blocks), np.uint64)
        for figure in figures:
            mixed = (mixed ^ (mixed >> np.uint64(29))) * _SPREAD
            mixed = mixed + figure.astype(np.int64).view(np.uint64)
        mixed = (mixed ^ (mixed >> np.uint64(29))) * _SPREAD
        np.add.at(self.counts[:, field], blocks, 1)
        np.add.at(self.totals[:, field], blocks, mixed)


class _Blocks:
    """The blocks of a store that can be read: their rows, and in which block a row is."""

    def __init__(self, store: StoredIndex) -> None:
        self.findings: list[Finding] = []
        arrays: dict[int, dict[int, bytes]] = {}
        for block, key, data in store.statements.ask(
            "SELECT block, key, data FROM posting WHERE palace = %(palace)s AND field = %(field)s",
            field=BLOCK_FIELD,
        ):
            arrays.setdefault(block, {})[key] = data
        self.rows: dict[int, BlockRows] = {}
        self.lengths: dict[int, list[NDArray[np.uint16]]] = {}
        for block in sorted({*arrays, *store.generation.blocks}):
            self._read(block, arrays.get(block, {}), store.generation.blocks.get(block))
        self.places = {block: place for place, block in enumerate(self.rows)}
        """The blocks in the order of the sums; behind them is what is in no block."""
        dead = store.generation.dead
        self.is_live = {block: ~np.isin(held.rows, dead) for block, held in self.rows.items()}
        rows = [held.rows[self.is_live[block]] for block, held in self.rows.items()]
        owners = np.repeat(np.arange(len(rows)), [len(part) for part in rows])
        every = np.concatenate([np.zeros(0, np.int32), *rows])
        order = np.argsort(every, kind="stable")
        self._every, self._owners = every[order], owners[order]
        held = [np.zeros(0, np.int32), *(held.rows for held in self.rows.values())]
        strange = len(np.setdiff1d(dead, np.concatenate(held)))
        if strange:
            self.find("generation", f"calls {strange} rows dead that are in no block")

    def locate(self, rows: _Figures) -> _Figures:
        """Return the place of the block of each row."""
        places = np.searchsorted(self._every, rows)
        found = np.full(len(rows), len(self.rows))
        near = places < len(self._every)
        near[near] = self._every[places[near]] == rows[near]
        found[near] = self._owners[places[near]]
        return found

    def _read(self, block: int, arrays: dict[int, bytes], said: int | None) -> None:
        where = f"block {block}"
        if said is None or 0 not in arrays:
            self.find(where, "is not in the generation" if arrays else "is not there")
            return
        try:
            rows = unpack_block(arrays[0])
            lengths = [unpack_lengths(arrays.get(1 + n, b"")) for n in range(len(FIELDS))]
        except IndexDamagedError:
            self.find(where, "cannot be read")
            return
        if {len(rows.rows), *map(len, lengths)} != {said}:
            self.find(where, "has another number of rows than it was written with")
            return
        self.rows[block], self.lengths[block] = rows, lengths

    def unpack(self, block: int, field: int, key: int, data: bytes) -> tuple[NDArray[Any], ...]:
        """Return the live postings of a list: the place of the block, and what ``_Sums`` adds."""
        held = self.rows[block]
        found, counts = unpack_posting(data, len(held.rows))
        chosen = self.is_live[block][found]
        found = found[chosen]
        alike = (np.full(len(found), figure) for figure in (self.places[block], key, block < 0))
        lengths = self.lengths[block][field][found]
        return (*alike, held.rows[found], held.notes[found], lengths, counts[chosen])

    def find(self, where: str, message: str) -> None:
        """Say that something is wrong."""
        self.findings.append(Finding("postings", where, message))


def check_postings(store: StoredIndex, progress: Progress) -> Iterator[Finding]:
    """Yield which blocks do not hold what the rows in them say."""
    blocks = _Blocks(store)
    wanted, lost = _sum_rows(store, blocks, progress)
    found = _sum_lists(store, blocks)
    yield from blocks.findings
    differ = (wanted.counts != found.counts) | (wanted.totals != found.totals)
    for block, place in blocks.places.items():
        if differ[place].any():
            fields = ", ".join(FIELDS[field] for field in np.flatnonzero(differ[place]))
            message = f"does not hold the {fields} of its passages"
            yield Finding("postings", f"block {block}", message)
    if lost:
        yield Finding("postings", "blocks", f"lack {lost} of the passages")


def _sum_rows(store: StoredIndex, blocks: _Blocks, progress: Progress) -> tuple[_Sums, int]:
    """Sum up the postings that the rows should have; count rows that are in no block."""
    sums, lost, done = _Sums(len(blocks.rows) + 1), 0, 0
    with store.open_cursor() as cursor:
        cursor.execute(
            "SELECT id, note, is_cold, first_line = 0, keys FROM passage WHERE palace = %s",
            [store.statements.palace],
        )
        while batch := cursor.fetchmany(_AT_A_TIME):
            numbers, notes, is_cold, is_question, packed = zip(*batch, strict=True)
            keys = list(map(_read_keys, packed))
            rows = np.array(numbers, np.int64)
            owners = np.where(is_question, ~np.array(notes, np.int64), notes)
            places = blocks.locate(rows)
            lost += int((places == len(blocks.rows)).sum())
            for field in range(len(FIELDS)):
                own = [each[field] for each in keys]
                sizes = [len(one.keys) for one in own]
                lengths = [min(int(one.counts.sum(dtype=np.int64)), _MOST) for one in own]
                of_row = (np.array(is_cold, np.int64), rows, owners, np.array(lengths, np.int64))
                terms = np.concatenate([one.keys for one in own]).view(np.int64)
                counts = np.concatenate([one.counts for one in own])
                spread = [np.repeat(figure, sizes) for figure in of_row]
                sums.add(np.repeat(places, sizes), field, [terms, *spread, counts])
            done += len(batch)
            progress(CHECKING_LISTS, done, store.generation.rows)
    return sums, lost


def _read_keys(packed: bytes) -> tuple[KeyCounts, ...]:
    """Return the keys of a row; none where they cannot be read, which is said of its note."""
    with suppress(IndexDamagedError):
        return unpack_keys(packed)
    return unpack_keys(bytes(4 * len(FIELDS)))


def _sum_lists(store: StoredIndex, blocks: _Blocks) -> _Sums:
    """Sum up the postings of live rows that the blocks hold; find lists that cannot be read."""
    sums, unread = _Sums(len(blocks.rows) + 1), set[int]()
    with store.open_cursor() as cursor:
        cursor.execute(
            "SELECT field, key, block, data FROM posting WHERE palace = %s AND field >= 0"
            " ORDER BY field",
            [store.statements.palace],
        )
        while batch := cursor.fetchmany(_AT_A_TIME):
            for field, lists in groupby(batch, key=itemgetter(0)):
                parts: list[tuple[NDArray[Any], ...]] = [(np.zeros(0, np.int64),) * 7]
                for _, key, block, data in lists:
                    if field >= len(FIELDS) or (data and block not in blocks.rows):
                        unread.add(block)
                        continue
                    try:
                        parts.append(blocks.unpack(block, field, key, data))
                    except IndexDamagedError:
                        unread.add(block)
                places, *figures = map(np.concatenate, zip(*parts, strict=True))
                if len(places):
                    sums.add(places, field, figures)
    strange = {block for block in unread if block not in blocks.rows}
    for block in sorted(unread):
        what = "holds lists and is no block" if block in strange else "has lists nobody can read"
        blocks.find(f"block {block}", what)
    return sums
