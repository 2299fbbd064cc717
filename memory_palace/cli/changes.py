"""How a change of notes is shown, by every verb that makes one."""

from __future__ import annotations

from typing import Any

from memory_palace.changes.changing import Outcome
from memory_palace.cli.printing import print_answer, say


def show_change(change: Outcome, *, as_json: bool, **more: Any) -> None:
    """Print the diff, and on stderr what became of it; ``more`` are further keys of the record."""
    shown = [change.diff.removesuffix("\n")] if change.diff else []
    print_answer(change_record(change) | more, shown, as_json=as_json)
    if not change.diff:
        say("there is nothing to change")
    elif change.identity is None:
        say("nothing was changed; add --apply")
    if change.remark:
        say(change.remark)


def change_record(change: Outcome) -> dict[str, Any]:
    """Return a change as JSON has it."""
    return {
        "applied": change.identity is not None,
        "id": change.identity,
        "reason": change.reason,
        "paths": list(change.paths),
        "diff": change.diff,
        "remark": change.remark or None,
    }
