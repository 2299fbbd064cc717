"""The door to ``facts.derive`` for those who seldom go through it."""

from __future__ import annotations

from collections.abc import Sequence

from memory_palace.models import Derived, Note


def derive(note: Note) -> Sequence[Derived]:
    """Return what each chunk of a note is found by.

    Most builds find no note to read, and importing the grammar takes as long as they do.
    """
    from memory_palace.facts import derive as grammar

    return grammar.derive(note)
