"""``palace graph anchors``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from memory_palace.cli.group import Group
from memory_palace.cli.progress import keep_vectors, progress_line
from memory_palace.errors import UsageError
from memory_palace.features.anchors.anchor_file import KINDS
from memory_palace.features.anchors.build import AnchorBuild
from memory_palace.features.anchors.policy import source_of
from memory_palace.models import Problem
from memory_palace.palace import Palace
from memory_palace.shown import Shown, inner, plural

anchors = Group("Build and ask the anchors: terms, and where they lead.")


@anchors.verb("build")
def build(palace: Palace) -> AnchorBuild:
    """Discover the anchors again and list where each leads. Run `palace index` first.

    Example: palace graph anchors build
    """
    with progress_line(stopped="stopped; the anchors are as they were") as advance:
        return palace.anchors.build(progress=advance)


@dataclass(frozen=True, slots=True)
class Told(Shown):
    """Lines that have no JSON, and an error at the end."""

    told: Iterable[object] = inner()
    problems: Sequence[Problem] = inner(default=())
    missing: str = inner(default="")

    def lines(self) -> Iterable[str]:
        """Return the lines."""
        return map(str, self.told)

    def remarks(self, *, as_json: bool) -> Iterable[str]:
        """Return what could not be read."""
        return map(str, self.problems)

    def failure(self) -> UsageError | None:
        """Return the error."""
        return UsageError(self.missing) if self.missing else None


@anchors.verb("update", json=False)
def update(
    palace: Palace,
    written: Annotated[
        list[Path] | None,
        Argument(metavar="[NOTE]...", help="What was written: an error if it is not indexed then."),
    ] = None,
) -> Told:
    """Index what changed and update the anchors, as every `palace index` does.

    Example: palace graph anchors update
    """
    with progress_line(stopped=keep_vectors) as advance:
        report = palace.index(takes_up=False, wait_seconds=10.0, progress=advance)
    root, missing = palace.paths.root.resolve(), ""
    known = {root / path for path in palace.snapshot(include_cold=True).paths}
    for path in written or ():
        if (path if path.exists() else root / path).resolve() not in known:
            missing = f"{path} is no note of {root}, or is left out; see `palace doctor`"
    changed = sum(map(len, (report.added, report.changed, report.moved, report.removed)))
    told = f"{plural(changed, 'note')} changed; {plural(report.embedded, 'chunk')} embedded"
    return Told([told], report.problems, missing)


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

    def lines(self) -> Iterable[str]:
        """Return each passage with its score."""
        for one in self.passages:
            why = f"(anchor {one.anchor:.2f}, source {one.source})"
            yield f"{one.path}:{one.line}  {one.score:.6f}  {why}\n  {one.snippet}"

    def remarks(self, *, as_json: bool) -> Iterable[str]:
        """Return the anchors."""
        if self.anchors and not as_json:
            fired = ", ".join(f"{one.anchor} ({one.kind})" for one in self.anchors)
            yield f"answered by {self.answered_by}: {fired}"
        elif not as_json:
            yield "no anchor matches; `palace graph anchors list` shows them"


@anchors.verb("lookup")
def look_up(
    palace: Palace,
    text: Annotated[list[str], Argument(help="What is being talked about.")],
    limit: Annotated[
        int | None, Option("-k", "--top-k", min=1, help="Maximum number of passages.")
    ] = None,
    project: Annotated[
        list[str] | None, Option("--project", help="Folder that pronouns refer to; repeatable.")
    ] = None,
) -> LookUpShown:
    """Rank passages for TEXT with its anchors in view, where it has any; else print nothing.

    Example: palace graph anchors lookup can we talk about the radio link
    """
    result = palace.look_up(" ".join(text), limit=limit, projects=project or None)
    found = result.anchors
    passages = [
        PassageShown(
            path=hit.path,
            line=hit.chunk.first_line if hit.chunk else 1,
            last_line=hit.chunk.last_line if hit.chunk else 1,
            headings=hit.chunk.heading_path if hit.chunk else (),
            source=source_of(hit.path, palace.config.sources, palace.paths.rooms),
            score=hit.score,
            confidence=hit.confidence,
            anchor=sum(part.value for part in hit.contributions if part.signal == "anchor"),
            snippet=hit.snippet,
        )
        for hit in result
    ]
    by, fired = ("nothing", ()) if found is None else (found.answered_by, found.fired)
    return LookUpShown(by, [AnchorFired(one.display, one.kind) for one in fired], passages)


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
        """Return a line for each."""
        width = min(max((len(one.anchor) for one in self.anchors), default=0), 40)
        for one in self.anchors:
            yield f"{one.anchor:<{width}}  {one.kind}, {plural(len(one.notes), 'note')}"

    def remarks(self, *, as_json: bool) -> Iterable[str]:
        """Return that there are none."""
        if self.threshold is None and not as_json:
            yield "there are no anchors; run `palace graph anchors build`"


@anchors.verb("list")
def list_anchors(palace: Palace) -> AnchorsShown:
    """List the anchors: what each is, and how many notes it leads to.

    Curated ones are never dropped: add a line `- term` to grand_hall/anchors.md.

    Example: palace graph anchors list
    """
    book = palace.anchors.book()
    found = [
        AnchorShown(one.display, one.kind, one.aliases, book.notes_of(place))
        for place, one in enumerate(book.anchors)
    ]
    found.sort(key=lambda one: (KINDS.index(one.kind), one.anchor.casefold()))
    return AnchorsShown(book.file.theta if book.file else None, found)


@anchors.verb("export", json=False)
def export(
    palace: Palace, folder: Annotated[Path, Argument(help="Folder to write the three files to.")]
) -> Told:
    """Write hippocampus-index.json, hippocampus-embeds.npz and hippocampus-meta.json.

    Example: palace graph anchors export /tmp/anchors
    """
    return Told(palace.anchors.export(folder))
