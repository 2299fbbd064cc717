"""``palace query``."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Annotated, Literal

import typer

from memory_palace.cli.options import (
    SCHEMA,
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
from memory_palace.cli.printing import print_json, say, show_date
from memory_palace.errors import IndexLockedError, UsageError
from memory_palace.language.visible import visible
from memory_palace.models import Hit, QueryResult
from memory_palace.palace import Palace
from memory_palace.retrieval.budget import fit_passages
from memory_palace.retrieval.profiles import DEFAULT_PROFILE, PROFILES


def query_notes(
    ctx: typer.Context,
    text: Annotated[list[str] | None, typer.Argument(help="The question.")] = None,
    top_k: Limit = 5,
    type: Type = None,
    priority: PriorityName = None,
    room: Room = None,
    since: Since = None,
    until: Until = None,
    details: Annotated[
        bool, typer.Option("--details", help="Show every part of each score.")
    ] = False,
    raw: Annotated[bool, typer.Option("--raw", help="The same as --profile raw.")] = False,
    no_gate: Annotated[
        bool, typer.Option("--no-gate", help="The literal compound formula.")
    ] = False,
    include_cold: IncludeCold = False,
    neighbors: Annotated[
        int, typer.Option("--neighbors", min=0, help="Linked notes after each hit.")
    ] = 2,
    profile: Annotated[
        str | None, typer.Option("--profile", help=f"One of {', '.join(PROFILES)}.")
    ] = None,
    mode: Annotated[
        Literal["vector", "lexical"],
        typer.Option("--mode", help="lexical needs no model: words and facts alone answer."),
    ] = "vector",
    as_of: Annotated[
        str | None, typer.Option("--as-of", help="Ask as if it were this day.")
    ] = None,
    budget: Annotated[
        int | None, typer.Option("--budget", min=1, help="Bytes of text at most.")
    ] = None,
    refresh: Annotated[bool, typer.Option("--refresh", help="Index what changed first.")] = False,
    full: Annotated[bool, typer.Option("--full", help="Print whole passages.")] = False,
    as_json: Json = False,
) -> None:
    """Find the notes that answer TEXT; with a filter and no text, list them.

    Example: palace query why did we drop MQTT --details
    """
    if raw and profile not in (None, "raw"):
        raise UsageError(f"--raw and --profile {profile} contradict each other")
    palace = open_palace(ctx)
    if refresh:
        _refresh(palace)
    question = " ".join(text or ())
    result = palace.query(
        question,
        limit=top_k,
        type=type,
        priority=priority,
        room=room,
        since=since,
        until=until,
        profile="raw" if raw else profile or DEFAULT_PROFILE,
        lexical=mode == "lexical",
        gate=not no_gate,
        include_cold=include_cold,
        neighbors=neighbors,
        as_of=as_of,
        budget_bytes=budget,
    )
    texts = [
        _passage(palace, hit, include_cold=include_cold) if full else "" for hit in result.hits
    ]
    if budget is not None:
        texts = fit_passages(result.hits, texts, budget)
    if as_json:
        print_json(_record(result, texts, full=full))
    else:
        for line in _lines(result, texts, details=details):
            print(line)
    _remark(palace, result, include_cold=include_cold)


def _why_lexical(palace: Palace) -> str:
    if palace.snapshot().commit.dimension:
        return "words and facts alone were compared, as asked"
    return (
        "the index has no vectors; `palace models fetch minilm` and then "
        "`palace index --force --embedder minilm` make them"
    )


def _refresh(palace: Palace) -> None:
    try:
        report = palace.index()
    except IndexLockedError as error:
        say(f"not refreshed: {error}")
        return
    for problem in report.problems:
        say(str(problem))


def _passage(palace: Palace, hit: Hit, *, include_cold: bool) -> str:
    if hit.chunk is None:
        return ""
    first, last = hit.chunk.first_line, hit.chunk.last_line
    return palace.read(hit.path, first_line=first, last_line=last, include_cold=include_cold).text


def _lines(result: QueryResult, texts: list[str], *, details: bool) -> Iterator[str]:
    if details and result.gate:
        figures = ", ".join(f"{name} {value:g}" for name, value in result.gate.items())
        yield f"gate: clip(1 - (best - semantic) / width, 0, 1) with {figures}"
    if details and result.anchors:
        fired = ", ".join(map(str, result.anchors.fired)) or "no anchor"
        yield visible(f"answered by {result.anchors.answered_by}: {fired}")
    for hit, text in zip(result.hits, texts, strict=True):
        indent = "  " if hit.role == "core" else "     "
        arrow = "" if hit.role == "core" else "  -> "
        line = f":{hit.chunk.first_line}" if hit.chunk else ""
        heading = " > ".join(
            dict.fromkeys((hit.title, *(hit.chunk.heading_path if hit.chunk else ())))
        )
        folded = f"  (and {hit.folded} with the same passage)" if hit.folded else ""
        yield visible(f"{arrow}{hit.path}{line}  {hit.score:.6f}  {heading}{folded}")
        yield from (visible(f"{indent}disputed: {path}") for path in hit.disputed_in)
        if details:
            yield from (f"{indent}{row}" for row in _details(hit))
        body = text or hit.snippet
        yield from (visible(f"{indent}{row}") for row in body.split("\n") if body)


def _details(hit: Hit) -> Iterator[str]:
    """Print every part that adds something; ``--json`` has the silent ones as well."""
    for part in hit.contributions:
        if not part.value:
            continue
        yield (f"{part.signal:<12} {part.value:.6f} x {part.weight:.6f} = {part.contribution:.6f}")
    date = hit.note.date
    yield f"date {show_date(date.timestamp)} ({date.source}), priority {hit.note.priority}"


def _record(result: QueryResult, texts: list[str], *, full: bool) -> dict[str, object]:
    return {
        "schema": SCHEMA,
        "query": result.text,
        "profile": result.profile,
        "mode": result.mode,
        "embedder": result.embedder,
        "freshness": result.freshness,
        "behind": result.behind,
        "gate": dict(result.gate),
        "answered_by": result.anchors.answered_by if result.anchors else result.mode,
        "anchors": [str(anchor) for anchor in result.anchors.fired] if result.anchors else [],
        "hits": [
            _hit_record(hit) | ({"text": text} if full else {})
            for hit, text in zip(result.hits, texts, strict=True)
        ],
    }


def _hit_record(hit: Hit) -> dict[str, object]:
    return {
        "role": hit.role,
        "path": hit.path,
        "line": hit.chunk.first_line if hit.chunk else None,
        "last_line": hit.chunk.last_line if hit.chunk else None,
        "title": hit.title,
        "heading": list(hit.chunk.heading_path) if hit.chunk else [],
        "type": hit.note.type,
        "priority": hit.note.priority,
        "date": show_date(hit.note.date.timestamp),
        "date_source": hit.note.date.source,
        "cold": hit.note.is_cold,
        "score": hit.score,
        "parts": [
            {"signal": p.signal, "value": p.value, "weight": p.weight, "adds": p.contribution}
            for p in hit.contributions
        ],
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
        verb = "note differs" if result.behind == 1 else "notes differ"
        say(f"{result.behind} {verb} from the index; run `palace index`, or ask with --refresh")
    elif result.freshness == "unchecked":
        say("freshness: unchecked")
    if palace.config.cold_hint and not include_cold and result.mode == "vector":
        better = palace.query(result.text, limit=1, include_cold=True, profile="raw", neighbors=0)
        best = max((hit.contributions[0].value for hit in result.hits), default=0.0)
        if better.hits and better.hits[0].note.is_cold and better.hits[0].score > best:
            say("the cold zone holds a better match; ask with --include-cold")
    sys.stderr.flush()
