"""``palace new``."""

from __future__ import annotations

from typing import Annotated

from typer import Argument, Context, Option

from memory_palace.cli.options import Tags, completed, folders_below, open_palace


def new_note(
    ctx: Context,
    title: Annotated[str, Argument(help="Title of the note; its file is named after it.")],
    room: Annotated[
        str | None,
        Option(
            "--room",
            help="Room, or a folder in one: project_rooms/station.",
            autocompletion=completed("rooms"),
        ),
    ] = None,
    folder: Annotated[
        str | None,
        Option("--in", help="Any folder of the notes.", autocompletion=completed("folders")),
    ] = None,
    type: Annotated[
        str | None, Option("-t", "--type", help="Type of the note; the room's by default.")
    ] = None,
    priority: Annotated[str | None, Option("-p", "--priority", help="high, medium or low.")] = None,
    tag: Tags = None,
) -> None:
    """Create a note with front matter and print its path. No file is ever overwritten.

    It goes to project_rooms; where no folder is that room, to the top of the notes.

    Example: palace new "Rain gauge drifts in frost" --room project_rooms/station -p high
    """
    palace = open_palace(ctx)
    folders = folders_below(palace, [folder] if folder is not None else None)
    where = {"room": room, "folder": folders[0] if folders else None}
    print(palace.new(title, type=type, priority=priority, tags=tag or (), **where))
