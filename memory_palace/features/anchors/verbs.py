"""``palace graph anchors``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from memory_palace.cli.group import Group
from memory_palace.cli.progress import keep_vectors, progress_line
from memory_palace.errors import UsageError
from memory_palace.features.anchors.anchor_file import KINDS
from memory_palace.features.anchors.shown import (
    AnchorBuild,
    AnchorShown,
    AnchorsShown,
    LookUpShown,
    Told,
)
from memory_palace.palace import Palace
from memory_palace.shown import plural

anchors = Group("Build and ask the anchors: terms, and where they lead.")


@anchors.verb("build")
def build(palace: Palace) -> AnchorBuild:
    """Discover the anchors again and list where each leads. Run `palace index` first.

    Example: palace graph anchors build
    """
    with progress_line(stopped="stopped; the anchors are as they were") as advance:
        return palace.anchors.build(progress=advance)


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
    root = palace.paths.root.resolve()
    known = {root / path for path in palace.snapshot(include_cold=True).paths}
    for path in written or ():
        if (path if path.exists() else root / path).resolve() not in known:
            raise UsageError(f"{path} is no note of {root}, or is left out; see `palace doctor`")
    changed = sum(map(len, (report.added, report.changed, report.moved, report.removed)))
    told = f"{plural(changed, 'note')} changed; {plural(report.embedded, 'chunk')} embedded"
    return Told([told], report.problems)


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
    return LookUpShown.of(result, palace.config.sources, palace.paths.rooms)


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
