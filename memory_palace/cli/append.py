"""``palace append``."""

from __future__ import annotations

from typing import Annotated

from typer import Argument, Context, Option

from memory_palace.cli.options import Json, Note, note_below, open_palace, read_text
from memory_palace.cli.printing import print_answer, say


def append_text(
    ctx: Context,
    note: Note,
    text: Annotated[
        list[str] | None, Argument(help="What to add; without it, or with -, from stdin.")
    ] = None,
    under: Annotated[
        str | None, Option("--under", help="Heading to add it under; made where it is missing.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Add text at the end of a note, or of one of its sections, and print where it stands.

    It is done and indexed at once; every other byte of the note stays. Lines with secrets are left
    out.

    Example: palace append constitution "Ask before the river path." --under Rules
    """
    palace = open_palace(ctx)
    done = palace.append(note_below(palace, note), read_text(text), under=under)
    record = {
        "path": done.path,
        "line": done.line,
        "last_line": done.last_line,
        "made": done.made,
        "indexed": done.is_indexed,
        "remark": done.remark or None,
        "withheld": [{"line": one.line, "why": one.message} for one in done.withheld],
    }
    print_answer(record, [f"{done.path}:{done.line}"], as_json=as_json)
    if done.made is not None:
        say(f"there was no heading {done.made!r}; it was made")
    for problem in done.withheld:
        say(f"line {problem.line} was not written: {problem.message}")
    if done.remark:
        say(done.remark)
