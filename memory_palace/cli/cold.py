"""``palace cold``."""

from __future__ import annotations

from typer import Context, Typer

from memory_palace.cli.changes import show_change
from memory_palace.cli.options import AllowUncommitted, Apply, Json, Note, open_palace
from memory_palace.cli.printing import plural, print_answer, to_record
from memory_palace.errors import CheckFailedError
from memory_palace.palace import Palace

app = Typer(no_args_is_help=True, help="Archive notes, and keep the archive out of answers.")


@app.command("check")
def check_cold(ctx: Context, as_json: Json = False) -> None:
    """Check that no cold path is in manifest, index, graph or a test query; exit 8 if one is.

    Example: palace cold check
    """
    _check(open_palace(ctx), as_json=as_json)


@app.command("fix")
def fix_cold(ctx: Context, as_json: Json = False) -> None:
    """Remove cold lines from the manifest, rebuild the index, and check again.

    Example: palace cold fix
    """
    palace = open_palace(ctx)
    palace.cold_zone.fix()
    _check(palace, as_json=as_json)


@app.command("archive")
def archive(
    ctx: Context,
    note: Note,
    apply: Apply = False,
    allow_uncommitted: AllowUncommitted = False,
    as_json: Json = False,
) -> None:
    """Move a note into the archive, where ordinary queries do not look.

    Example: palace cold archive "old radio plan" --apply
    """
    zone = open_palace(ctx).cold_zone
    change = zone.archive(note, apply=apply, allow_uncommitted=allow_uncommitted)
    show_change(change, as_json=as_json)


@app.command("restore")
def restore(
    ctx: Context,
    note: Note,
    apply: Apply = False,
    allow_uncommitted: AllowUncommitted = False,
    as_json: Json = False,
) -> None:
    """Move an archived note back to where it was.

    Example: palace cold restore "old radio plan" --apply
    """
    zone = open_palace(ctx).cold_zone
    change = zone.restore(note, apply=apply, allow_uncommitted=allow_uncommitted)
    show_change(change, as_json=as_json)


def _check(palace: Palace, *, as_json: bool) -> None:
    leaks = palace.cold_zone.check()
    lines = list(map(str, leaks)) or ["no cold path in manifest, index, graph or a test query"]
    print_answer({"leaks": to_record(leaks)}, lines, as_json=as_json)
    if leaks:
        raise CheckFailedError(f"{plural(len(leaks), 'cold path')} leaked; run `palace cold fix`")
