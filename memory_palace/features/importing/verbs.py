"""``palace import``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from memory_palace.cli.group import Group
from memory_palace.cli.options import Apply, completed, folders_below
from memory_palace.cli.progress import progress_line
from memory_palace.errors import PalaceError
from memory_palace.features.importing.detection import FORMATS
from memory_palace.features.importing.run import AUTO
from memory_palace.features.importing.shown import ImportShown
from memory_palace.palace import Palace

verbs = Group()
_STOPPED = "stopped; what is written is kept, and the same command goes on from there"


@verbs.verb("import")
def import_file(
    palace: Palace,
    path: Annotated[str, Argument(help="An export: its file, its .zip, or its folder.")],
    source: Annotated[
        str, Option("--from", help=f"{AUTO}, {', '.join(FORMATS)}.", metavar="FORMAT")
    ] = AUTO,
    room: Annotated[
        str | None,
        Option("--room", help="Room, or a folder in one.", autocompletion=completed("rooms")),
    ] = None,
    folder: Annotated[
        str | None,
        Option("--in", help="Any folder of the notes.", autocompletion=completed("folders")),
    ] = None,
    apply: Apply = False,
) -> ImportShown:
    """Import conversations and notes of another program. Shows what would be written.

    A second import brings only what is new. What you edited stays, what you deleted stays away.

    Example: palace import ~/Downloads/conversations.json --from claude
    """
    folders = folders_below(palace, [folder] if folder is not None else None)
    place = {"room": room, "folder": folders[0] if folders else None}
    with progress_line(stopped=_STOPPED) as advance:
        report = palace.import_export(
            Path(path).expanduser(), source=source, **place, apply=apply, progress=advance
        )
    is_written = apply and bool(report.fates["new"] or report.fates["grown"])
    return ImportShown.of(report, _index(palace) if is_written else None)


def _index(palace: Palace) -> str | None:
    """Index what was imported; return why that could not be, where it could not."""
    stopped = "stopped; the notes are imported, and `palace index` goes on from there"
    try:
        with progress_line(stopped=stopped) as advance:
            palace.index(takes_up=False, wait_seconds=10.0, progress=advance)
    except (PalaceError, OSError) as error:
        return f"the notes are imported, but the index is behind them: {error}"
    return None
