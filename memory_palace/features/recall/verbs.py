"""``palace recall``, and how a recollection is shown."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Self

from typer import Argument, Option

from memory_palace.cli.group import Group, fields_of, read_text
from memory_palace.models import Hit, Recollection
from memory_palace.palace import Palace
from memory_palace.query import Query
from memory_palace.shown import ABSENT, Absent, Shown, inner, say_behind, show_date


@dataclass(frozen=True, slots=True)
class RecalledNote:
    """A recalled note with the lines told."""

    path: str
    line: int
    last_line: int
    title: str
    date: str
    date_source: str | Absent
    text: str

    @classmethod
    def of(cls, hit: Hit) -> Self:
        date = hit.note.date
        source = ABSENT if date.day else date.source
        return cls(hit.path, *hit.lines, hit.title, show_date(date.timestamp), source, hit.text)


@dataclass(frozen=True, slots=True)
class RecallShown(Shown):
    """The notes recalled for an utterance, if any."""

    spoken: bool
    confidence: float
    text: str
    hits: tuple[RecalledNote, ...]
    mode: str
    freshness: str
    behind: int = inner()

    @classmethod
    def of(cls, found: Recollection) -> Self:
        hits = tuple(map(RecalledNote.of, found.hits))
        told = found.spoken, found.confidence, found.text, hits
        return cls(*told, found.mode, found.freshness, found.behind)

    def lines(self) -> Iterable[str]:
        return self.text.split("\n") if self.text else ()

    def remarks(self, *, as_json: bool) -> Iterable[str]:
        return [say_behind(self.behind)] if self.freshness == "stale" else []


verbs = Group()


@verbs.verb("recall")
def recall(
    palace: Palace,
    text: Annotated[
        list[str] | None, Argument(help="What was said; without it, or with -, from stdin.")
    ] = None,
    budget: Annotated[
        int, Option("--budget", min=1, help="Maximum size of what is printed, in UTF-8 bytes.")
    ] = 1500,
    asked: Query = fields_of(Query, "as_of"),
) -> RecallShown:
    """Say what the notes have on what was just said, or nothing where it refers to none of them.

    Whole sentences of several notes, with place and day of each, within the budget. Small talk
    gets no answer, and an empty answer exits 0 as well.

    Example: palace recall the rain gauge is stuck again
    """
    found = palace.recall(read_text(text), budget_bytes=budget, as_of=asked.as_of)
    return RecallShown.of(found)
