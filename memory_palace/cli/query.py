"""``palace query``."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal

from typer import Argument, Context, Exit, Option

from memory_palace.cli.answers import answer_record, arrange, hit_records, write_lines
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
from memory_palace.cli.printing import ANSWERS, print_answer, say, say_behind
from memory_palace.errors import IndexLockedError, MissingPartError, UsageError
from memory_palace.models import QueryResult
from memory_palace.palace import Palace
from memory_palace.ranking import SHIPPED
from memory_palace.retrieval.whole_passages import full_texts

Details = Annotated[bool, Option("--details", help="Show how each score was made.")]
NoGate = Annotated[bool, Option("--no-gate", help="Let recency and priority count for every note.")]
Neighbors = Annotated[
    int | None,
    Option("--neighbors", min=0, help="Linked notes to show after each hit, with their text."),
]
Profile = Annotated[
    str | None,
    Option(
        "--profile",
        help=f"How to rank: {', '.join(SHIPPED)}, or a profile of the settings.",
        autocompletion=completed("profiles"),
    ),
]
Mode = Annotated[
    Literal["vector", "lexical"],
    Option("--mode", help="lexical compares words and facts only, without a model."),
]
Refresh = Annotated[bool, Option("--refresh", help="Index changed notes before asking.")]
Format = Annotated[
    Literal["text", "json", "jsonl", "tsv", "paths", "markdown"] | None,
    Option("--format", help="How to print the answer; --json is short for --format json."),
]
Open = Annotated[
    int | None,
    Option("--open", min=1, metavar="[N]", help="Open the first hit, or hit N, in $EDITOR."),
]
Interactive = Annotated[
    bool, Option("-i", "--interactive", help="Search as you type, with a preview.")
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
ExitStatus = Annotated[
    bool, Option("--exit-status", help="Exit 1 where nothing answers, as grep does.")
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
    text: Annotated[
        list[str] | None, Argument(help="The question.", autocompletion=completed("question"))
    ] = None,
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
    no_gate: NoGate = False,
    include_cold: IncludeCold = False,
    neighbors: Neighbors = None,
    profile: Profile = None,
    mode: Mode = "vector",
    as_of: AsOf = None,
    budget: Budget = None,
    min_confidence: MinConfidence = None,
    rerank: Rerank = None,
    exit_status: ExitStatus = False,
    refresh: Refresh = False,
    full: Annotated[bool, Option("--full", help="Print whole passages.")] = False,
    format: Format = None,
    open_number: Open = None,
    interactive: Interactive = False,
    as_json: Json = False,
) -> None:
    """Find the notes that answer TEXT; without TEXT, list those that match the filters.

    Example: palace query why did we drop MQTT --details
    """
    palace = _open(ctx, refresh=refresh)
    folders = folders_below(palace, folder)
    check_cold(palace, ctx.params, folders)
    asked = {**_question(ctx.params), "folder": folders}
    if interactive:
        _search_as_typed(palace, " ".join(text or ()), asked)
    else:
        _answer(palace, " ".join(text or ()), asked, ctx.params)


def _answer(palace: Palace, text: str, asked: Mapping[str, Any], given: Mapping[str, Any]) -> None:
    """Ask once, and print or open what is found."""
    form = _choose_format(given["format"], as_json=given["as_json"])
    include_cold = given["include_cold"]
    result = palace.query(text, **asked)
    texts = None
    if given["full"]:
        snapshot = palace.snapshot(include_cold=include_cold)
        texts = full_texts(result.hits, snapshot, palace.paths, max_bytes=given["budget"])
    if not result.is_answered:
        near = f"nothing here answers that; the nearest is {result[0].title}" if result else ""
        say(near or "nothing found")
    remarks = list(_remark(palace, result, include_cold=include_cold))
    if given["open_number"] is not None:
        _open_hit(palace, result, given["open_number"])
    elif form == "json":
        record = answer_record(result, texts, details=given["details"])
        print_answer(record, as_json=True, schema=ANSWERS)
    else:
        _show(palace, result, texts, form, given, remarks)
    for remark in remarks:
        say(remark)
    sys.stderr.flush()
    if given["exit_status"] and not result.is_answered:
        raise Exit(1)


def _question(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return what ``Palace.query`` takes of the options."""
    asked = {name: given[option] for option, name in _ASKED.items()}
    asked["profile"] = _choose_profile(given["profile"], raw=given["raw"])
    asked["lexical"] = given["mode"] == "lexical"
    asked["gate"] = not given["no_gate"]
    form = _choose_format(given["format"], as_json=given["as_json"])
    linked = LINKED if form == "text" or (form == "json" and given["details"]) else 0
    asked["neighbors"] = linked if given["neighbors"] is None else given["neighbors"]
    return asked


def _choose_format(format: str | None, *, as_json: bool) -> str:
    if as_json and format not in (None, "json"):
        raise UsageError(f"--json contradicts --format {format}; give one of them")
    return "json" if as_json else format or "text"


def _choose_profile(profile: str | None, *, raw: bool) -> str | None:
    if raw and profile not in (None, "raw"):
        raise UsageError(f"--raw contradicts --profile {profile}; give one of them")
    return "raw" if raw else profile


def _open(ctx: Context, *, refresh: bool) -> Palace:
    palace = open_palace(ctx)
    if not refresh:
        return palace
    try:
        report = palace.index(takes_up=False)
    except IndexLockedError as error:
        say(f"not refreshed: {error}")
        return palace
    for problem in report.problems:
        say(str(problem))
    return palace


def _show(
    palace: Palace,
    result: QueryResult,
    texts: Sequence[str] | None,
    form: str,
    given: Mapping[str, Any],
    remarks: list[str],
) -> None:
    """Print an answer in any format but JSON; the remarks will follow it, one may be added."""
    if form == "text" and not result.is_answered and len(result) > 1:
        remarks.append("--min-confidence 0 shows what else was found")
        result, texts = replace(result, hits=result.hits[:1]), texts and texts[:1]
    neighbors = bool(given["neighbors"])
    root, details = palace.paths.root, given["details"] and form == "text"
    shown = arrange(root, result, texts, details=details, neighbors=neighbors)
    if form == "text" and sys.stdout.isatty():
        from memory_palace.cli.screen import show_answer  # delayed: a pipe needs no rich

        show_answer(shown, result.text, remarks if sys.stderr.isatty() else (), os.environ)
        return
    lines = write_lines(shown)
    if form != "text":
        from memory_palace.cli.formats import FORMATS  # delayed: only what asks for one pays

        records = hit_records(result, texts, details=given["details"] or form == "tsv")
        lines = FORMATS[form](records, shown.entries)
    for line in lines:
        print(line)


def _open_hit(palace: Palace, result: QueryResult, number: int) -> None:
    from memory_palace.cli.opening import open_hit  # delayed: only what opens one pays

    if result.hits:
        open_hit(palace, arrange(palace.paths.root, result), number, os.environ)


def _search_as_typed(palace: Palace, text: str, asked: Mapping[str, Any]) -> None:
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError("-i needs a terminal; without it the answer is printed")
    try:
        from memory_palace.cli.interactive import InteractiveSearch, take_tools
    except ModuleNotFoundError as error:
        from memory_palace.libraries import install_command  # delayed: few questions need it

        raise MissingPartError(
            f"-i needs prompt_toolkit; run `{install_command('interactive')}`"
        ) from error
    InteractiveSearch(take_tools(palace, asked, os.environ), text).run()


def _remark(palace: Palace, result: QueryResult, *, include_cold: bool) -> Iterator[str]:
    """Yield what a reader of the answer should know besides; it is said on stderr."""
    yield from _remark_words(palace, result)
    if result.mode == "lexical":
        yield f"mode: lexical; {_why_lexical(palace)}"
    if result.freshness == "stale":
        yield f"{say_behind(result.behind)}, or ask with --refresh"
    elif result.freshness == "unchecked":
        yield "freshness: unchecked"
    if palace.config.cold_hint and not include_cold and result.mode == "vector":
        better = palace.query(result.text, limit=1, include_cold=True, profile="raw", neighbors=0)
        best = max((hit.contributions[0].value for hit in result.hits), default=0.0)
        if better and better[0].note.is_cold and better[0].score > best:
            yield "the cold zone holds a better match; ask with --include-cold"


def _remark_words(palace: Palace, result: QueryResult) -> Iterator[str]:
    """Yield what of the question was meant to narrow the answer and could not."""
    for quote in result.unmatched_quotes:
        yield f'no note holds "{quote}"; its words were searched one by one'
    if "#" in result.text:
        from memory_palace.retrieval.question import find_unknown_tags  # delayed: few have any

        for tag in find_unknown_tags(result.text, palace.snapshot()):
            yield f"no note has the tag #{tag}; it was searched as a word"


def _why_lexical(palace: Palace) -> str:
    if palace.snapshot().commit.dimension:
        return "words and facts only, as requested"
    awaited = palace.awaited_model()
    if awaited is None:
        return f"the index was made with `--embedder {palace.snapshot().commit.embedder}`"
    if awaited.is_ready:
        return f"{awaited.name} is here now; `palace index` makes vectors with it"
    return f"run `palace models fetch {awaited.name}`, then `palace index`"
