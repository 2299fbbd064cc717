"""How a change of notes is shown, by every verb that makes one."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import typer

from memory_palace.changes.changing import Outcome
from memory_palace.cli.options import SCHEMA
from memory_palace.cli.printing import print_json, say
from memory_palace.language.visible import visible

Apply: TypeAlias = Annotated[
    bool, typer.Option("--apply", help="Do it; without this it is only shown.")
]
AllowUncommitted: TypeAlias = Annotated[
    bool, typer.Option("--allow-uncommitted", help="Also change notes with edits not in git.")
]


def show_outcome(outcome: Outcome, *, as_json: bool) -> None:
    """Print the diff, and on stderr what became of it."""
    if as_json:
        print_json(
            {
                "schema": SCHEMA,
                "applied": outcome.identity is not None,
                "id": outcome.identity,
                "reason": outcome.reason,
                "paths": list(outcome.paths),
                "diff": outcome.diff,
            }
        )
    else:
        print(visible(outcome.diff), end="")
    if not outcome.diff:
        say("there is nothing to change")
    elif outcome.identity is None:
        say("nothing was changed; add --apply")
    if outcome.remark:
        say(outcome.remark)
