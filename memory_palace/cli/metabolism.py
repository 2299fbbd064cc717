"""``palace metabolism``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from memory_palace.changes.changing import undo_change
from memory_palace.cli.changes import AllowUncommitted, Apply, show_outcome
from memory_palace.cli.options import SCHEMA, Json, open_palace
from memory_palace.cli.printing import print_json, say
from memory_palace.errors import UsageError
from memory_palace.language.visible import visible
from memory_palace.metabolism.cycle import (
    Report,
    distill,
    eliminate,
    explain_note,
    promote,
    read_changes,
    take_report,
)
from memory_palace.metabolism.elimination import Proposal
from memory_palace.metabolism.gates import PromotionGate

app = typer.Typer(no_args_is_help=True, help="What outlives its project, and what goes.")
Note = Annotated[str, typer.Argument(help="Path, stem, title or alias of a note.")]
Model = Annotated[
    str | None, typer.Option("--model", help="Let this model of the llm library write.")
]


@app.command("report")
def report(ctx: typer.Context, as_json: Json = False) -> None:
    """Say what is ripe and what is stale, with everything that was counted; write nothing.

    Example: palace metabolism report
    """
    found = take_report(open_palace(ctx))
    if as_json:
        print_json(_report_record(found))
        return
    for card in found.undistilled:
        print(visible(f"distill     {card.path}"))
    for path, gates in found.ripe:
        print(visible(f"promote     {path}"))
        _print_gates(gates)
    for proposal in found.proposals:
        _print_proposal(proposal)
    if not found.uses_log:
        say("use is not logged (usage_log: on in palace.yaml); links and cards alone were counted")
    if not found.compares_vectors:
        say("there are no vectors to compare assets by, so no duplicates were looked for")


@app.command("explain")
def explain(
    ctx: typer.Context,
    note: Note,
    kind: Annotated[
        str | None, typer.Option("--as", help="principle, kernel, failure, path, constitution.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Show every gate before a note, and what the rules of elimination say of it.

    Example: palace metabolism explain "keep the raw column"
    """
    found = explain_note(open_palace(ctx), note, kind=kind)
    if as_json:
        print_json(
            {
                "schema": SCHEMA,
                "path": found.path,
                "kind": found.kind,
                "gates": [_gate_record(gate) for gate in found.gates],
                "proposal": _proposal_record(found.proposal) if found.proposal else None,
                "worked_in": list(found.worked_in),
                "inbound": list(found.inbound),
                "last_use": found.last_use.isoformat() if found.last_use else None,
                "successes": found.successes,
                "failures": found.failures,
            }
        )
        return
    print(visible(f"{found.path}  {found.kind}"))
    _print_gates(found.gates)
    print(f"  last use: {found.last_use or 'unknown'}; inbound links: {len(found.inbound)}")
    if found.proposal is None:
        print("  no rule of elimination applies")
    else:
        words = "; ".join(found.proposal.evidence)
        print(visible(f"  {found.proposal.action}: {words}"))


@app.command("distill")
def distill_(
    ctx: typer.Context,
    card: Annotated[str, typer.Argument(help="A completed card.")],
    model: Model = None,
    apply: Apply = False,
    as_json: Json = False,
) -> None:
    """Write the telegraph of a completed card: four parts, 150 to 400 tokens, no foam.

    Example: palace metabolism distill recover-april-readings
    """
    outcome = distill(open_palace(ctx), card, model=model, apply=apply)
    show_outcome(outcome, as_json=as_json)


@app.command("promote")
def promote_(
    ctx: typer.Context,
    note: Note,
    kind: Annotated[
        str, typer.Option("--as", help="principle, kernel, failure, path or constitution.")
    ],
    section: Annotated[
        list[str] | None, typer.Option("--section", help='"NAME=text"; may be repeated.')
    ] = None,
    decided_by: Annotated[
        str | None, typer.Option("--decided-by", help="The person who accepts a candidate.")
    ] = None,
    model: Model = None,
    apply: Apply = False,
    allow_uncommitted: AllowUncommitted = False,
    as_json: Json = False,
) -> None:
    """Compile a note into an asset, if every gate is open; else name what is missing and exit 8.

    An accepted candidate becomes a rule of the constitution.
    Example: palace metabolism promote 2026-05-20-recovering-april --as principle
    """
    outcome = promote(
        open_palace(ctx), note, kind, sections=_parse_sections(section or ()),
        decided_by=decided_by, model=model, apply=apply, allow_uncommitted=allow_uncommitted,
    )  # fmt: skip
    show_outcome(outcome, as_json=as_json)


@app.command("apply")
def apply_(
    ctx: typer.Context, apply: Apply = False, allow_uncommitted: AllowUncommitted = False,
    as_json: Json = False,
) -> None:  # fmt: skip
    """Carry out what report proposes: demote, archive, supersede, return, open conflicts.

    All of it is one change, and one undo takes it back. A step for a note with edits that are not
    in git is left out; --allow-uncommitted is for notes that only link to what moves.
    Example: palace metabolism apply --apply
    """
    outcome = eliminate(open_palace(ctx), apply=apply, allow_uncommitted=allow_uncommitted)
    show_outcome(outcome, as_json=as_json)


@app.command("undo")
def undo(
    ctx: typer.Context,
    identity: Annotated[
        str | None, typer.Argument(help="Id of any logged change; else metabolism's last.")
    ] = None,
    apply: Apply = False,
    as_json: Json = False,
) -> None:
    """Give back every byte and place as before a change, unless a note was changed since.

    Example: palace metabolism undo --apply
    """
    command = "metabolism" if identity is None else None
    outcome = undo_change(open_palace(ctx), command=command, identity=identity, apply=apply)
    show_outcome(outcome, as_json=as_json)


@app.command("log")
def log(
    ctx: typer.Context,
    everything: Annotated[
        bool, typer.Option("--all", help="Changes by other commands too.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Print what was changed, when, and on what evidence.

    Example: palace metabolism log --all
    """
    entries = read_changes(open_palace(ctx), every_command=everything)
    if as_json:
        records = [
            {
                "id": e.identity, "time": e.time, "command": e.command, "reason": e.reason,
                "evidence": list(e.evidence), "undoes": e.undoes,
                "moves": [[move.old, move.new] for move in e.moves],
                "writes": [write.path for write in e.writes],
            }
            for e in entries
        ]  # fmt: skip
        print_json({"schema": SCHEMA, "changes": records})
        return
    for entry in entries:
        print(visible(f"{entry.identity}  {entry.command}  {entry.reason}"))
        for line in entry.evidence:
            print(visible(f"  {line}"))


def _print_proposal(proposal: Proposal) -> None:
    target = f" -> {proposal.other}" if proposal.other else ""
    print(visible(f"{proposal.action:<11} {proposal.path}{target}"))
    held = [f"held: {proposal.held}"] if proposal.held else []
    for line in (*proposal.evidence, *held):
        print(visible(f"  {line}"))


def _parse_sections(given: Sequence[str]) -> dict[str, str]:
    sections: dict[str, str] = {}
    for text in given:
        name, equals, words = text.partition("=")
        if not equals or not name.strip() or not words.strip():
            raise UsageError(f'a section is written "NAME=text", not {text!r}')
        sections[name.strip()] = words.strip()
    return sections


def _print_gates(gates: Sequence[PromotionGate]) -> None:
    for gate in gates:
        print(visible(f"  {'open  ' if gate.is_open else 'closed'}  {gate.name}: {gate.counted}"))


def _report_record(found: Report) -> dict[str, object]:
    return {
        "schema": SCHEMA,
        "undistilled": [card.path for card in found.undistilled],
        "ripe": [
            {"path": path, "gates": [_gate_record(gate) for gate in gates]}
            for path, gates in found.ripe
        ],
        "proposals": [_proposal_record(proposal) for proposal in found.proposals],
        "usage_logged": found.uses_log,
        "vectors": found.compares_vectors,
    }


def _gate_record(gate: PromotionGate) -> dict[str, object]:
    return {
        "name": gate.name,
        "open": gate.is_open,
        "counted": gate.counted,
        "evidence": list(gate.evidence),
    }


def _proposal_record(proposal: Proposal) -> dict[str, object]:
    return {
        "action": proposal.action,
        "path": proposal.path,
        "other": proposal.other or None,
        "evidence": list(proposal.evidence),
        "held": proposal.held or None,
    }
