"""``palace seek locus``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument, Context, Option, Typer

from memory_palace.cli.old_changes import show_change
from memory_palace.cli.options import Apply, Json, Tags, open_palace
from memory_palace.errors import UsageError
from memory_palace.features.seek.loci import Locus, LocusList, export_record
from memory_palace.features.seek.nodes import Pose2D, read_node_list
from memory_palace.shown import print_answer, say

app = Typer(no_args_is_help=True, help="Manage loci: notes that have a place.")


@app.command("add")
def add(
    ctx: Context,
    title: Annotated[str, Argument(help="Title of the new note, or a note with --note.")],
    at: Annotated[str, Option("--at", help="X,Y or X,Y,YAW in metres and radians.")],
    tag: Tags = None,
    summary: Annotated[str, Option("--summary", help="What is seen there.")] = "",
    note: Annotated[bool, Option("--note", help="Place an existing note.")] = False,
    apply: Apply = False,
    as_json: Json = False,
) -> None:
    """Give a place to a note, new or existing.

    Example: palace seek locus add Cellar --at 2.5,-1 --tag wine --summary "Rows of bottles" --apply
    """
    change = open_palace(ctx).loci.add(
        title,
        pose=parse_pose(at),
        tags=tag or (),
        summary=" ".join(summary.split()),
        note=note,
        apply=apply,
    )
    show_change(change, as_json=as_json)


@app.command("list")
def list_(
    ctx: Context,
    as_json: Json = False,
) -> None:
    """List the loci by id.

    Example: palace seek locus list
    """
    found = _read(ctx)
    records = [export_record(locus) | {"path": locus.path} for locus in found.loci]
    lines = [_line(locus) for locus in found.loci]
    print_answer({"loci": records}, lines, as_json=as_json)


@app.command("import")
def import_(
    ctx: Context,
    file: Annotated[Path, Argument(help="JSON list of nodes.")],
    apply: Apply = False,
    as_json: Json = False,
) -> None:
    """Make a note of each node of a map, or update the note with that id.

    A node is {"node_id": 3, "pose": {"x": 1.5, "y": 0, "yaw": 0}, "tags": [], "summary": "..."}.
    Embeddings in the list are ignored: the palace embeds its notes itself.

    Example: palace seek locus import map.json --apply
    """
    records = read_node_list(file)
    ignored = sum(record.get("embedding") is not None for record in records)
    if ignored:
        say(f"{ignored} embeddings are ignored; `palace index` embeds the notes")
    show_change(open_palace(ctx).loci.load(records, apply=apply), as_json=as_json)


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
