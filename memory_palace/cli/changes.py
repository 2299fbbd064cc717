"""How a change of notes is shown, by every verb that makes one."""

from __future__ import annotations

from typing import Any

from memory_palace.changes.changing import Outcome
from memory_palace.cli.printing import print_answer, say


def show_change(change: Outcome, *, as_json: bool, **more: Any) -> None:
    """Print the diff, and on stderr what became of it; ``more`` are further keys of the record."""
    shown = [change.diff.removesuffix("\n")] if change.diff else []
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
    return {
        "applied": change.identity is not None,
        "id": change.identity,
        "reason": change.reason,
        "paths": list(change.paths),
        "diff": change.diff,
        "remark": _say_what_became(change) or None,
    }
