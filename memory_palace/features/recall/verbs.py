"""``palace recall``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from memory_palace.cli.group import Group, fields_of
from memory_palace.cli.options import read_text
from memory_palace.errors import UsageError
from memory_palace.features.recall.shown import RecallShown
from memory_palace.palace import Palace
from memory_palace.query import Query

verbs = Group()


@verbs.verb("recall")
def recall(
    palace: Palace,
    text: Annotated[
        list[str] | None, Argument(help="What was said; without it, or with -, from stdin.")
    ] = None,
    context: Annotated[
        Path | None,
        Option(
            "--context", metavar="FILE", help="The turns before, one a line, the last one last."
        ),
    ] = None,
    budget: Annotated[
        int, Option("--budget", min=1, help="Maximum size of what is printed, in UTF-8 bytes.")
    ] = 1500,
    asked: Query = fields_of(Query, "as_of"),
) -> RecallShown:
    """Say what the notes have on what was just said, or nothing where it refers to none of them.

    Whole sentences of several notes, with place and day of each, within the budget. Small talk
    gets no answer, and an empty answer exits 0 as well.

    Example: palace recall the rain gauge is stuck again
    """
    said, turns = read_text(text), () if context is None else _read_turns(context)
    return RecallShown.of(
        palace.recall(said, context=turns, budget_bytes=budget, as_of=asked.as_of)
    )


def _read_turns(file: Path) -> Sequence[str]:
    """Return the turns in a file: one a line, as plain text or as JSON.

    Of a JSON object the first of ``text``, ``content``, ``message`` and ``prompt`` that is text
    counts; one without is left out. Raise ``UsageError`` where the file cannot be read.
    """
    try:
        lines = file.read_text("utf-8", errors="replace").splitlines()
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror}") from error
    return [turn for line in lines if (turn := _read_turn(line.strip()))]


def _read_turn(line: str) -> str:
    if not line.startswith("{"):
        return line
    try:
        record = json.loads(line)
    except ValueError:
        return line
    values = (record.get(key) for key in ("text", "content", "message", "prompt"))
    return next((value.strip() for value in values if isinstance(value, str)), "")
