"""``palace query``."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Annotated, Any, Literal

from typer import Argument, Context, Option

from memory_palace.cli.options import (
    AsOf,
    Budget,
    IncludeCold,
    Json,
    Limit,
    PriorityName,
    Room,
    Since,
    Type,
    Until,
    open_palace,
)
from memory_palace.cli.printing import plural, print_answer, say, show_date, to_record
from memory_palace.errors import IndexLockedError, UsageError
from memory_palace.models import Hit, QueryResult
from memory_palace.palace import Palace
from memory_palace.retrieval.profiles import DEFAULT_PROFILE, PROFILES
from memory_palace.retrieval.search import fit_passages

Details = Annotated[bool, Option("--details", help="Show how each score was made.")]
NoGate = Annotated[bool, Option("--no-gate", help="Let recency and priority count for every note.")]
Neighbors = Annotated[int, Option("--neighbors", help="Linked notes to show after each hit.")]
Profile = Annotated[str | None, Option("--profile", help=f"How to rank: {', '.join(PROFILES)}.")]
Mode = Annotated[
    Literal["vector", "lexical"],
    Option("--mode", help="lexical compares words and facts only, without a model."),
]
Refresh = Annotated[bool, Option("--refresh", help="Index changed notes before asking.")]


def query_notes(
    ctx: Context,
    text: Annotated[list[str] | None, Argument(help="The question.")] = None,
    top_k: Limit = 5,
    type: Type = None,
    priority: PriorityName = None,
    room: Room = None,
    since: Since = None,
    until: Until = None,
    details: Details = False,
    raw: Annotated[bool, Option("--raw", help="Short for --profile raw.")] = False,
    no_gate: NoGate = False,
    include_cold: IncludeCold = False,
    neighbors: Neighbors = 2,
    profile: Profile = None,
    mode: Mode = "vector",
    as_of: AsOf = None,
    budget: Budget = None,
    refresh: Refresh = False,
    full: Annotated[bool, Option("--full", help="Print whole passages.")] = False,
    as_json: Json = False,
) -> None:
    """Find the notes that answer TEXT; without TEXT, list those that match the filters.

    Example: palace query why did we drop MQTT --details
    """
    palace = _open(ctx, refresh=refresh)
    result = palace.query(
        " ".join(text or ()),
        limit=top_k,
        type=type,
        priority=priority,
        room=room,
        since=since,
        until=until,
        profile=_choose_profile(profile, raw=raw),
        lexical=mode == "lexical",
        gate=not no_gate,
        include_cold=include_cold,
        neighbors=neighbors,
        as_of=as_of,
        budget_bytes=budget,
    )
    texts = _passages(palace, result, budget, include_cold=include_cold) if full else None
    _show(palace, result, texts, details=details, include_cold=include_cold, as_json=as_json)


def _choose_profile(profile: str | None, *, raw: bool) -> str:
    if raw and profile not in (None, "raw"):
        raise UsageError(f"--raw contradicts --profile {profile}; give one of them")
    return "raw" if raw else profile or DEFAULT_PROFILE


def _open(ctx: Context, *, refresh: bool) -> Palace:
    palace = open_palace(ctx)
    if not refresh:
        return palace
    try:
        report = palace.index()
    except IndexLockedError as error:
        say(f"not refreshed: {error}")
        return palace
    for problem in report.problems:
        say(str(problem))
    return palace


def _show(
    palace: Palace,
    result: QueryResult,
    texts: list[str] | None,
    *,
    details: bool,
    include_cold: bool,
    as_json: bool,
) -> None:
    print_answer(_record(result, texts), _lines(result, texts, details=details), as_json=as_json)
    _remark(palace, result, include_cold=include_cold)


def _passages(
    palace: Palace, result: QueryResult, budget: int | None, *, include_cold: bool
) -> list[str]:
    """Return the whole passage of each hit, as many bytes of them as the budget allows."""
    texts = []
    for hit in result:
        chunk, text = hit.chunk, ""
        if chunk is not None:
            first, last = chunk.first_line, chunk.last_line
            text = palace.read(
                hit.path, first_line=first, last_line=last, include_cold=include_cold
            ).text
        texts.append(text)
    return texts if budget is None else fit_passages(result.hits, texts, budget)


def _lines(result: QueryResult, texts: list[str] | None, *, details: bool) -> Iterator[str]:
    if details and result.gate:
        figures = ", ".join(f"{name} {value:g}" for name, value in result.gate.items())
        yield f"gate: clip(1 - (best - semantic) / width, 0, 1) with {figures}"
    if details and result.anchors:
        fired = ", ".join(map(str, result.anchors.fired)) or "no anchor"
        yield f"answered by {result.anchors.answered_by}: {fired}"
    for hit, text in zip(result, texts or [""] * len(result), strict=True):
        indent = "  " if hit.role == "core" else "     "
        arrow = "" if hit.role == "core" else "  -> "
        line = f":{hit.chunk.first_line}" if hit.chunk else ""
        above = hit.chunk.heading_path if hit.chunk else ()
        heading = " > ".join(dict.fromkeys((hit.title, *above)))
        folded = f"  (and {hit.folded} with the same passage)" if hit.folded else ""
        yield f"{arrow}{hit.path}{line}  {hit.score:.6f}  {heading}{folded}"
        yield from (f"{indent}disputed: {path}" for path in hit.disputed_in)
        if details:
            yield from (f"{indent}{row}" for row in _details(hit))
        body = text or hit.snippet
        yield from (f"{indent}{row}" for row in body.split("\n") if body)


def _details(hit: Hit) -> Iterator[str]:
    """Yield every part that adds something; ``--json`` has the silent ones as well."""
    for part in hit.contributions:
        if part.value:
            factors = f"{part.value:.6f} x {part.weight:.6f}"
            yield f"{part.signal:<12} {factors} = {part.contribution:.6f}"
    date = hit.note.date
    yield f"date {show_date(date.timestamp)} ({date.source}), priority {hit.note.priority}"


def _record(result: QueryResult, texts: list[str] | None) -> dict[str, Any]:
    return {
        "query": result.text,
        "profile": result.profile,
        "mode": result.mode,
        "embedder": result.embedder,
        "freshness": result.freshness,
        "behind": result.behind,
        "gate": dict(result.gate),
        **anchors_record(result),
        "hits": [
            _hit_record(hit) | ({"text": texts[place]} if texts is not None else {})
            for place, hit in enumerate(result)
        ],
    }


def anchors_record(result: QueryResult) -> dict[str, Any]:
    """Return which anchors fired and which way answered, ``None`` where no anchor was asked."""
    fired = result.anchors.fired if result.anchors else ()
    return {
        "answered_by": result.anchors.answered_by if result.anchors else None,
        "anchors": [{"anchor": a.display, "how": a.how, "strength": a.strength} for a in fired],
    }


def _hit_record(hit: Hit) -> dict[str, Any]:
    return {
        "role": hit.role,
        "path": hit.path,
        "line": hit.chunk.first_line if hit.chunk else None,
        "last_line": hit.chunk.last_line if hit.chunk else None,
        "title": hit.title,
        "headings": list(hit.chunk.heading_path) if hit.chunk else [],
        "type": hit.note.type,
        "priority": hit.note.priority,
        "date": show_date(hit.note.date.timestamp),
        "date_source": hit.note.date.source,
        "cold": hit.note.is_cold,
        "score": hit.score,
        "parts": to_record(hit.contributions),
        "snippet": hit.snippet,
        "linked_from": hit.linked_from,
        "same_passage": hit.folded,
        "disputed_in": list(hit.disputed_in),
    }


def _remark(palace: Palace, result: QueryResult, *, include_cold: bool) -> None:
    """Say on stderr what a reader of the answer should know."""
    if not result.hits:
        say("nothing found")
    if result.mode == "lexical":
        say(f"mode: lexical; {_why_lexical(palace)}")
    if result.freshness == "stale":
        verb = "differs" if result.behind == 1 else "differ"
        notes = plural(result.behind, "note")
        say(f"{notes} {verb} from the index; run `palace index`, or ask with --refresh")
    elif result.freshness == "unchecked":
        say("freshness: unchecked")
    if palace.config.cold_hint and not include_cold and result.mode == "vector":
        better = palace.query(result.text, limit=1, include_cold=True, profile="raw", neighbors=0)
        best = max((hit.contributions[0].value for hit in result.hits), default=0.0)
        if better and better[0].note.is_cold and better[0].score > best:
            say("the cold zone holds a better match; ask with --include-cold")
    sys.stderr.flush()


def _why_lexical(palace: Palace) -> str:
    if palace.snapshot().commit.dimension:
        return "words and facts only, as requested"
    return (
        "the index has no vectors; run `palace models fetch minilm`, then "
        "`palace index --force --embedder minilm`"
    )
