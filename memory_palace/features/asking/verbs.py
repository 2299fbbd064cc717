"""``palace query``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from typer import Argument, Context, Option

from memory_palace.cli.options import (
    AsOf,
    Budget,
    Folder,
    IncludeCold,
    Json,
    Limit,
    PriorityName,
    Rerank,
    Room,
    Since,
    Tagged,
    Type,
    Until,
    When,
    check_cold,
    completed,
    folders_below,
    open_palace,
)
from memory_palace.errors import UsageError
from memory_palace.features.asking.answering import choose_format, give_answer
from memory_palace.ranking import SHIPPED

Store = Annotated[
    str | None,
    Option(
        "--store", metavar="NAME|ADDRESS", help="Ask a palace in PostgreSQL instead of a folder."
    ),
]
Details = Annotated[bool, Option("--details", help="Show how each score was made.")]
Neighbors = Annotated[
    int | None,
    Option("--neighbors", min=0, help="Linked notes to show after each hit, with their text."),
]
Profile = Annotated[
    str | None,
    Option(
        "--profile",
        help=f"How to rank: {', '.join(SHIPPED)}, structured, or a profile of the settings.",
        autocompletion=completed("profiles"),
    ),
]
Mode = Annotated[
    Literal["vector", "lexical"],
    Option("--mode", help="lexical compares words and facts only, without a model."),
]
Format = Annotated[
    Literal["text", "json", "jsonl", "tsv", "paths", "markdown"] | None,
    Option("--format", help="How to print the answer; --json is short for --format json."),
]
MinConfidence = Annotated[
    float | None,
    Option(
        "--min-confidence",
        min=0.0,
        max=1.0,
        help="Leave out hits below this confidence; 0 leaves out none.",
    ),
]

LINKED = 2
"""Linked notes per hit whose titles are shown, where ``--neighbors`` does not say."""
_SAME = "type priority room since until when include_cold as_of min_confidence rerank"
_ASKED = {name: name for name in _SAME.split()} | {
    "top_k": "limit",
    "tag": "tags",
    "budget": "budget_bytes",
}
"""Options that go to ``Palace.query`` as they are, and what it calls them."""


def query_notes(
    ctx: Context,
    text: Annotated[list[str] | None, Argument(help="The question.")] = None,
    top_k: Limit = 5,
    type: Type = None,
    priority: PriorityName = None,
    room: Room = None,
    folder: Folder = None,
    tag: Tagged = None,
    since: Since = None,
    until: Until = None,
    when: When = None,
    details: Details = False,
    raw: Annotated[bool, Option("--raw", help="Short for --profile raw.")] = False,
    include_cold: IncludeCold = False,
    neighbors: Neighbors = None,
    profile: Profile = None,
    mode: Mode = "vector",
    as_of: AsOf = None,
    budget: Budget = None,
    min_confidence: MinConfidence = None,
    rerank: Rerank = None,
    full: Annotated[bool, Option("--full", help="Print whole passages.")] = False,
    format: Format = None,
    store: Store = None,
    as_json: Json = False,
) -> None:
    """Find the notes that answer TEXT; without TEXT, list those that match the filters.

    Example: palace query why did we drop MQTT --details
    """
    _answer(ctx, " ".join(text or ()))


def _answer(ctx: Context, text: str) -> None:
    asked = _question(ctx.params)
    if ctx.params["store"] is not None:
        from memory_palace.features.store.verbs import ask_store  # delayed: few ask a server

        result, unknown = ask_store(text, asked, ctx.params)
        give_answer(None, result, ctx.params, unknown)
        return
    palace = open_palace(ctx)
    folders = folders_below(palace, ctx.params["folder"])
    check_cold(palace.paths.rooms, ctx.params, folders)
    give_answer(palace, palace.query(text, **asked, folder=folders), ctx.params)


def _question(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return what ``Palace.query`` takes of the options."""
    asked = {name: given[option] for option, name in _ASKED.items()}
    asked["profile"] = _choose_profile(given["profile"], raw=given["raw"])
    asked["lexical"] = given["mode"] == "lexical"
    form = choose_format(given["format"], as_json=given["as_json"])
    linked = LINKED if form == "text" or (form == "json" and given["details"]) else 0
    asked["neighbors"] = linked if given["neighbors"] is None else given["neighbors"]
    return asked


def _choose_profile(profile: str | None, *, raw: bool) -> str | None:
    if raw and profile not in (None, "raw"):
        raise UsageError(f"--raw contradicts --profile {profile}; give one of them")
    return "raw" if raw else profile
