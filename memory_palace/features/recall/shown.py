"""How a recollection is shown."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from memory_palace.models import Hit, Recollection
from memory_palace.shown import ABSENT, Absent, Shown, inner, say_behind, show_date


@dataclass(frozen=True, slots=True)
class RecalledNote:
    """A note that is told, with the lines of it that are."""

    path: str
    line: int
    last_line: int
    title: str
    date: str
    date_source: str | Absent
    text: str

    @classmethod
    def of(cls, hit: Hit) -> Self:
        """Return a hit as it is shown."""
        date = hit.note.date
        source = ABSENT if date.day else date.source
        return cls(hit.path, *hit.lines, hit.title, show_date(date.timestamp), source, hit.text)


@dataclass(frozen=True, slots=True)
class RecallShown(Shown):
    """What comes to mind when somebody says something, or nothing."""

    spoken: bool
    confidence: float
    text: str
    hits: tuple[RecalledNote, ...]
    mode: str
    freshness: str
    behind: int = inner()

    @classmethod
    def of(cls, found: Recollection) -> Self:
        """Return a recollection as it is shown."""
        hits = tuple(map(RecalledNote.of, found.hits))
        told = found.spoken, found.confidence, found.text, hits
        return cls(*told, found.mode, found.freshness, found.behind)

    def lines(self) -> Iterable[str]:
        """Return the text."""
        return self.text.split("\n") if self.text else ()

    def remarks(self, *, as_json: bool) -> Iterable[str]:
        """Return how far the index is behind."""
        return [say_behind(self.behind)] if self.freshness == "stale" else []
