"""How a change of notes is shown, by every verb that makes one; and ``palace undo``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

from typer import Argument, Context, Option

from memory_palace.changes.changing import Outcome
from memory_palace.changes.journal import find_undone
from memory_palace.changes.logged_change import LoggedChange
from memory_palace.cli.options import Apply, Json, open_palace
from memory_palace.cli.printing import print_answer, say, to_record


def undo_change(
    ctx: Context,
    identity: Annotated[
        str | None, Argument(metavar="ID", help="Id of a change; the last one by default.")
    ] = None,
    listed: Annotated[bool, Option("--list", help="List the changes with their ids.")] = False,
    apply: Apply = False,
    as_json: Json = False,
) -> None:
    """Show the last change that any verb made to the notes, and take it back with --apply.

    Every byte and folder comes back. Where a file was edited since, it is named and nothing is
    changed.

    Example: palace undo --apply
    """
    changes = open_palace(ctx).changes
    if listed:
        log = changes.log()
        undone = find_undone(log)
        records = [entry_record(one) | {"undone": one.identity in undone} for one in log]
        lines = (name_entry(o) + "  undone" * (o.identity in undone) for o in log)
        print_answer({"changes": records}, lines, as_json=as_json)
        return
    show_change(changes.undo(identity=identity, apply=apply), as_json=as_json)


def name_entry(entry: LoggedChange) -> str:
    """Return the id of a logged change, its verb, and who made it where that is known."""
    by = f"  by {entry.agent}" if entry.agent else ""
    return f"{entry.identity}  {entry.command}  {entry.reason}{by}"


def entry_lines(entry: LoggedChange) -> Iterator[str]:
    """Yield the lines of a logged change: its name, and on what evidence it was made."""
    yield name_entry(entry)
    yield from (f"  {words}" for words in entry.evidence)


def entry_record(entry: LoggedChange) -> dict[str, Any]:
    """Return a logged change as JSON has it."""
    record: dict[str, Any] = to_record(entry)
    for inner in ("digests", "folders", "continues"):
        del record[inner]
    return record | {"agent": entry.agent or None, "writes": [one.path for one in entry.writes]}


def show_change(change: Outcome, *, as_json: bool, **more: Any) -> None:
    """Print the diff, and on stderr what became of it; ``more`` are further keys of the record."""
    shown = [*entry_lines(change.undone)] if change.undone else []
    shown += [change.diff.removesuffix("\n")] if change.diff else []
    print_answer(change_record(change) | more, shown, as_json=as_json)
    if _say_what_became(change):
        say(_say_what_became(change))


def _say_what_became(change: Outcome) -> str:
    """Return what a reader of the diff should know besides."""
    if not change.diff:
        return "there is nothing to change"
    return change.remark if change.identity is not None else "nothing was changed; add --apply"


def change_record(change: Outcome) -> dict[str, Any]:
    """Return a change as JSON has it."""
    more = {"change": entry_record(change.undone)} if change.undone else {}
    return more | {
        "applied": change.identity is not None,
        "id": change.identity,
        "reason": change.reason,
        "paths": list(change.paths),
        "diff": change.diff,
        "remark": _say_what_became(change) or None,
    }
