"""``palace show``."""

from __future__ import annotations

from typing import Annotated

from typer import Argument, Context

from memory_palace.cli.options import IncludeCold, Json, completed, note_below, open_palace
from memory_palace.cli.printing import print_answer, to_record
from memory_palace.notes.excerpt import split_line_range


def show_note(
    ctx: Context,
    note: Annotated[
        str,
        Argument(
            help="Path, file name, slug, title or alias; add :10 or :10-20 for lines.",
            autocompletion=completed("notes"),
        ),
    ],
    include_cold: IncludeCold = False,
    as_json: Json = False,
) -> None:
    """Print a note, or some of its lines.

    Example: palace show "control_panel:1-20"
    """
    palace = open_palace(ctx)
    name, first, last = split_line_range(note_below(palace, note))
    shown = palace.read(name, first_line=first, last_line=last, include_cold=include_cold)
    print_answer(to_record(shown), [shown.text], as_json=as_json)
