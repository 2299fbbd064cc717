"""``palace conflict``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Any

from typer import Argument, Context, Option, Typer

from memory_palace.cli.old_changes import show_change
from memory_palace.cli.options import Apply, Json, completed, open_palace
from memory_palace.errors import UsageError
from memory_palace.features.tasks.conflict_notes import Conflict
from memory_palace.features.tasks.conflicts import Claim
from memory_palace.shown import print_answer, to_record

app = Typer(no_args_is_help=True, help="Record and resolve claims that contradict each other.")
Name = Annotated[
    str,
    Argument(
        help="Path, file name, slug, conflict_id or title of a conflict.",
        autocompletion=completed("conflicts"),
    ),
]


@app.command("open")
def open_(
    ctx: Context,
    first: Annotated[
        str,
        Argument(help="A note, or lines of one: NOTE:12-15.", autocompletion=completed("notes")),
    ],
    second: Annotated[
        str,
        Argument(help="The note or lines that contradict it.", autocompletion=completed("notes")),
    ],
    by: Annotated[str, Option("--by", help="Who raises the conflict.")],
    title: Annotated[str, Option("--title", help="What they disagree about.")] = "",
    kind: Annotated[
        str, Option("--kind", help="contradiction, duplicate, stale or policy.")
    ] = "contradiction",
    evidence: Annotated[
        list[str] | None, Option("--evidence", help="One line of evidence; repeatable.")
    ] = None,
    apply: Apply = False,
    as_json: Json = False,
) -> None:
    """Record that two notes disagree. Answers mark both as disputed until it is resolved.

    Example: palace conflict open "accumulated knowledge of Wren:12-14" "first siting draft"
    --by sable --apply
    """
    change = open_palace(ctx).conflicts.open(
        first, second, title=title, kind=kind, raised_by=by, evidence=evidence or (), apply=apply
    )
    show_change(change, as_json=as_json)


@app.command("list")
def list_(
    ctx: Context,
    conflict: Annotated[
        str | None,
        Argument(
            help="One conflict, to be shown with the standing of what it quotes.",
            autocompletion=completed("conflicts"),
        ),
    ] = None,
    everything: Annotated[bool, Option("--all", help="Include resolved conflicts.")] = False,
    as_json: Json = False,
) -> None:
    """List open conflicts, or show one and whether the notes still say what was quoted.

    Example: palace conflict list mast-height-at-saddle-hut
    """
    if conflict is not None:
        one, claims = open_palace(ctx).conflicts.show(conflict)
        records = [to_record(claim.quote) | {"standing": claim.standing} for claim in claims]
        for record in records:
            del record["text"]  # it stands in the note
        answer = {"conflict": _record(one), "claims": records}
        print_answer(answer, _lines(one, claims), as_json=as_json)
        return
    found = open_palace(ctx).conflicts.list(include_closed=everything)
    lines = (f"{c.status:<8}  {c.kind:<13}  {c.path}" for c in found)
    print_answer({"conflicts": [_record(c) for c in found]}, lines, as_json=as_json)


@app.command("resolve")
def resolve(
    ctx: Context,
    conflict: Name,
    decision: Annotated[str, Option("--decision", help="What is true from now on, and why.")],
    by: Annotated[str, Option("--by", help="The person who decides.")],
    winner: Annotated[
        str | None, Option("--winner", help="The note that is right, or one line of it: NOTE:12.")
    ] = None,
    line: Annotated[
        str | None, Option("--line", help="Lines of the other note that no longer hold: 12-15.")
    ] = None,
    whole: Annotated[bool, Option("--whole", help="All of the other note is superseded.")] = False,
    wontfix: Annotated[bool, Option("--wontfix", help="Leave both notes as they are.")] = False,
    apply: Apply = False,
    as_json: Json = False,
) -> None:
    """Close a conflict by a person's decision.

    Below what lost stands a line that says so, with the decision and a link to what holds.

    Example: palace conflict resolve mast-height --winner "accumulated knowledge of Wren"
    --decision "3.2 metres, because of snow" --by "Jean-Luc Perrin" --apply
    """
    if (winner is None) != wontfix:
        raise UsageError("give either --winner NOTE or --wontfix")
    if sum(map(bool, (line, whole))) > (0 if wontfix else 1):
        raise UsageError("give one of --line and --whole, and none with --wontfix")
    change = open_palace(ctx).conflicts.resolve(
        conflict,
        winner=winner,
        decision=decision,
        by=by,
        line=line,
        whole=whole,
        apply=apply,
    )
    show_change(change, as_json=as_json)


def _lines(conflict: Conflict, claims: Sequence[Claim]) -> Iterator[str]:
    yield f"{conflict.path}  {conflict.status}  {conflict.kind}"
    yield from (f"party: {party}" for party in conflict.parties)
    for claim in claims:
        quote = claim.quote
        yield f"{claim.standing}: {quote.path}:{quote.first_line}-{quote.last_line}"
    yield conflict.document.section("Decision")


def _record(conflict: Conflict) -> dict[str, Any]:
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
