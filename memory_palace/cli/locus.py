"""``palace locus``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from memory_palace.cli.changes import Apply, show_outcome
from memory_palace.cli.options import SCHEMA, Json, Limit, open_palace
from memory_palace.cli.printing import print_json, say
from memory_palace.errors import UsageError
from memory_palace.language.visible import visible
from memory_palace.navigation.loci import (
    DEFAULT_ROOM,
    LocusList,
    add_locus,
    export_record,
    import_loci,
    near_loci,
    read_loci,
    read_node_list,
)
from memory_palace.navigation.locus_notes import Locus
from memory_palace.navigation.nodes import Pose2D

app = typer.Typer(no_args_is_help=True, help="Notes that have a place: loci.")
Within = Annotated[float | None, typer.Option("--within", min=0.0, help="Metres at most.")]


@app.command("add")
def add(
    ctx: typer.Context,
    title: Annotated[str, typer.Argument(help="Title of the new note; with --note, which note.")],
    at: Annotated[str, typer.Option("--at", help="X,Y or X,Y,YAW: metres and radians.")],
    node_id: Annotated[int | None, typer.Option("--id", min=0, help="Else the next one.")] = None,
    tag: Annotated[list[str] | None, typer.Option("--tag", help="May be repeated.")] = None,
    summary: Annotated[str, typer.Option("--summary", help="What is to be seen there.")] = "",
    room: Annotated[str, typer.Option("--room", help="Where a new note goes.")] = DEFAULT_ROOM,
    note: Annotated[bool, typer.Option("--note", help="Give a place to an existing note.")] = False,
    apply: Apply = False,
    as_json: Json = False,
) -> None:
    """Give a place to a note, new or old.

    Example: palace locus add Cellar --at 2.5,-1 --tag wine --summary "Rows of bottles" --apply
    """
    outcome = add_locus(
        open_palace(ctx), title, pose=parse_pose(at), node_id=node_id, tags=tag or (),
        summary=" ".join(summary.split()), room=room, note=note, apply=apply,
    )  # fmt: skip
    show_outcome(outcome, as_json=as_json)


@app.command("list")
def list_(ctx: typer.Context, as_json: Json = False) -> None:
    """List the loci by id.

    Example: palace locus list
    """
    found = read_loci(open_palace(ctx))
    _report(found)
    if as_json:
        records = [export_record(locus) | {"path": locus.path} for locus in found.loci]
        print_json({"schema": SCHEMA, "loci": records})
        return
    for locus in found.loci:
        print(_line(locus))


@app.command("near")
def near(
    ctx: typer.Context,
    at: Annotated[str, typer.Argument(help="X,Y in metres, or the id of a locus.")],
    within: Within = None,
    top_k: Limit = 5,
    as_json: Json = False,
) -> None:
    """List the loci near a place, the nearest first.

    Example: palace locus near 2.5,-1 --within 5
    """
    found = read_loci(open_palace(ctx))
    _report(found)
    place = _place(found, at)
    nearest = near_loci(found.loci, place, within_metres=within, limit=top_k)
    if as_json:
        records = [
            export_record(locus) | {"path": locus.path, "metres": round(metres, 6)}
            for metres, locus in nearest
        ]
        print_json({"schema": SCHEMA, "loci": records})
        return
    for metres, locus in nearest:
        print(f"{metres:8.2f} m  {_line(locus)}")


@app.command("import")
def import_(
    ctx: typer.Context,
    file: Annotated[Path, typer.Argument(help="A JSON list of nodes.")],
    room: Annotated[str, typer.Option("--room", help="Where new notes go.")] = DEFAULT_ROOM,
    apply: Apply = False,
    as_json: Json = False,
) -> None:
    """Make a note of each node of a map, or bring the note of that id up to date.

    A node is {"node_id": 3, "pose": {"x": 1.5, "y": 0, "yaw": 0}, "tags": [], "summary": "..."}.
    Embeddings in the list are left out: the palace embeds its notes itself.

    Example: palace locus import map.json --apply
    """
    records = read_node_list(file)
    left_out = sum(record.get("embedding") is not None for record in records)
    if left_out:
        say(f"{left_out} embeddings are left out; the notes are embedded by `palace index`")
    show_outcome(import_loci(open_palace(ctx), records, room=room, apply=apply), as_json=as_json)


@app.command("export")
def export(ctx: typer.Context) -> None:
    """Print the loci as a JSON list that import reads.

    Example: palace locus export > map.json
    """
    found = read_loci(open_palace(ctx))
    _report(found)
    print_json([export_record(locus) for locus in found.loci])


def parse_pose(text: str) -> Pose2D:
    """Read X,Y or X,Y,YAW."""
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError as error:
        raise UsageError(f"{text!r} is no place; write X,Y or X,Y,YAW, such as 2.5,-1") from error
    if len(numbers) not in (2, 3):
        raise UsageError(f"{text!r} is no place; write X,Y or X,Y,YAW, such as 2.5,-1")
    return Pose2D(*numbers)


def _place(found: LocusList, at: str) -> Pose2D:
    if not at.isdecimal():
        return parse_pose(at)
    poses = {locus.node.node_id: locus.node.pose for locus in found.loci}
    if int(at) not in poses:
        raise UsageError(f"there is no locus {at}; see `palace locus list`")
    return poses[int(at)]


def _report(found: LocusList) -> None:
    for problem in found.problems:
        say(str(problem))


def _line(locus: Locus) -> str:
    node = locus.node
    where = f"{node.pose.x:g}, {node.pose.y:g}, {node.pose.yaw:g}"
    return visible(f"{node.node_id:<4} ({where})  {locus.path}  {node.summary}".rstrip())
