"""Which notes of a store a question may be the name of."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from memory_palace.postgres.naming import NameKind
from memory_palace.postgres.statements import Statements
from memory_palace.retrieval.question import LINKED, LOOSE, SHORTEST, is_mistyped


class Likeness(IntEnum):
    """How a name is like what is asked."""

    SAME = 0
    LOOSE = 1
    """Letters and digits alone are the same."""
    NEAR = 2
    """Half of it is the same, and it is about as long."""
    LINKED = 3
    """It is what links of other notes call it."""


class CalledNote(NamedTuple):
    """A note that a question may name."""

    number: int
    path: str
    is_cold: bool
    likeness: Likeness
    value: float
    """What the name counts, see ``retrieval.question``."""
    name: str

    def weigh(self, loose: str, mistyped: float) -> float:
        """Return how surely it is named; ``mistyped`` is for a name that is one letter away."""
        if self.likeness == Likeness.NEAR:
            is_near = self.name != loose and is_mistyped(loose, self.name)
            return self.value * mistyped if is_near else 0.0
        return self.value * {Likeness.LOOSE: LOOSE}.get(self.likeness, 1.0)


_OWN = f"name WHERE palace = %(palace)s AND kind = {NameKind.CALLED:d}"
_CALLED = f"""
WITH found AS MATERIALIZED (
    SELECT note, {Likeness.SAME:d} AS likeness, value, loose FROM {_OWN} AND folded = %(asked)s
    UNION ALL SELECT note, {Likeness.LOOSE:d}, value, loose FROM {_OWN}
        AND loose = %(loose)s AND loose <> ''
    UNION ALL SELECT note, {Likeness.NEAR:d}, value, loose FROM {_OWN}
        AND loose BETWEEN %(first)s AND %(first_end)s AND char_length(loose) = ANY(%(sizes)s)
    UNION ALL SELECT note, {Likeness.NEAR:d}, value, loose FROM {_OWN}
        AND backwards BETWEEN %(last)s AND %(last_end)s AND char_length(loose) = ANY(%(sizes)s)
    UNION ALL SELECT note, {Likeness.LINKED:d}, {LINKED}, '' FROM name
        WHERE palace = %(palace)s AND kind = {NameKind.LEAF:d}
        AND folded = ANY(ARRAY(SELECT split_part(target, '/', -1) FROM name
            WHERE palace = %(palace)s AND kind = {NameKind.LINKED:d} AND folded = %(asked)s))
) SELECT n.id, n.path, n.is_cold, likeness, value, found.loose
FROM found JOIN note AS n ON n.id = found.note
WHERE n.palace = %(palace)s AND n.id = ANY(ARRAY(SELECT note FROM found))
"""
"""Of two names that differ in one letter, the first halves are the same or the last ones. Arrays
are made once, whatever the planner makes of tables that it has not counted yet."""
_LAST = "\U0010ffff"


def find_called(statements: Statements, asked: str, loose: str) -> list[CalledNote]:
    """Return the notes that may be called ``asked``, given its letters and digits alone as well."""
    half = max(len(loose) // 2 - 1, 0)
    first, last = loose[:half], loose[len(loose) - half :][::-1]
    found = statements.ask(
        _CALLED,
        # What UTF-8 or PostgreSQL has no text for is in no name.
        asked=asked.encode(errors="backslashreplace").decode().replace("\0", "\\0"),
        loose=loose,
        sizes=[len(loose) + n for n in (-1, 0, 1)] if len(loose) >= SHORTEST else [],
        first=first,
        first_end=first + _LAST,
        last=last,
        last_end=last + _LAST,
    )
    # Values are of single precision there.
    return [CalledNote._make((*row[:4], round(row[4], 6), row[5])) for row in found]
