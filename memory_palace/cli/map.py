"""``palace map``."""

from __future__ import annotations

from typer import Context

from memory_palace.cli.changes import show_change
from memory_palace.cli.options import AllowUncommitted, Apply, Json, open_palace


def map_palace(
    ctx: Context,
    apply: Apply = False,
    allow_uncommitted: AllowUncommitted = False,
    as_json: Json = False,
) -> None:
    """Write rooms, work, insights and health into the control panel, between two marks.

    The text around the marks is yours and stays as it is. `palace metabolism undo` takes the
    change back. Example: palace map --apply
    """
    change = open_palace(ctx).map(apply=apply, allow_uncommitted=allow_uncommitted)
    show_change(change, as_json=as_json)
