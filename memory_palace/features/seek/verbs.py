"""``palace seek``."""

from __future__ import annotations

from typing import Annotated

from typer import Argument, Context, Option, Typer

from memory_palace.cli.options import Json, Limit, open_palace
from memory_palace.errors import UsageError
from memory_palace.features.seek.locus_verbs import parse_pose
from memory_palace.features.seek.search_session import SearchSession
from memory_palace.features.seek.searches import SearchPlan
from memory_palace.features.seek.shown import (
    headline,
    reading_lines,
    reading_record,
    remark,
    say_left_out,
    session_lines,
    session_record,
    step_lines,
    step_record,
)
from memory_palace.shown import print_answer, print_json, say

app = Typer(no_args_is_help=True, help="Pursue a goal over several steps.")
Name = Annotated[
    str | None, Argument(help="Name of a search, or its beginning; the last one by default.")
]


@app.command("start")
def start(
    ctx: Context,
    goal: Annotated[str, Argument(help="What to look for, in at most 500 characters.")],
    on_loci: Annotated[bool, Option("--loci", help="Search loci instead of all notes.")] = False,
    top_k: Limit = 5,
    constraint: Annotated[
        list[str] | None,
        Option("--constraint", help="'avoid NODE' or 'within METRES'; repeatable."),
    ] = None,
    position: Annotated[
        str | None, Option("--from", help="Where the search begins: X,Y in metres.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Start a search. It writes only files of its own, in .sessions.

    Example: palace seek start "red backpack" --loci
    """
    plan = SearchPlan(
        on_loci=on_loci,
        k=top_k,
        constraints=tuple(constraint or ()),
        position=parse_pose(position) if position else None,
    )
    _show_session(open_palace(ctx).searches.start(goal, plan), as_json=as_json)


@app.command("step")
def step(
    ctx: Context,
    name: Name = None,
    goal: Annotated[
        str | None, Option("--goal", help="Another goal; nodes that were ruled out count again.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Take one step: retrieve, propose, verify, and say where to look next.

    Example: palace seek step
    """
    searches = open_palace(ctx).searches
    if goal is not None:
        name = searches.change_goal(name, goal).id
    session, record = searches.step(name)
    print_answer(step_record(record, session), step_lines(record, session), as_json=as_json)
    if not as_json:
        remark(record)


@app.command("observe")
def observe(
    ctx: Context,
    name: Name = None,
    node: Annotated[
        int | None, Option("--node", min=0, help="Node; where the last step leads by default.")
    ] = None,
    found: Annotated[
        str | None, Option("--found", help="Words that the target note contains.")
    ] = None,
    reject: Annotated[
        str | None, Option("--reject", help="Why this is not the target; may be empty.")
    ] = None,
    seen: Annotated[
        bool | None, Option("--seen/--not-seen", help="At a locus: whether the target is in view.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Report what is at a node. Without options, read the note there.

    A long note is read in passages, those that bear on the goal first. --found ends the search if
    the note contains these words. Two sightings at one locus make a target visible; --seen after
    an approach, in a later step, ends the search. Three looks that miss the target close a locus,
    --reject closes it at once.

    Example: palace seek observe --found "the pump was moved to the shed"
    """
    if sum(value is not None for value in (found, reject, seen)) > 1:
        raise UsageError("give only one of --found, --reject, --seen and --not-seen")
    searches = open_palace(ctx).searches
    if found is not None:
        session = searches.confirm(name, node, found)
    elif reject is not None:
        session = searches.reject(name, node, " ".join(reject.split()))
    elif seen is not None:
        near = 0.0 if seen else None  # counts after an approach alone, and who approached is there
        session = searches.sight(name, node, is_hit=seen, distance_metres=near)
    else:
        session, reading = searches.read(name, node)
        record = {**session_record(session), "reading": reading_record(reading)}
        print_answer(record, reading_lines(reading), as_json=as_json)
        if not as_json:
            say_left_out(reading)
            path = reading.note.path
            say(f"read {path}; end the search with --found WORDS, or take another step")
        return
    _show_session(session, as_json=as_json)


@app.command("status")
def status(
    ctx: Context,
    name: Annotated[
        str | None, Argument(help="Name of a search, or its beginning; all by default.")
    ] = None,
    as_json: Json = False,
) -> None:
    """List the searches, the last changed one in full, or show the state of one.

    Example: palace seek status
    """
    searches = open_palace(ctx).searches
    found = [searches.show(name)] if name else searches.list()
    if not found:
        raise UsageError("there is no search; start one with `palace seek start GOAL`")
    lines = [*map(headline, found[:-1]), *session_lines(found[-1])]
    print_answer({"sessions": [*map(session_record, found)]}, lines, as_json=as_json)


@app.command("log")
def log(ctx: Context, name: Name = None) -> None:
    """Print the log of a search, one JSON object per line.

    Example: palace seek log red-backpack
    """
    for record in open_palace(ctx).searches.log(name):
        print_json(record)


def _show_session(session: SearchSession, *, as_json: bool) -> None:
    print_answer(session_record(session), session_lines(session), as_json=as_json)
