"""Merge the posting lists of a palace, and leave out of them what is dead."""

from __future__ import annotations

from psycopg import Connection

from memory_palace.features.store.blocks import Blocks
from memory_palace.features.store.generation import Generation, read_generation, write_generation
from memory_palace.features.store.packing import BLOCK_ROWS
from memory_palace.features.store.statements import Hook, Statements, ignore
from memory_palace.features.store.values import Vacuumed
from memory_palace.index.values import Progress

MERGING = "writing posting lists"


def vacuum(
    connection: Connection,
    palace: int,
    *,
    wait_seconds: float = 0.0,
    hook: Hook = ignore,
    progress: Progress = lambda doing, done, total: None,
) -> Vacuumed:
    """Write the posting lists of all live rows again, in as few blocks as can be.

    Readers see the old ones until it is done, and all of the new ones from then on.
    """
    statements = Statements(connection, palace, hook)
    with statements.transaction(wait_seconds=wait_seconds):
        generation = read_generation(statements)
        if generation is None:
            return Vacuumed()
        dead, before = len(generation.dead), len(generation.blocks)
        if not dead and before <= _fewest(generation):
            return Vacuumed(0, before, before)
        rows = generation.rows
        Blocks(statements, generation).rewrite(lambda done: progress(MERGING, done, rows))
        generation.number += 1
        write_generation(statements, generation)
        return Vacuumed(dead, before, len(generation.blocks))


def _fewest(generation: Generation) -> int:
    """Return how many blocks the rows of a generation need."""
    hot = sum(rows for block, rows in generation.blocks.items() if block > 0)
    cold = sum(generation.blocks.values()) - hot
    return -(-hot // BLOCK_ROWS) + -(-cold // BLOCK_ROWS)
