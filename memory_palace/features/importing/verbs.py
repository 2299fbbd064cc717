"""``palace import``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, get_args

from typer import Argument, Context, Option

from memory_palace.cli.options import Apply, Json, completed, folders_below, open_palace
from memory_palace.cli.progress import progress_line
from memory_palace.errors import PalaceError
from memory_palace.features.importing.detection import FORMATS
from memory_palace.features.importing.items import Fate, ImportReport
from memory_palace.features.importing.run import AUTO
from memory_palace.palace import Palace
from memory_palace.shown import plural, print_answer, say, to_record

_STOPPED = "stopped; what is written is kept, and the same command goes on from there"
_FATES: dict[Fate, str] = {
    "new": "new",
    "grown": "with more",
    "present": "there already",
    "changed": "changed at its source, left",
    "edited": "edited here, left",
    "gone": "gone from here, left out",
}
_MOST_LISTED = 10


def import_file(
    ctx: Context,
    path: Annotated[str, Argument(help="An export: its file, its .zip, or its folder.")],
    source: Annotated[
        str, Option("--from", help=f"{AUTO}, {', '.join(FORMATS)}.", metavar="FORMAT")
    ] = AUTO,
    room: Annotated[
        str | None,
        Option("--room", help="Room, or a folder in one.", autocompletion=completed("rooms")),
    ] = None,
    folder: Annotated[
        str | None,
        Option("--in", help="Any folder of the notes.", autocompletion=completed("folders")),
    ] = None,
    apply: Apply = False,
    as_json: Json = False,
) -> None:
    """Import conversations and notes of another program. Shows what would be written.

    A second import brings only what is new. What you edited stays, what you deleted stays away.

    Example: palace import ~/Downloads/conversations.json --from claude
    """
    palace = open_palace(ctx)
    folders = folders_below(palace, [folder] if folder is not None else None)
    with progress_line(stopped=_STOPPED) as advance:
        report = palace.import_export(
            Path(path).expanduser(),
            source=source,
            room=room,
            folder=folders[0] if folders else None,
            apply=apply,
            progress=advance,
        )
    remark = _index(palace) if apply and _is_written(report) else ""
    print_answer(_record(report, remark), _lines(report), as_json=as_json)
    _say_remarks(report, remark)


def _say_remarks(report: ImportReport, remark: str) -> None:
    for broken in report.read.broken[:_MOST_LISTED]:
        say(f"{broken.file}, {broken.position}: {broken.reason}")
    for one in report.withheld[:_MOST_LISTED]:
        turn = f", turn {one.turn}" if one.turn else ""
        line = f", line {one.line}" if one.line else ""
        say(f"“{one.title}”{turn}{line}: {one.why}")
    if remark:
        say(remark)
    if not report.is_applied and _is_written(report):
        say("nothing was written; add --apply")


def _is_written(report: ImportReport) -> bool:
    return bool(report.fates["new"] or report.fates["grown"])


def _index(palace: Palace) -> str:
    """Index what was imported; return why that could not be, where it could not."""
    stopped = "stopped; the notes are imported, and `palace index` goes on from there"
    try:
        with progress_line(stopped=stopped) as advance:
            palace.index(takes_up=False, wait_seconds=10.0, progress=advance)
    except (PalaceError, OSError) as error:
        return f"the notes are imported, but the index is behind them: {error}"
    return ""


def _lines(report: ImportReport) -> Iterator[str]:
    written = "written to" if report.is_applied else "would be written to"
    size = f"{report.written_bytes / 1e6:.1f} MB"
    turns = f"{plural(report.turns, 'turn')}, " if report.turns else ""
    yield f"{report.source}: {turns}{size} {written} {report.folder}/"
    counts = (f"{report.fates[f]:,} {_FATES[f]}" for f in get_args(Fate) if report.fates[f])
    yield "; ".join(counts) or "nothing to import"
    for seen in report.seen[:_MOST_LISTED]:
        yield f"{_FATES[seen.fate]}: {seen.path}"
    if len(report.seen) > _MOST_LISTED:
        more = sum(n for fate, n in report.fates.items() if fate != "present") - _MOST_LISTED
        yield f"and {more:,} more"
    left_out = report.read.dropped.most_common()
    dropped = ", ".join(f"{count:,} {kind}" for kind, count in left_out if count)
    if dropped:
        yield f"left out: {dropped}"
    if report.withheld_count:
        yield f"not to be indexed: {plural(report.withheld_count, 'secret or private passage')}"
    if report.read.broken:
        yield f"not read: {plural(len(report.read.broken), 'entry')}"


def _record(report: ImportReport, remark: str) -> dict[str, Any]:
    return {
        "format": report.source,
        "folder": report.folder,
        "applied": report.is_applied,
        "counts": {fate: report.fates[fate] for fate in get_args(Fate)},
        "turns": report.turns,
        "bytes": report.written_bytes,
        "notes": to_record(report.seen),
        "left_out": {kind: count for kind, count in report.read.dropped.items() if count},
        "withheld": to_record(report.withheld),
        "withheld_count": report.withheld_count,
        "broken": to_record(report.read.broken),
        "remark": remark or None,
    }
