"""``palace show``."""

from __future__ import annotations

import re
from typing import Annotated

import typer

from memory_palace.cli.options import SCHEMA, IncludeCold, Json, open_palace
from memory_palace.cli.printing import print_json
from memory_palace.language.visible import visible

_LINES = re.compile(r"(.+?):(\d+)(?:-(\d+))?")


def show_note(
    ctx: typer.Context,
    note: Annotated[str, typer.Argument(help="Path, stem, title or alias; :10 or :10-20 cuts.")],
    include_cold: IncludeCold = False,
    as_json: Json = False,
) -> None:
    """Print a note, or some of its lines.

    Example: palace show "control_panel:1-20"
    """
    match = _LINES.fullmatch(note)
    name = match[1] if match else note
    first = int(match[2]) if match else None
    last = int(match[3] or match[2]) if match else None
    shown = open_palace(ctx).read(name, first_line=first, last_line=last, include_cold=include_cold)
    if not as_json:
        print(visible(shown.text))
        return
    print_json(
        {
            "schema": SCHEMA,
            "path": shown.path,
            "line": shown.first_line,
            "last_line": shown.last_line,
            "total_lines": shown.total_lines,
            "text": shown.text,
        }
    )
