"""``palace import``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from memory_palace.cli.group import Apply, Group, completed, folders_below
from memory_palace.cli.progress import progress_line
from memory_palace.errors import PalaceError
from memory_palace.features.importing.items import ImportReport
from memory_palace.features.importing.run import AUTO, FORMATS
from memory_palace.palace import Palace

verbs = Group()


@verbs.verb("import")
def import_file(
    palace: Palace,
    path: Annotated[str, Argument(help="An export: its file, its .zip, or its folder.")],
    source: Annotated[
        str, Option("--from", help=f"{AUTO}, {', '.join(FORMATS)}.", metavar="FORMAT")
    ] = AUTO,
    folder: Annotated[
        str | None,
        Option("--in", help="Any folder of the notes.", autocompletion=completed("folders")),
    ] = None,
    apply: Apply = False,
) -> ImportReport:
    """Import conversations and notes of another program. Shows what would be written.

    A second import brings only what is new. What you edited stays, what you deleted stays away.

    Example: palace import ~/Downloads/conversations.json --from claude
    """
    inside = folders_below(palace, [folder])[0] if folder is not None else None
    file = Path(path).expanduser()
    stopped = "stopped; what is written is kept, and the same command goes on from there"
    with progress_line(stopped=stopped) as advance:
        report = palace.import_export(
            file, source=source, folder=inside, apply=apply, progress=advance
        )
        if apply:
            try:
                palace.index(takes_up=False, wait_seconds=10.0, progress=advance)
            except (PalaceError, OSError) as error:
                report.remark = f"the notes are imported, but the index is behind them: {error}"
    return report
