"""``palace locus``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument, Context, Option, Typer

from memory_palace.cli.changes import show_change
from memory_palace.cli.options import Apply, Json, Limit, Tags, open_palace
from memory_palace.cli.printing import print_answer, print_json, say
from memory_palace.errors import UsageError
from memory_palace.navigation.loci import (
    DEFAULT_ROOM,
    Locus,
    LocusList,
    export_record,
    near_loci,
    pose_of,
)
from memory_palace.navigation.node_list import read_node_list
from memory_palace.navigation.nodes import Pose2D

app = Typer(no_args_is_help=True, help="Manage loci: notes that have a place.")
Within = Annotated[float | None, Option("--within", min=0.0, help="Maximum distance in metres.")]


@app.command("add")
def add(
    ctx: Context,
    title: Annotated[str, Argument(help="Title of the new note, or a note with --note.")],
    at: Annotated[str, Option("--at", help="X,Y or X,Y,YAW in metres and radians.")],
    node_id: Annotated[
        int | None, Option("--id", min=0, help="Id of the locus; the next free by default.")
    ] = None,
    tag: Tags = None,
    summary: Annotated[str, Option("--summary", help="What is seen there.")] = "",
    room: Annotated[str, Option("--room", help="Room of a new note.")] = DEFAULT_ROOM,
    note: Annotated[bool, Option("--note", help="Place an existing note.")] = False,
    apply: Apply = False,
    as_json: Json = False,
) -> None:
    """Give a place to a note, new or existing.

    Example: palace locus add Cellar --at 2.5,-1 --tag wine --summary "Rows of bottles" --apply
    """
    change = open_palace(ctx).loci.add(
        title,
        pose=parse_pose(at),
        node_id=node_id,
        tags=tag or (),
        summary=" ".join(summary.split()),
        room=room,
        note=note,
        apply=apply,
    )
    show_change(change, as_json=as_json)


@app.command("list")
def list_(ctx: Context, as_json: Json = False) -> None:
    """List the loci by id.

    Example: palace locus list
    """
    found = _read(ctx)
    records = [export_record(locus) | {"path": locus.path} for locus in found.loci]
    print_answer({"loci": records}, map(_line, found.loci), as_json=as_json)


@app.command("near")
def near(
    ctx: Context,
    at: Annotated[str, Argument(help="X,Y in metres, or the id of a locus.")],
    within: Within = None,
    top_k: Limit = 5,
    as_json: Json = False,
) -> None:
    """List the loci near a place, nearest first.

    Example: palace locus near 2.5,-1 --within 5
    """
    found = _read(ctx)
    place = pose_of(found.loci, int(at) if at.isdecimal() else parse_pose(at))
    nearest = near_loci(found.loci, place, within_metres=within, limit=top_k)
    records = [
        export_record(locus) | {"path": locus.path, "metres": round(metres, 6)}
        for metres, locus in nearest
    ]
    lines = (f"{metres:8.2f} m  {_line(locus)}" for metres, locus in nearest)
    print_answer({"loci": records}, lines, as_json=as_json)


@app.command("import")
def import_(
    ctx: Context,
    file: Annotated[Path, Argument(help="JSON list of nodes.")],
    room: Annotated[str, Option("--room", help="Room of new notes.")] = DEFAULT_ROOM,
    apply: Apply = False,
    as_json: Json = False,
) -> None:
    """Make a note of each node of a map, or update the note with that id.

    A node is {"node_id": 3, "pose": {"x": 1.5, "y": 0, "yaw": 0}, "tags": [], "summary": "..."}.
    Embeddings in the list are ignored: the palace embeds its notes itself.

    Example: palace locus import map.json --apply
    """
    records = read_node_list(file)
    ignored = sum(record.get("embedding") is not None for record in records)
    if ignored:
        say(f"{ignored} embeddings are ignored; `palace index` embeds the notes")
    show_change(open_palace(ctx).loci.load(records, room=room, apply=apply), as_json=as_json)


@app.command("export")
def export(ctx: Context) -> None:
    """Print the loci as a JSON list that `palace locus import` reads.

    Example: palace locus export > map.json
    """
    print_json([export_record(locus) for locus in _read(ctx).loci])


def parse_pose(text: str) -> Pose2D:
    """Read X,Y or X,Y,YAW."""
    try:
        numbers = [float(part) for part in text.split(",")]
        if len(numbers) not in (2, 3):
            raise ValueError
    except ValueError as error:
        raise UsageError(f"{text!r} is not a place; write X,Y or X,Y,YAW: 2.5,-1") from error
    return Pose2D(*numbers)


def _read(ctx: Context) -> LocusList:
    """Return the loci; say on stderr which notes are not usable ones."""
    found = open_palace(ctx).loci.read()
    for problem in found.problems:
        say(str(problem))
    return found


def _line(locus: Locus) -> str:
    node = locus.node
    where = f"{node.pose.x:g}, {node.pose.y:g}, {node.pose.yaw:g}"
    return f"{node.node_id:<4} ({where})  {locus.path}  {node.summary}".rstrip()
