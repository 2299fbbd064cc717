"""``palace view``."""

from __future__ import annotations

import webbrowser
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from typer import Option

from memory_palace.cli.group import Group, IncludeCold, Json
from memory_palace.errors import UsageError
from memory_palace.features.view.page import ViewReport
from memory_palace.palace import Palace
from memory_palace.shown import open_path, say

verbs = Group()


@verbs.verb("view")
def view(
    palace: Palace,
    out: Annotated[
        Path | None,
        Option("--out", metavar="FILE", help="Write the page here, not beside the index."),
    ] = None,
    opens: Annotated[bool, Option("--open", help="Open the page in the browser.")] = False,
    include_cold: IncludeCold = False,
    new_plan: Annotated[
        bool, Option("--new-plan", help="Lay the plan out anew; notes lose their places.")
    ] = False,
    live: Annotated[
        bool,
        Option("--live", help="Serve the page here, with search by meaning, and follow notes."),
    ] = False,
    port: Annotated[
        int, Option("--port", min=0, max=65535, help="Port of --live; 0 takes a free one.")
    ] = 0,
    as_json: Json = False,
) -> Iterator[ViewReport]:
    """Draw the palace as a plan, in one HTML file that needs no network.

    Notes keep their places from one plan to the next. Nothing private is on it; archived notes are
    only counted, unless they are asked for. Example: palace view --open
    """
    if live:
        _refuse("--live", {"--out": out is not None, "--new-plan": new_plan, "--json": as_json})
        from memory_palace.features.view.live import serve_page  # delayed: few want a server

        serve_page(palace, include_cold=include_cold, port=port, opens=opens)
        return
    _refuse("a page in a file", {"--port": port != 0}, hint="; it is for --live")
    report = palace.view(out, include_cold=include_cold, new_plan=new_plan)
    freshness = palace.check_freshness(palace.paths, palace.config, palace.snapshot())
    yield replace(report, behind=freshness.behind)
    if opens and not webbrowser.open(report.file.resolve().as_uri()):
        say(f"no browser could be started; open {open_path(report.file.resolve())} yourself")


def _refuse(what: str, given: Mapping[str, bool], *, hint: str = "") -> None:
    """Raise ``UsageError`` for options that were given and do nothing here."""
    named = [option for option, is_given in given.items() if is_given]
    if named:
        raise UsageError(f"{what} does not take {' or '.join(named)}{hint}")
