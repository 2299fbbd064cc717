"""``palace cold``."""

from __future__ import annotations

from typing import Annotated

import typer

from memory_palace.changes.cold_zone import (
    archive_note,
    find_leaks,
    fix_leaks,
    restore_note,
    undo_last,
)  # fmt: skip
from memory_palace.cli.changes import AllowUncommitted, Apply, show_outcome
from memory_palace.cli.options import SCHEMA, Json, open_palace
from memory_palace.cli.printing import print_json
from memory_palace.errors import CheckFailedError
from memory_palace.graph.blindness import Leak
from memory_palace.language.visible import visible

app = typer.Typer(no_args_is_help=True, help="The cold zone: palace/archive_basement.")
Note = Annotated[str, typer.Argument(help="Path, stem, title or alias of a note.")]


@app.command("check")
def check_cold(ctx: typer.Context, as_json: Json = False) -> None:
    """Prove that no cold path is in manifest, index, graph or a test query; exit 8 if one is.

    Example: palace cold check
    """
    _report(find_leaks(open_palace(ctx)), as_json=as_json)


@app.command("fix")
def fix_cold(ctx: typer.Context, as_json: Json = False) -> None:
    """Take cold lines out of the manifest, build the index again, and check.

    Example: palace cold fix
    """
    palace = open_palace(ctx)
    fix_leaks(palace)
    _report(find_leaks(palace), as_json=as_json)


@app.command("archive")
def archive(
    ctx: typer.Context, note: Note, apply: Apply = False,
    allow_uncommitted: AllowUncommitted = False,
) -> None:  # fmt: skip
    """Move a note into the archive, where ordinary queries do not look.

    Example: palace cold archive "old radio plan" --apply
    """
    outcome = archive_note(open_palace(ctx), note, apply=apply, allow_uncommitted=allow_uncommitted)
    show_outcome(outcome, as_json=False)


@app.command("restore")
def restore(
    ctx: typer.Context, note: Note, apply: Apply = False,
    allow_uncommitted: AllowUncommitted = False,
) -> None:  # fmt: skip
    """Bring an archived note back to where it was.

    Example: palace cold restore "old radio plan" --apply
    """
    outcome = restore_note(open_palace(ctx), note, apply=apply, allow_uncommitted=allow_uncommitted)
    show_outcome(outcome, as_json=False)


@app.command("undo")
def undo(ctx: typer.Context, apply: Apply = False) -> None:
    """Take the last archive or restore back.

    Example: palace cold undo --apply
    """
    show_outcome(undo_last(open_palace(ctx), apply=apply), as_json=False)


def _report(leaks: list[Leak], *, as_json: bool) -> None:
    if as_json:
        records = [{"where": k.where, "path": k.path, "detail": k.detail} for k in leaks]
        print_json({"schema": SCHEMA, "leaks": records})
    else:
        for leak in leaks:
            print(visible(str(leak)))
        if not leaks:
            print("no cold path in manifest, index, graph or a test query")
    if leaks:
        raise CheckFailedError(f"{len(leaks)} cold paths leak; run `palace cold fix`")
