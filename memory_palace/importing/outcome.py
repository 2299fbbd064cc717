"""What an import did, or would do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from memory_palace.changes.operations import Create, Replace
from memory_palace.importing.composing import Withheld
from memory_palace.importing.items import ReadReport

_MOST_SHOWN = 10_000
"""Places that are kept for the report; past that they are counted."""
Fate: TypeAlias = Literal["new", "grown", "present", "changed", "edited", "gone"]
"""What becomes of a conversation or note: "changed" at its source where no turn may be lost,
"edited" here while its source changed, "gone" from here: these are left as they are."""


@dataclass(frozen=True, slots=True)
class Sighted:
    """One conversation or note of an export, and what becomes of it."""

    fate: Fate
    title: str
    path: str
    """Where it is or will be; where it was, of what is gone."""
    day: str
    """Empty where the export has none."""


@dataclass(slots=True)
class ImportReport:
    """What an import did, or would do."""

    source: str
    folder: str
    """Into which new notes go, relative to the root."""
    is_applied: bool
    fates: Counter[Fate] = field(default_factory=Counter)
    years: dict[str, Counter[Fate]] = field(default_factory=dict)
    """The same by year; "" where the export gives no date."""
    turns: int = 0
    """Written, or to be written."""
    written_bytes: int = 0
    seen: list[Sighted] = field(default_factory=list)
    """The first of what is not there already as it is."""
    withheld: list[Withheld] = field(default_factory=list)
    withheld_count: int = 0
    read: ReadReport = field(default_factory=ReadReport)

    def count(
        self,
        seen: Sighted,
        operations: Sequence[Create | Replace],
        turns: int,
        withheld: Sequence[Withheld],
    ) -> None:
        """Add one conversation or note, and what is to be written of it."""
        self.fates[seen.fate] += 1
        self.years.setdefault(seen.day[:4], Counter())[seen.fate] += 1
        self.turns += turns
        self.withheld_count += len(withheld)
        self.withheld += withheld[: _MOST_SHOWN - len(self.withheld)]
        if seen.fate != "present" and len(self.seen) < _MOST_SHOWN:
            self.seen.append(seen)
        for operation in operations:
            if isinstance(operation, Create):
                self.written_bytes += len(operation.data)
            else:
                self.written_bytes += len(operation.after) - len(operation.before)
