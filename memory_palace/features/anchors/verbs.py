"""``palace graph anchors``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from memory_palace.cli.group import Group
from memory_palace.cli.progress import progress_line
from memory_palace.features.anchors.anchor_file import KINDS
from memory_palace.features.anchors.lookup import (
    AnchorBuild,
    AnchorShown,
    AnchorsShown,
    LookUpShown,
    Written,
)
from memory_palace.palace import Palace

anchors = Group("Build and ask the anchors: terms, and where they lead.")


@anchors.verb("build")
def build(palace: Palace) -> AnchorBuild:
    """Discover the anchors again and list where each leads. Run `palace index` first.

    Example: palace graph anchors build
    """
    with progress_line(stopped="stopped; the anchors are as they were") as advance:
        return palace.anchors.build(progress=advance)


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
) -> Written:
    """Write hippocampus-index.json, hippocampus-embeds.npz and hippocampus-meta.json.

    Example: palace graph anchors export /tmp/anchors
    """
    return Written(palace.anchors.export(folder))
