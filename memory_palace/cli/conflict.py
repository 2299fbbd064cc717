"""``palace conflict``."""

from __future__ import annotations

from typing import Annotated

import typer

from memory_palace.cli.changes import AllowUncommitted, Apply, show_outcome
from memory_palace.cli.options import SCHEMA, Json, open_palace
from memory_palace.cli.printing import print_json
from memory_palace.errors import UsageError
from memory_palace.language.visible import visible
from memory_palace.workflow.conflict_notes import Conflict
from memory_palace.workflow.conflicts import (
    list_conflicts,
    open_conflict,
    resolve_conflict,
    show_conflict,
)

app = typer.Typer(no_args_is_help=True, help="Claims that cannot both be true.")
Name = Annotated[str, typer.Argument(help="Path, file name, slug, conflict_id or title.")]


@app.command("open")
def open_(
    ctx: typer.Context,
    first: Annotated[str, typer.Argument(help="A note, or lines of it: NOTE:12-15.")],
    second: Annotated[str, typer.Argument(help="The note that says otherwise.")],
    by: Annotated[str, typer.Option("--by", help="Who raises it.")],
    title: Annotated[str, typer.Option("--title", help="What they disagree on.")] = "",
    kind: Annotated[
        str, typer.Option("--kind", help="contradiction, duplicate, stale or policy.")
    ] = "contradiction",
    evidence: Annotated[
        list[str] | None, typer.Option("--evidence", help="One line; may be repeated.")
    ] = None,
    apply: Apply = False,
    as_json: Json = False,
) -> None:
    """Write down that two notes disagree; both are marked disputed in answers until it is decided.

    Example: palace conflict open "accumulated knowledge of Wren:12-14" "first siting draft"
    --by sable --apply
    """
    outcome = open_conflict(
        open_palace(ctx), first, second, title=title, kind=kind, raised_by=by,
        evidence=evidence or (), apply=apply,
    )  # fmt: skip
    show_outcome(outcome, as_json=as_json)


@app.command("list")
def list_(
    ctx: typer.Context,
    everything: Annotated[bool, typer.Option("--all", help="Decided ones too.")] = False,
    as_json: Json = False,
) -> None:
    """List open conflicts.

    Example: palace conflict list --all
    """
    found = list_conflicts(open_palace(ctx), include_closed=everything)
    if as_json:
        print_json({"schema": SCHEMA, "conflicts": [_record(conflict) for conflict in found]})
        return
    for conflict in found:
        print(visible(f"{conflict.status:<8}  {conflict.kind:<13}  {conflict.path}"))


@app.command("show")
def show(ctx: typer.Context, conflict: Name, as_json: Json = False) -> None:
    """Print a conflict, and whether its parties still say what was quoted.

    Example: palace conflict show mast-height-at-saddle-hut
    """
    found, claims = show_conflict(open_palace(ctx), conflict)
    if as_json:
        records = [
            {"path": c.quote.path, "line": c.quote.first_line, "last_line": c.quote.last_line,
             "digest": c.quote.digest, "standing": c.standing}
            for c in claims
        ]  # fmt: skip
        print_json({"schema": SCHEMA, "conflict": _record(found), "claims": records})
        return
    print(visible(f"{found.path}  {found.status}  {found.kind}"))
    for party in found.parties:
        print(visible(f"party: {party}"))
    for claim in claims:
        lines = f"{claim.quote.path}:{claim.quote.first_line}-{claim.quote.last_line}"
        print(visible(f"{claim.standing}: {lines}"))
    print(visible(found.document.section("Decision")))


@app.command("resolve")
def resolve(
    ctx: typer.Context,
    conflict: Name,
    decision: Annotated[str, typer.Option("--decision", help="What holds from now on, and why.")],
    by: Annotated[str, typer.Option("--by", help="The person who decides.")],
    winner: Annotated[
        str | None, typer.Option("--winner", help="The party that holds; the other is superseded.")
    ] = None,
    wontfix: Annotated[bool, typer.Option("--wontfix", help="Both stay as they are.")] = False,
    apply: Apply = False,
    allow_uncommitted: AllowUncommitted = False,
    as_json: Json = False,
) -> None:
    """Close a conflict by a person's decision.

    Example: palace conflict resolve mast-height --winner "accumulated knowledge of Wren"
    --decision "3.2 metres, because of snow" --by "Jean-Luc Perrin" --apply
    """
    if (winner is None) != wontfix:
        raise UsageError("name --winner NOTE, or say --wontfix")
    outcome = resolve_conflict(
        open_palace(ctx), conflict, winner=winner, decision=decision, by=by, apply=apply,
        allow_uncommitted=allow_uncommitted,
    )  # fmt: skip
    show_outcome(outcome, as_json=as_json)


def _record(conflict: Conflict) -> dict[str, object]:
    document = conflict.document
    return {
        "path": conflict.path,
        "conflict_id": document.text("conflict_id"),
        "title": document.title,
        "status": conflict.status,
        "kind": conflict.kind,
        "parties": list(conflict.parties),
        "raised_by": document.text("raised_by"),
        "raised_at": document.text("raised_at"),
        "resolution": document.text("resolution") or None,
        "resolved_by": document.text("resolved_by") or None,
    }
