"""Blocks of posting lists: each push writes one, and small ones of like size are merged."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from memory_palace.features.store.generation import Generation
from memory_palace.features.store.packing import (
    BLOCK_FIELD,
    BLOCK_ROWS,
    PostedRow,
    pack_block,
    unpack_block,
    unpack_keys,
)
from memory_palace.features.store.statements import Statements

PILE = 8
"""Blocks of like size that are merged; also the factor between sizes, see ``index.compact``."""
MERGED_ROWS = 1_024
"""What a push that changes little merges at most; `palace config store vacuum` does the rest."""
_COLUMNS = {"field": "int2", "key": "int8", "block": "int4", "data": "bytea"}
_LIVE = (
    "SELECT id, note, first_line = 0, keys FROM passage WHERE palace = %(palace)s"
    " AND is_cold = %(is_cold)s AND id > %(last)s"
)


class Blocks:
    """The blocks of a generation; those of the cold zone have negative numbers."""

    def __init__(self, statements: Statements, generation: Generation) -> None:
        self._statements, self._generation = statements, generation

    def write(self, rows: Sequence[PostedRow], *, is_cold: bool) -> None:
        """Write what rows are found by, as one block for each ``BLOCK_ROWS`` of them."""
        for start in range(0, len(rows), BLOCK_ROWS):
            part = rows[start : start + BLOCK_ROWS]
            block = self._number(is_cold=is_cold)
            lists = ((field, key, block, data) for field, key, data in pack_block(part))
            self._statements.insert("posting", _COLUMNS, lists)
            self._generation.blocks[block] = len(part)

    def merge(self, most_rows: int) -> None:
        """Merge piles of small blocks of like size; what is dead in them is left out."""
        while pile := self._find_pile(max(MERGED_ROWS, most_rows)):
            held = self._read_numbers(pile)
            rows = self._statements.ask(
                f"{_LIVE} AND id = ANY(%(rows)s) ORDER BY id",
                is_cold=pile[0] < 0,
                last=0,
                rows=held,
            )
            self._drop(pile)
            self.write([_posted(row) for row in rows], is_cold=pile[0] < 0)
            self._generation.dead = np.setdiff1d(self._generation.dead, held)

    def rewrite(self, tell: Callable[[int], None]) -> None:
        """Write everything again, without what is dead; tell how many rows that are."""
        self._statements.delete("posting")
        self._generation.blocks, self._generation.dead = {}, np.zeros(0, np.int32)
        for is_cold in (False, True):
            last = 0
            while rows := self._statements.ask(
                f"{_LIVE} ORDER BY id LIMIT %(most)s", is_cold=is_cold, last=last, most=BLOCK_ROWS
            ):
                last = rows[-1][0]
                self.write([_posted(row) for row in rows], is_cold=is_cold)
                tell(sum(self._generation.blocks.values()))

    def _read_numbers(self, pile: Sequence[int]) -> list[int]:
        found = self._statements.ask(
            "SELECT data FROM posting WHERE palace = %(palace)s AND field = %(field)s AND key = 0"
            " AND block = ANY(%(blocks)s)",
            field=BLOCK_FIELD,
            blocks=list(pile),
        )
        return [row for (data,) in found for row in unpack_block(data).rows.tolist()]

    def _drop(self, pile: Sequence[int]) -> None:
        self._statements.delete("posting", block=pile)
        for block in pile:
            del self._generation.blocks[block]

    def _number(self, *, is_cold: bool) -> int:
        number = self._generation.next_block
        self._generation.next_block += 1
        return -number if is_cold else number

    def _find_pile(self, most_rows: int) -> list[int]:
        """Return the blocks to merge next, oldest first; full ones would come out as they are."""
        blocks = self._generation.blocks
        piles: dict[tuple[bool, int], list[int]] = {}
        for block in sorted(blocks, key=abs):
            if blocks[block] < BLOCK_ROWS:
                piles.setdefault((block < 0, int(np.log2(blocks[block])) // 3), []).append(block)
        for pile in piles.values():
            if len(pile) >= PILE and sum(blocks[block] for block in pile) <= most_rows:
                return pile
        return []


def _posted(row: tuple[Any, ...]) -> PostedRow:
    number, note, is_question, keys = row
    return PostedRow(number, note, is_question, unpack_keys(keys))
