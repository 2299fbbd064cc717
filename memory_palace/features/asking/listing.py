"""``palace list``."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from typer import Context, Option

from memory_palace.cli.options import (
    Folder,
    IncludeCold,
    Json,
    PriorityName,
    Room,
    Since,
    Tagged,
    Type,
    Until,
    check_cold,
    completed,
    folders_below,
    open_palace,
)
from memory_palace.features.asking.validities import say_copied, validity_record
from memory_palace.index.freshness import check_freshness
from memory_palace.models import NoteRecord
from memory_palace.palace import Palace
from memory_palace.shown import print_answer, say, say_behind, show_date, to_record

LinkedBy = Annotated[
    str | None,
    Option(
        "--linked-by",
        metavar="NOTE",
        help="Only notes that this note links to.",
        autocompletion=completed("notes"),
    ),
]
LinksTo = Annotated[
    str | None,
    Option(
        "--links-to",
        metavar="NOTE",
        help="Only notes that link to this note.",
        autocompletion=completed("notes"),
    ),
]


def list_notes(
    ctx: Context,
    type: Type = None,
    priority: PriorityName = None,
    room: Room = None,
    folder: Folder = None,
    tag: Tagged = None,
    since: Since = None,
    until: Until = None,
    linked_by: LinkedBy = None,
    links_to: LinksTo = None,
    sort: Annotated[
        Literal["path", "date"], Option("--sort", help="path, or date with the newest first.")
    ] = "path",
    include_cold: IncludeCold = False,
    as_json: Json = False,
) -> None:
    """List notes by their metadata and links.

    Example: palace list --type project --since 30d --sort date
    """
    palace = open_palace(ctx)
    folders = folders_below(palace, folder)
    check_cold(palace.paths.rooms, ctx.params, folders)
    notes = palace.notes(
        type=type,
        priority=priority,
        room=room,
        folder=folders,
        tags=tag,
        since=since,
        until=until,
        include_cold=include_cold,
    )
    snapshot = palace.snapshot(include_cold=include_cold)
    allowed = _linked(palace, linked_by, links_to, include_cold=include_cold)
    notes = [note for note in notes if allowed is None or note.path in allowed]
    if sort == "date":
        told = dict(zip(snapshot.paths, snapshot.told_dates.tolist(), strict=True))
        notes.sort(key=lambda note: (-told[note.path], note.path))
    print_answer({"notes": [_record(note) for note in notes]}, map(_line, notes), as_json=as_json)
    if not notes:
        say("no note matches")
    for remark in say_copied(snapshot.told_dates) if since or until else ():
        say(remark)
    if behind := check_freshness(palace.paths, palace.config, snapshot).behind:
        say(say_behind(behind))


def _linked(
    palace: Palace, linked_by: str | None, links_to: str | None, *, include_cold: bool
) -> set[str] | None:
    """Return the paths that the link options allow; ``None`` where none is given."""
    if linked_by is None and links_to is None:
        return None
    graph = palace.graph(include_cold=include_cold)
    sides = []
    if linked_by is not None:
        sides.append(set(graph.neighbors(graph.find_note(linked_by)).out))
    if links_to is not None:
        sides.append(set(graph.neighbors(graph.find_note(links_to)).back))
    return set.intersection(*sides)


def _line(note: NoteRecord) -> str:
    day, priority = show_date(note.date.timestamp), note.priority or "-"
    date = note.date.day or f"file {day}"
    return f"{date}  {note.type:<10} {priority:<6}  {note.path}  {note.title}"


def _record(note: NoteRecord) -> dict[str, Any]:
    return {
        "path": note.path,
        "title": note.title,
        "type": note.type,
        "priority": note.priority,
        "tags": list(note.tags),
        "aliases": list(note.aliases),
        "links": [link.target for link in note.links],
        "date": show_date(note.date.timestamp),
        "date_source": note.date.source,
        "evergreen": note.is_evergreen,
        **validity_record(note.validity),
        "cold": note.is_cold,
        "problems": to_record(note.problems),
    }
