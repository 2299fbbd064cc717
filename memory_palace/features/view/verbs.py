"""``palace view``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated

from typer import Context, Option

from memory_palace.cli.options import IncludeCold, Json, open_palace
from memory_palace.errors import UsageError
from memory_palace.features.view.values import ViewOptions
from memory_palace.features.view.writing import ViewReport, write_view
from memory_palace.palace import Palace
from memory_palace.shown import plural, print_answer, say, say_behind, to_record

_Out = Annotated[
    Path | None,
    Option("--out", metavar="FILE", help="Write the page here, not beside the index."),
]


def view_palace(
    ctx: Context,
    out: _Out = None,
    opens: Annotated[bool, Option("--open", help="Open the page in the browser.")] = False,
    include_cold: IncludeCold = False,
    relayout: Annotated[
        bool, Option("--relayout", help="Lay the plan out anew; notes lose their places.")
    ] = False,
    live: Annotated[
        bool,
        Option("--live", help="Serve the page here, with search by meaning, and follow notes."),
    ] = False,
    port: Annotated[
        int, Option("--port", min=0, max=65535, help="Port of --live; 0 takes a free one.")
    ] = 0,
    as_json: Json = False,
) -> None:
    """Draw the palace as a plan, in one HTML file that needs no network.

    Notes keep their places from one plan to the next. Nothing private is on it; archived notes are
    only counted, unless they are asked for. Example: palace view --open
    """
    palace, options = open_palace(ctx), ViewOptions(include_cold, relayout)
    if not live:
        _refuse("a page in a file", {"--port": port != 0}, hint="; it is for --live")
        _write(palace, options, out, opens=opens, as_json=as_json)
        return
    _refuse("--live", {"--out": out is not None, "--relayout": relayout, "--json": as_json})
    from memory_palace.features.view.live import serve_page  # delayed: few want a server

    serve_page(palace, options, port=port, opens=opens)


def _write(
    palace: Palace, options: ViewOptions, out: Path | None, *, opens: bool, as_json: bool
) -> None:
    report = write_view(palace, options, out=out.expanduser() if out else None)
    record = to_record(report) | {"file": str(report.file), "remarks": list(report.remarks)}
    print_answer(record, _lines(report), as_json=as_json)
    freshness = palace.check_freshness(palace.paths, palace.config, palace.snapshot())
    for remark in report.remarks:
        say(remark)
    if freshness.behind:
        say(say_behind(freshness.behind))
    if opens:
        _open(report.file)


def _refuse(what: str, given: Mapping[str, bool], *, hint: str = "") -> None:
    """Raise ``UsageError`` for options that were given and do nothing here."""
    named = [option for option, is_given in given.items() if is_given]
    if named:
        raise UsageError(f"{what} does not take {' or '.join(named)}{hint}")


def _lines(report: ViewReport) -> Iterator[str]:
    size, limit = _megabytes(report.size_bytes), _megabytes(report.limit_bytes)
    yield f"page       {_shown(report.file)}, {size} of at most {limit}"
    groups = f", {plural(report.districts, 'district')}" if report.districts > report.rooms else ""
    yield f"notes      {report.notes:,} in {plural(report.rooms, 'room')}{groups}"
    if report.text_amount == "first paragraphs":
        yield "text       first paragraphs only: whole notes would be more than 20 MB"
    if report.locked:
        yield f"archived   {report.locked:,} locked; --include-cold shows them"
    elif report.cold:
        yield f"archived   {report.cold:,} shown"


def _open(file: Path) -> None:
    import webbrowser  # delayed: only --open needs it

    if not webbrowser.open(file.resolve().as_uri()):
        say(f"no browser could be started; open {_shown(file)} yourself")


def _shown(file: Path) -> str:
    """Return a path as it is seen from the working folder."""
    whole = file.resolve()
    here = Path.cwd()
    return str(whole.relative_to(here) if whole.is_relative_to(here) else whole)


def _megabytes(count: int) -> str:
    return f"{count / 1e6:.1f} MB" if count >= 1e6 else f"{count / 1e3:,.0f} kB"
