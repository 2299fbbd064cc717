"""``palace recall``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Context, Option

from memory_palace.cli.options import AsOf, Json, open_palace, read_text
from memory_palace.errors import UsageError
from memory_palace.models import Hit, Recollection
from memory_palace.shown import print_answer, say, say_behind, show_date

Turns = Annotated[
    str | None,
    Option("--context", metavar="FILE", help="The turns before, one a line, the last one last."),
]
Bytes = Annotated[
    int, Option("--budget", min=1, help="Maximum size of what is printed, in UTF-8 bytes.")
]


def recall_notes(
    ctx: Context,
    text: Annotated[
        list[str] | None, Argument(help="What was said; without it, or with -, from stdin.")
    ] = None,
    context: Turns = None,
    budget: Bytes = 1500,
    as_of: AsOf = None,
    as_json: Json = False,
) -> None:
    """Say what the notes have on what was just said, or nothing where it refers to none of them.

    Whole sentences of several notes, with place and day of each, within the budget. Small talk
    gets no answer, and an empty answer exits 0 as well.

    Example: palace recall the rain gauge is stuck again
    """
    palace = open_palace(ctx)
    said = read_text(text)
    turns = read_turns(Path(context)) if context is not None else ()
    found = palace.recall(said, context=turns, budget_bytes=budget, as_of=as_of)
    lines = found.text.split("\n") if found.text else ()
    print_answer(recollection_record(found), lines, as_json=as_json)
    if found.freshness == "stale":
        say(say_behind(found.behind))


def read_turns(file: Path) -> Sequence[str]:
    """Return the turns in a file: one a line, as plain text or as JSON.

    Of a JSON object the first of ``text``, ``content``, ``message`` and ``prompt`` that is text
    counts; one without is left out. Raise ``UsageError`` where the file cannot be read.
    """
    try:
        lines = file.read_text("utf-8", errors="replace").splitlines()
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror}") from error
    turns = (_read_turn(line.strip()) for line in lines)
    return [turn for turn in turns if turn]


def _read_turn(line: str) -> str:
    if not line.startswith("{"):
        return line
    try:
        record = json.loads(line)
    except ValueError:
        return line
    values = (record.get(key) for key in ("text", "content", "message", "prompt"))
    return next((value.strip() for value in values if isinstance(value, str)), "")


def recollection_record(found: Recollection) -> dict[str, Any]:
    """Return what JSON has of a recollection."""
    return {
        "spoken": found.spoken,
        "confidence": found.confidence,
        "text": found.text,
        "hits": [_hit_record(hit) for hit in found.hits],
        "mode": found.mode,
        "freshness": found.freshness,
    }


def _hit_record(hit: Hit) -> dict[str, Any]:
    own = (hit.chunk.first_line, hit.chunk.last_line) if hit.chunk else (1, 1)
    line, last_line = hit.text_lines or own
    source = {} if hit.note.date.day else {"date_source": hit.note.date.source}
    return {
        "path": hit.path,
        "line": line,
        "last_line": last_line,
        "title": hit.title,
        "date": show_date(hit.note.date.timestamp),
        **source,
        "text": hit.text,
    }
