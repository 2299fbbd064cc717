"""``palace map``."""

from __future__ import annotations

import typer

from memory_palace.cli.changes import AllowUncommitted, Apply, show_outcome
from memory_palace.cli.options import Json, open_palace
from memory_palace.workflow.map import draw_map


def map_palace(
    ctx: typer.Context,
    apply: Apply = False,
    allow_uncommitted: AllowUncommitted = False,
    as_json: Json = False,
) -> None:
    """Write rooms, work, insights and health into the control panel, between two marks.

    What stands around the marks is yours and stays. Take it back with palace metabolism undo.
    Example: palace map --apply
    """
    outcome = draw_map(open_palace(ctx), apply=apply, allow_uncommitted=allow_uncommitted)
    show_outcome(outcome, as_json=as_json)
