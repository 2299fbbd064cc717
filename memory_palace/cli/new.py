"""``palace new``."""

from __future__ import annotations

from typing import Annotated

import typer

from memory_palace.cli.options import PriorityName, Type, open_palace


def new_note(
    ctx: typer.Context,
    title: Annotated[str, typer.Argument(help="Title of the note; its file is named after it.")],
    room: Annotated[
        str, typer.Option("--room", help="Room, or a folder in one: project_rooms/station.")
    ] = "project_rooms",
    type: Type = None,
    priority: PriorityName = None,
    tag: Annotated[list[str] | None, typer.Option("--tag", help="Tag; may be repeated.")] = None,
) -> None:
    """Create a note with front matter and print its path; no file is ever overwritten.

    Example: palace new "Rain gauge drifts in frost" --room project_rooms/station -p high
    """
    palace = open_palace(ctx)
    print(palace.new(title, room=room, type=type, priority=priority, tags=tag or ()))
