"""``palace recall``."""

from __future__ import annotations

from typing import Annotated

from typer import Argument, Option

from memory_palace.cli.group import Group, fields_of, read_text
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
    found = palace.recall(read_text(text), budget_bytes=budget, as_of=asked.as_of)
    return RecallShown.of(found)
