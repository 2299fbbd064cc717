"""What a build counts while it runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self

from memory_palace.index.diff import Diff
from memory_palace.models import Problem


@dataclass(slots=True)
class Tally:
    """Counts that grow over a build."""

    embedded: int = 0
    reused: int = 0
    notes_done: int = 0
    notes_total: int = 0
    problems: list[Problem] = field(default_factory=list)
    vanished: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, diff: Diff) -> Self:
        """Return the counts before the notes that a diff names are read."""
        return cls(notes_total=len(diff.new) + len(diff.changed) + len(diff.moved))
