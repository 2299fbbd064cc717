"""``palace seek``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument, Context, Option, Typer

from memory_palace.cli.locus import parse_pose
from memory_palace.cli.options import Json, Limit, open_palace
from memory_palace.cli.printing import print_answer, print_json, say
from memory_palace.cli.search_answers import (
    headline,
    reading_lines,
    reading_record,
    remark,
    run_lines,
    run_record,
    say_left_out,
    say_stop,
    session_lines,
    session_record,
    step_lines,
    step_record,
)
from memory_palace.errors import UsageError
from memory_palace.navigation.plot import draw_search
from memory_palace.navigation.reading import READ_BYTES
from memory_palace.navigation.search_run import RUN_BYTES
from memory_palace.navigation.search_session import SearchSession
from memory_palace.navigation.searches import SearchPlan

app = Typer(no_args_is_help=True, help="Pursue a goal over several steps.")
Name = Annotated[
    str | None, Argument(help="Name of a search, or its beginning; the last one by default.")
]
Node = Annotated[
    int | None, Option("--node", min=0, help="Node; where the last step leads by default.")
]


Found = Annotated[str | None, Option("--found", help="Words that the target note contains.")]
Reject = Annotated[str | None, Option("--reject", help="Why this is not the target; may be empty.")]
ReadBytes = Annotated[
    int, Option("--budget", min=1, help="Maximum size of what is read, in UTF-8 bytes.")
]
OnLoci = Annotated[bool, Option("--loci", help="Search loci instead of all notes.")]
Literal = Annotated[bool, Option("--literal", help="Use the original formula and threshold.")]
Proposer = Annotated[str, Option("--proposer", help="rules, or llm:MODEL with the extra [llm].")]
Constraint = Annotated[
    list[str] | None, Option("--constraint", help="'avoid NODE' or 'within METRES'; repeatable.")
]
StartAt = Annotated[str | None, Option("--from", help="Where the search begins: X,Y in metres.")]
WithinMetres = Annotated[
    float | None, Option("--within", min=0.0, help="Maximum distance in metres from --from.")
]
HalfLife = Annotated[
    float | None,
    Option("--half-life", min=0.001, help="Days after which an old sighting counts half."),
]


@app.command("start")
def start(
    ctx: Context,
    goal: Annotated[str, Argument(help="What to look for, in at most 500 characters.")],
    on_loci: OnLoci = False,
    top_k: Limit = 5,
    literal: Literal = False,
    proposer: Proposer = "rules",
    constraint: Constraint = None,
    position: StartAt = None,
    within: WithinMetres = None,
    half_life: HalfLife = None,
    as_json: Json = False,
) -> None:
    """Start a search. It writes only files of its own, in .sessions.

    Example: palace seek start "red backpack" --loci
    """
    plan = SearchPlan(
        on_loci=on_loci,
        k=top_k,
        scoring="literal" if literal else "calibrated",
        proposer=proposer,
        constraints=tuple(constraint or ()),
        position=parse_pose(position) if position else None,
        within_metres=within,
        half_life_days=half_life,
    )
    _show_session(open_palace(ctx).searches.start(goal, plan), as_json=as_json)


@app.command("step")
def step(
    ctx: Context,
    name: Name = None,
    image: Annotated[
        list[Path] | None,
        Option("--image", exists=True, help="Picture of the view, for a model; repeatable."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Take one step: retrieve, propose, verify, and say where to look next.

    Example: palace seek step
    """
    images = [str(path) for path in image or ()]
    session, record = open_palace(ctx).searches.step(name, images=images)
    print_answer(step_record(record, session), step_lines(record, session), as_json=as_json)
    if not as_json:
        remark(record)


@app.command("observe")
def observe(
    ctx: Context,
    name: Name = None,
    node: Node = None,
    found: Found = None,
    reject: Reject = None,
    seen: Annotated[
        bool | None, Option("--seen/--not-seen", help="At a locus: whether the target is in view.")
    ] = None,
    metres: Annotated[
        float | None, Option("--metres", min=0.0, help="How close the approach came, in metres.")
    ] = None,
    budget: ReadBytes = READ_BYTES,
    as_json: Json = False,
) -> None:
    """Report what is at a node. Without options, read the note there.

    A note longer than the budget is read in passages, those that bear on the goal first. --found
    ends the search if the note contains these words. Two sightings at one locus make a
    target visible; an approach to .75 m in a later step ends the search. Three looks that
    miss the target close a locus, --reject closes it at once.

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
        session = searches.sight(name, node, is_hit=seen, distance_metres=metres)
    else:
        session, reading = searches.read(name, node, budget_bytes=budget)
        record = {**session_record(session), "reading": reading_record(reading)}
        print_answer(record, reading_lines(reading), as_json=as_json)
        if not as_json:
            say_left_out(reading)
            path = reading.note.path
            say(f"read {path}; end the search with --found WORDS, or take another step")
        return
    _show_session(session, as_json=as_json)


@app.command("status")
def status(ctx: Context, name: Name = None, as_json: Json = False) -> None:
    """Show the state of a search: its target, its candidates, and the nodes it has ruled out.

    Example: palace seek status
    """
    _show_session(open_palace(ctx).searches.show(name), as_json=as_json)


@app.command("list")
def list_(ctx: Context, as_json: Json = False) -> None:
    """List the searches; the one changed last comes last.

    Example: palace seek list
    """
    found = open_palace(ctx).searches.list()
    lines = (headline(session) for session in found)
    print_answer({"sessions": list(map(session_record, found))}, lines, as_json=as_json)


@app.command("goal")
def goal(
    ctx: Context,
    text: Annotated[str, Argument(help="The new goal.")],
    name: Name = None,
    as_json: Json = False,
) -> None:
    """Change the goal of a search; nodes that were ruled out count again.

    Example: palace seek goal "blue backpack"
    """
    _show_session(open_palace(ctx).searches.change_goal(name, text), as_json=as_json)


@app.command("log")
def log(ctx: Context, name: Name = None) -> None:
    """Print the log of a search, one JSON object per line.

    Example: palace seek log red-backpack
    """
    for record in open_palace(ctx).searches.log(name):
        print_json(record)


@app.command("run")
def run(
    ctx: Context,
    name: Name = None,
    steps: Annotated[int, Option("--steps", min=1, help="Maximum number of steps.")] = 20,
    seed: Annotated[int, Option("--seed", help="Seed of the simulated sightings.")] = 42,
    expect: Annotated[str, Option("--expect", help="Words that mark a note as the target.")] = "",
    target: Annotated[
        int | None, Option("--target", min=0, help="Id of the locus where the target is.")
    ] = None,
    budget: ReadBytes = RUN_BYTES,
    as_json: Json = False,
) -> None:
    """Step and observe automatically: notes are read, sightings at loci are simulated.

    Among notes it stops at the first that is likely to answer, or with --expect at the one that
    says these words.

    Example: palace seek run --steps 5 --expect "moved to the shed"
    """
    searches = open_palace(ctx).searches
    taken = []
    for run in searches.run(
        name, steps=steps, seed=seed, expect=expect, target=target, budget_bytes=budget
    ):
        session = searches.show(name)
        taken.append((run, session))
        if not as_json:
            print_answer({}, run_lines(run, session), as_json=False)
            remark(run.record)
    session = searches.show(name)
    print_answer(run_record(taken, session), session_lines(session), as_json=as_json)
    if not as_json:
        say_stop([run for run, _ in taken], session)


@app.command("serve")
def serve_searches(ctx: Context) -> None:
    """Answer requests of a robot: JSON lines on stdin and stdout, until stdin ends.

    A request is such as {"do": "start", "goal": "red backpack"} or {"do": "step"}.

    Example: palace seek serve
    """
    from memory_palace.cli.search_serving import serve  # delayed: only this process serves

    serve(open_palace(ctx))


@app.command("plot")
def plot(
    ctx: Context,
    name: Name = None,
    out: Annotated[
        Path | None,
        Option("--out", help="A .png or .svg file, and NAME-dark beside it; default: SESSION.png."),
    ] = None,
) -> None:
    """Draw loci, path, candidates and the state over time. Needs the extra [plots].

    Example: palace seek plot --out search.svg
    """
    palace = open_palace(ctx)
    session = palace.searches.show(name)
    loci = palace.loci.read().loci if session.kind == "loci" else ()
    path = out if out is not None else Path(f"{session.id}.png")
    for file in draw_search(session, palace.searches.log(session.id), loci).write(path):
        print(file)


def _show_session(session: SearchSession, *, as_json: bool) -> None:
    print_answer(session_record(session), session_lines(session), as_json=as_json)
