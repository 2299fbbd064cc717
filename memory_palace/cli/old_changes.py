"""Old verbs' way to show a change; goes with the last of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from memory_palace.changes.changing import Outcome
from memory_palace.changes.logged_change import LoggedChange
from memory_palace.shown import print_answer, say, to_record


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
