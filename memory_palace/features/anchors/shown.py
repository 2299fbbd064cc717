"""How anchors are shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from memory_palace.config import Rooms
from memory_palace.features.anchors.policy import source_of
from memory_palace.models import QueryResult
from memory_palace.shown import Shown, inner, plural


@dataclass(frozen=True, slots=True)
class AnchorBuild(Shown):
    """What a nightly build made."""

    anchors: int
    entries: int
    empty: int
    """Anchors without any passage: they stay in the vocabulary, aligned with their vectors."""
    theta: float
    passages: int
    seconds: float

    def lines(self) -> Iterable[str]:
        yield f"anchors     {self.anchors}"
        without = f"{self.empty} anchors without any"
        yield f"passages    {self.passages}, {self.entries} entries, {without}"
        yield f"threshold   {self.theta:.4f}"


@dataclass(frozen=True, slots=True)
class Written(Shown):
    """Files that were written; they have no JSON."""

    files: Sequence[Path] = inner()

    def lines(self) -> Iterable[str]:
        return map(str, self.files)


@dataclass(frozen=True, slots=True)
class AnchorFired:
    """An anchor that a text touched."""

    anchor: str
    kind: str


@dataclass(frozen=True, slots=True)
class PassageShown:
    """A passage that anchors lead to."""

    path: str
    line: int
    last_line: int
    headings: Sequence[str]
    source: str
    score: float
    confidence: float | None
    anchor: float
    """The part of the score that is the anchors'."""
    snippet: str


@dataclass(frozen=True, slots=True)
class LookUpShown(Shown):
    """The anchors of a text, and the passages they lead to."""

    answered_by: str
    anchors: Sequence[AnchorFired]
    passages: Sequence[PassageShown]

    @classmethod
    def of(cls, result: QueryResult, sources: Mapping[str, str], rooms: Rooms) -> LookUpShown:
        passages = [
            PassageShown(
                path=hit.path,
                line=hit.chunk.first_line,
                last_line=hit.chunk.last_line,
                headings=hit.chunk.heading_path,
                source=source_of(hit.path, sources, rooms),
                score=hit.score,
                confidence=hit.confidence,
                anchor=sum(part.value for part in hit.contributions if part.signal == "anchor"),
                snippet=hit.snippet,
            )
            for hit in result
        ]
        found = result.anchors
        by, fired = ("nothing", ()) if found is None else (found.answered_by, found.fired)
        return cls(by, [AnchorFired(one.display, one.kind) for one in fired], passages)

    def lines(self) -> Iterable[str]:
        for one in self.passages:
            why = f"(anchor {one.anchor:.2f}, source {one.source})"
            yield f"{one.path}:{one.line}  {one.score:.6f}  {why}\n  {one.snippet}"

    def remarks(self, *, as_json: bool) -> Iterable[str]:
        if self.anchors and not as_json:
            fired = ", ".join(f"{one.anchor} ({one.kind})" for one in self.anchors)
            yield f"answered by {self.answered_by}: {fired}"
        elif not as_json:
            yield "no anchor matches; `palace graph anchors list` shows them"


@dataclass(frozen=True, slots=True)
class AnchorShown:
    """An anchor, and the notes it leads to."""

    anchor: str
    kind: str
    other_names: Sequence[str]
    notes: Sequence[str]


@dataclass(frozen=True, slots=True)
class AnchorsShown(Shown):
    """All anchors, by kind and name."""

    threshold: float | None
    """The least cosine of an anchor and a passage; null where there are no anchors yet."""
    anchors: Sequence[AnchorShown]

    def lines(self) -> Iterable[str]:
        width = min(max((len(one.anchor) for one in self.anchors), default=0), 40)
        for one in self.anchors:
            yield f"{one.anchor:<{width}}  {one.kind}, {plural(len(one.notes), 'note')}"

    def remarks(self, *, as_json: bool) -> Iterable[str]:
        if self.threshold is None and not as_json:
            yield "there are no anchors; run `palace graph anchors build`"
