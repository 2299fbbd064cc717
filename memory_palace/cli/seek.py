"""``palace seek``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from memory_palace.cli.locus import parse_pose
from memory_palace.cli.options import SCHEMA, Json, Limit, open_palace
from memory_palace.cli.printing import print_json, say
from memory_palace.errors import UsageError
from memory_palace.language.visible import visible
from memory_palace.navigation.loci import read_loci
from memory_palace.navigation.loop import StepRecord
from memory_palace.navigation.search_run import run_search
from memory_palace.navigation.search_session import SearchSession
from memory_palace.navigation.searches import (
    SearchPlan,
    change_search_goal,
    confirm_node,
    load_search,
    read_node,
    read_search_log,
    reject_node,
    sessions_of,
    sight_node,
    start_search,
    step_search,
)

app = typer.Typer(no_args_is_help=True, help="Pursue a goal over several steps.")
Name: TypeAlias = Annotated[
    str | None, typer.Argument(help="A search, or how its name begins; else the last one.")
]
Node: TypeAlias = Annotated[
    int | None, typer.Option("--node", min=0, help="Else where the last step leads.")
]


@app.command("start")
def start(
    ctx: typer.Context,
    goal: Annotated[str, typer.Argument(help="What is looked for, in at most 80 characters.")],
    on_loci: Annotated[bool, typer.Option("--loci", help="Among loci, not all notes.")] = False,
    top_k: Limit = 5,
    literal: Annotated[
        bool, typer.Option("--literal", help="The source document's formula and threshold.")
    ] = False,
    proposer: Annotated[
        str, typer.Option("--proposer", help="rules, or llm:MODEL with the extra [llm].")
    ] = "rules",
    constraint: Annotated[
        list[str] | None,
        typer.Option("--constraint", help="'avoid NODE' or 'within METRES'; may be repeated."),
    ] = None,
    position: Annotated[
        str | None, typer.Option("--from", help="X,Y in metres: where the search begins.")
    ] = None,
    within: Annotated[
        float | None, typer.Option("--within", min=0.0, help="Only so many metres from there.")
    ] = None,
    half_life: Annotated[
        float | None, typer.Option("--half-life", min=0.001, help="Days: old memories fade.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Begin a search. Nothing but its own files is written, in palace/.sessions.

    Example: palace seek start "red backpack" --loci
    """
    plan = SearchPlan(
        on_loci, top_k, "literal" if literal else "calibrated", proposer, tuple(constraint or ()),
        parse_pose(position) if position else None, within, half_life,
    )  # fmt: skip
    session = start_search(open_palace(ctx), goal, plan)
    _show_session(session, as_json=as_json)


@app.command("step")
def step(
    ctx: typer.Context,
    name: Name = None,
    image: Annotated[
        list[Path] | None,
        typer.Option("--image", exists=True, help="What is seen, for a model; may be repeated."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Retrieve, propose, verify, and say where to look next.

    Example: palace seek step
    """
    images = [str(path) for path in image or ()]
    session, record = step_search(open_palace(ctx), name, images=images)
    _show_step(record, session, as_json=as_json)


@app.command("observe")
def observe(
    ctx: typer.Context,
    name: Name = None,
    node: Node = None,
    found: Annotated[
        str | None, typer.Option("--found", help="Words of the note that are the target.")
    ] = None,
    reject: Annotated[
        str | None, typer.Option("--reject", help="Why this is not it; may be empty.")
    ] = None,
    seen: Annotated[
        bool | None, typer.Option("--seen/--not-seen", help="At a locus: what was seen there.")
    ] = None,
    metres: Annotated[
        float | None, typer.Option("--metres", min=0.0, help="How near an approach came.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Look where the last step leads. Without options that is to read the note.

    --found ends the search if the note says these words. Two sightings at one locus make a target
    visible, and an approach to .75 m in a later step ends the search.

    Example: palace seek observe --found "the pump was moved to the shed"
    """
    if sum(value is not None for value in (found, reject, seen)) > 1:
        raise UsageError("say one of --found, --reject, --seen and --not-seen")
    palace = open_palace(ctx)
    if found is not None:
        session = confirm_node(palace, name, node, found)
    elif reject is not None:
        session = reject_node(palace, name, node, " ".join(reject.split()))
    elif seen is not None:
        session = sight_node(palace, name, node, is_hit=seen, distance_metres=metres)
    else:
        session, text = read_node(palace, name, node)
        if not as_json:
            print(visible(text.text))
            say(f"read {text.path}; end the search with --found WORDS, or take another step")
            return
    _show_session(session, as_json=as_json)


@app.command("status")
def status(ctx: typer.Context, name: Name = None, as_json: Json = False) -> None:
    """Show what a search believes, its candidates, and what it has closed.

    Example: palace seek status
    """
    _show_session(load_search(open_palace(ctx), name), as_json=as_json)


@app.command("list")
def list_(ctx: typer.Context, as_json: Json = False) -> None:
    """List the searches, the one that was changed last at the end.

    Example: palace seek list
    """
    sessions = sessions_of(open_palace(ctx))
    found = [sessions.load(name) for name in sessions.names()]
    if as_json:
        print_json({"schema": SCHEMA, "sessions": [session.to_json() for session in found]})
        return
    for session in found:
        belief = session.belief
        print(visible(f"{session.id}  {belief['target_status']}  {belief['goal_text']}"))


@app.command("goal")
def goal(
    ctx: typer.Context,
    text: Annotated[str, typer.Argument(help="The new goal.")],
    name: Name = None,
    as_json: Json = False,
) -> None:
    """Pursue another goal in the same search; what was closed is open again.

    Example: palace seek goal "blue backpack"
    """
    _show_session(change_search_goal(open_palace(ctx), name, text), as_json=as_json)


@app.command("log")
def log(ctx: typer.Context, name: Name = None) -> None:
    """Print the log of a search, one JSON object a line.

    Example: palace seek log red-backpack
    """
    for record in read_search_log(open_palace(ctx), name):
        print_json(record)


@app.command("run")
def run(
    ctx: typer.Context,
    name: Name = None,
    steps: Annotated[int, typer.Option("--steps", min=1, help="Steps at most.")] = 20,
    seed: Annotated[int, typer.Option("--seed", help="Of the simulated eyes.")] = 42,
    expect: Annotated[
        str, typer.Option("--expect", help="Words that make a note the target.")
    ] = "",
    target: Annotated[
        int | None, typer.Option("--target", min=0, help="The locus where the target is.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Step and observe by itself: notes are read, looks at loci are simulated.

    Example: palace seek run --steps 5 --expect "moved to the shed"
    """
    palace = open_palace(ctx)
    for record in run_search(palace, name, steps=steps, seed=seed, expect=expect, target=target):
        _show_step(record, load_search(palace, name), as_json=as_json)
    if not as_json:
        _show_session(load_search(palace, name), as_json=False)


@app.command("plot")
def plot(
    ctx: typer.Context,
    name: Name = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="A .png or .svg file; else SESSION.png.")
    ] = None,
) -> None:
    """Draw loci, path, candidates by score, and the state over time; needs the extra [plots].

    Example: palace seek plot --out search.svg
    """
    from memory_palace.navigation.plot import draw_search  # delayed: an extra

    palace = open_palace(ctx)
    session = load_search(palace, name)
    loci = read_loci(palace).loci if session.kind == "loci" else ()
    path = out if out is not None else Path(f"{session.id}.png")
    draw_search(session, read_search_log(palace, session.id), loci, path)
    print(path)


def _show_session(session: SearchSession, *, as_json: bool) -> None:
    if as_json:
        print_json(session.to_json())
        return
    belief = session.belief
    print(visible(f"{session.id}  {belief['target_status']}  {belief['goal_text']}"))
    for candidate in belief["candidate_nodes"]:
        node = candidate["node_id"]
        print(visible(f"  {candidate['score']:.3f}  {node:<4} {session.nodes[node]}"))
    for node, why in sorted(session.closed.items()):
        print(visible(f"  closed {node:<4} {session.nodes[node]}  {why}"))
    if belief["target_status"] == "done":
        place = belief["current_node_id"]
        print(visible(f"  found at {place} {session.nodes[place] if place is not None else ''}"))


def _show_step(record: StepRecord, session: SearchSession, *, as_json: bool) -> None:
    if as_json:
        print_json({"schema": SCHEMA, **record})
        return
    node = record["next_node_id"]
    best = record["retrieval_best_score"]
    where = f" {node} {session.nodes[node]}" if node is not None else ""
    passed = "reaches" if record["retrieval_threshold_pass"] else "below"
    print(
        visible(f"step {record['step']}: {record['target_status']}; {record['next_action']}{where}")
    )
    if best is not None:
        say(f"best {best:.3f}, {passed} {record['retrieval_threshold']:.3f}")
    hypothesis = session.belief["last_vlm_hypothesis"]
    if record["next_action"] == "ask_clarification" and hypothesis is not None:
        print(visible(f"  {hypothesis['question']}"))
    if record["rejection_reason"]:
        say(f"the proposal was refused: {record['rejection_reason']}")
