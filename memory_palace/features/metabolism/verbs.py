"""``palace metabolism``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Any

from typer import Argument, Context, Option, Typer

from memory_palace.cli.old_changes import show_change
from memory_palace.cli.options import (
    Apply,
    Json,
    Model,
    Note,
    completed,
    open_palace,
)
from memory_palace.errors import CheckFailedError, UsageError
from memory_palace.features.metabolism.cycle import Report
from memory_palace.features.metabolism.elimination import Elimination
from memory_palace.features.metabolism.gates import PromotionGate
from memory_palace.notes.usage import KNOWN_AFTER_DAYS
from memory_palace.shown import plural, print_answer, say, to_record

app = Typer(no_args_is_help=True, help="Keep what outlives a project; archive the rest.")


@app.command("report")
def report(ctx: Context, as_json: Json = False) -> None:
    """Report what is ready to promote and what is stale, with the evidence. Changes nothing.

    Example: palace metabolism report
    """
    found = open_palace(ctx).metabolism.report()
    print_answer(_report_record(found), _report_lines(found), as_json=as_json)
    if as_json:
        return
    if not found.tells_disuse:
        say(_write_usage(found))
    if not found.compares_vectors:
        say("there are no vectors to compare notes by, so duplicates were not looked for")


@app.command("distill")
def distill_(
    ctx: Context,
    card: Annotated[str, Argument(help="A completed card.", autocompletion=completed("cards"))],
    model: Model = None,
    apply: Apply = False,
    as_json: Json = False,
) -> None:
    """Condense a completed card to a telegraph, and say what was left out.

    Headings and labels such as Problem, Tried, Fix and Lesson decide; of more than 400 tokens the
    rest is left out. A part that the card does not have is absent.
    Example: palace metabolism distill recover-april-readings
    """
    change = open_palace(ctx).metabolism.distill(card, model=model, apply=apply)
    show_change(change, as_json=as_json, evidence=list(change.evidence))
    if not as_json:
        for words in change.evidence:
            say(words)


@app.command("promote")
def promote_(
    ctx: Context,
    note: Note,
    kind: Annotated[str, Option("--as", help="principle, kernel, failure, path or constitution.")],
    section: Annotated[
        list[str] | None, Option("--section", help='"NAME=text"; repeatable.')
    ] = None,
    decided_by: Annotated[
        str | None,
        Option("--decided-by", help="Who accepts a candidate: one of `deciders` in the settings."),
    ] = None,
    apply: Apply = False,
    as_json: Json = False,
) -> None:
    """Promote a note if every gate is open; otherwise name what is missing and exit 8.

    A candidate that a person accepts becomes a rule of the constitution.
    Example: palace metabolism promote 2026-05-20-recovering-april --as principle
    """
    change = open_palace(ctx).metabolism.promote(
        note,
        kind,
        sections=_parse_sections(section or ()),
        decided_by=decided_by,
        apply=apply,
    )
    show_change(change, as_json=as_json)


@app.command("apply")
def apply_(
    ctx: Context,
    apply: Apply = False,
    as_json: Json = False,
) -> None:
    """Carry out what report proposes: demote, archive, supersede, return, open conflicts.

    All of it is one change, and one undo takes it back. A note with uncommitted edits is left
    alone.
    Example: palace metabolism apply --apply
    """
    metabolism = open_palace(ctx).metabolism
    change = metabolism.eliminate(apply=apply)
    show_change(change, as_json=as_json, held=list(change.held))
    for line in () if as_json else change.held:
        say(f"held: {line}")


@app.command("archive")
def archive(ctx: Context, note: Note, apply: Apply = False, as_json: Json = False) -> None:
    """Move a note into the archive, where ordinary queries do not look.

    Example: palace metabolism archive "old radio plan" --apply
    """
    change = open_palace(ctx).cold_zone.archive(note, apply=apply)
    show_change(change, as_json=as_json)


@app.command("restore")
def restore(ctx: Context, note: Note, apply: Apply = False, as_json: Json = False) -> None:
    """Move an archived note back to where it was.

    Example: palace metabolism restore "old radio plan" --apply
    """
    change = open_palace(ctx).cold_zone.restore(note, apply=apply)
    show_change(change, as_json=as_json)


@app.command("cold")
def check_cold(
    ctx: Context,
    fix: Annotated[
        bool, Option("--fix", help="First take cold lines out of the manifest and rebuild.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Check that no cold path is in manifest, index, graph or a test query; exit 8 if one is.

    Example: palace metabolism cold
    """
    zone = open_palace(ctx).cold_zone
    if fix:
        zone.fix()
    leaks = zone.check()
    lines = list(map(str, leaks)) or ["no cold path in manifest, index, graph or a test query"]
    print_answer({"leaks": to_record(leaks)}, lines, as_json=as_json)
    if leaks:
        count = plural(len(leaks), "cold path")
        raise CheckFailedError(f"{count} leaked; run `palace metabolism cold --fix`")


def _report_lines(found: Report) -> Iterator[str]:
    yield from (f"distill     {card.path}" for card in found.undistilled)
    for path, gates in found.ripe:
        yield f"promote     {path}"
        yield from _gate_lines(gates)
    for proposal in found.proposals:
        target = f" -> {proposal.other}" if proposal.other else ""
        yield f"{proposal.action:<11} {proposal.path}{target}"
        yield from (f"  {line}" for line in proposal.evidence)
        if proposal.held:
            yield f"  held: {proposal.held}"


def _gate_lines(gates: Sequence[PromotionGate]) -> Iterator[str]:
    for gate in gates:
        yield f"  {'open  ' if gate.is_open else 'closed'}  {gate.name}: {gate.counted}"


def _write_usage(found: Report) -> str:
    if found.usage_since is None:
        return "no use is logged yet, so no note is called unused; see usage_log in palace.yaml"
    return (
        f"use is logged since {found.usage_since}; before it is logged for "
        f"{KNOWN_AFTER_DAYS} days no note is called unused"
    )


def _report_record(found: Report) -> dict[str, Any]:
    return {
        "undistilled": [card.path for card in found.undistilled],
        "ripe": [{"path": path, "gates": to_record(gates)} for path, gates in found.ripe],
        "proposals": [_proposal_record(proposal) for proposal in found.proposals],
        "usage_since": to_record(found.usage_since),
        "tells_disuse": found.tells_disuse,
        "by_meaning": found.compares_vectors,
    }


def _proposal_record(proposal: Elimination) -> dict[str, Any]:
    record: dict[str, Any] = to_record(proposal)
    return record | {"other": proposal.other or None, "held": proposal.held or None}


def _parse_sections(given: Sequence[str]) -> dict[str, str]:
    sections: dict[str, str] = {}
    for text in given:
        name, equals, words = text.partition("=")
        if not equals or not name.strip() or not words.strip():
            raise UsageError(f'write a section as "NAME=text", not {text!r}')
        sections[name.strip()] = words.strip()
    return sections
