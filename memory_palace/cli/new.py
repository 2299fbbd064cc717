"""``palace new``."""

from __future__ import annotations

from typing import Annotated

import typer

from memory_palace.cli.options import Tags, open_palace


def new_note(
    ctx: typer.Context,
    title: Annotated[str, typer.Argument(help="Title of the note; its file is named after it.")],
    room: Annotated[
        str, typer.Option("--room", help="Room, or a folder in one: project_rooms/station.")
    ] = "project_rooms",
    type: Annotated[
        str | None, typer.Option("-t", "--type", help="Type of the note; the room's by default.")
    ] = None,
    priority: Annotated[
        str | None, typer.Option("-p", "--priority", help="high, medium or low.")
    ] = None,
    tag: Tags = None,
) -> None:
    """Create a note with front matter and print its path. No file is ever overwritten.

    Example: palace new "Rain gauge drifts in frost" --room project_rooms/station -p high
    """
    palace = open_palace(ctx)
    print(palace.new(title, room=room, type=type, priority=priority, tags=tag or ()))
