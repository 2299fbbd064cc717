"""Print the answer of a palace, or of several that were asked the same, and remarks on it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from typer import Exit

from memory_palace.cli.answers import answer_record, arrange, hit_records, write_lines
from memory_palace.cli.printing import ANSWERS, print_answer, say, say_behind, to_record
from memory_palace.cli.validities import say_copied
from memory_palace.errors import ConfigError, PalaceError, UsageError
from memory_palace.index.advice import advise_asker
from memory_palace.models import QueryResult
from memory_palace.palace import Palace
from memory_palace.retrieval.excerpts import count_bytes
from memory_palace.retrieval.whole_passages import full_texts

_REQUESTED = "words and facts only, as requested"


@dataclass(frozen=True, slots=True)
class PalacesAsked:
    """What was found, and where."""

    palaces: Mapping[str, Palace]
    """Folders, by the name that their hits have: empty for the only one."""
    result: QueryResult
    """Of all of them."""
    own: Mapping[str, QueryResult]
    """What each of them found."""
    failed: Mapping[str, PalaceError] = field(default_factory=dict)
    """Those that could not answer, and why."""
    unknown_tags: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Tags of the question that no note of a store has."""


def give_answer(answer: PalacesAsked, given: Mapping[str, Any]) -> None:
    """Print or open what was found, as the options of ``palace query`` say."""
    form = choose_format(given["format"], as_json=given["as_json"])
    result = answer.result
    texts = _read_whole(answer, given) if given["full"] else None
    if not result.is_answered:
        say(_say_unsure(result))
    remarks = list(_remark_all(answer, given))
    if given["open_number"] is not None:
        _open_hit(answer, given["open_number"])
    elif form == "json":
        record = answer_record(result, texts, details=given["details"])
        record |= _palaces_record(answer, details=given["details"])
        print_answer(record, as_json=True, schema=ANSWERS)
    else:
        _show(answer, texts, form, given, remarks)
    for remark in remarks:
        say(remark)
    sys.stderr.flush()
    for error in answer.failed.values():
        if not isinstance(error, UsageError) or isinstance(error, ConfigError):
            raise Exit(error.exit_code)  # a tag, say, that only the others know is no failure
    if given["exit_status"] and not result.is_answered:
        raise Exit(1)


def _say_unsure(result: QueryResult) -> str:
    if not result:
        return "nothing found"
    if result.may_answer:
        return "perhaps; the notes are about that, and may not answer it"
    return f"nothing here answers that; the nearest is {result[0].title}"


def choose_format(format: str | None, *, as_json: bool) -> str:
    """Return the format that the options ask for; raise ``UsageError`` where they contradict."""
    if as_json and format not in (None, "json"):
        raise UsageError(f"--json contradicts --format {format}; give one of them")
    return "json" if as_json else format or "text"


def _read_whole(answer: PalacesAsked, given: Mapping[str, Any]) -> list[str]:
    """Return the whole passage of each hit; a budget bounds those of all palaces."""
    hits, budget = answer.result.hits, given["budget"]
    texts = [hit.text for hit in hits]
    for name, palace in answer.palaces.items():
        own = [place for place, hit in enumerate(hits) if hit.palace == name]
        other = sum(count_bytes(text) for place, text in enumerate(texts) if place not in own)
        snapshot = palace.snapshot(include_cold=given["include_cold"])
        found = [hits[place] for place in own]
        most = None if budget is None else budget - other
        for place, text in zip(
            own, full_texts(found, snapshot, palace.paths, max_bytes=most), strict=True
        ):
            texts[place] = text
    return texts


def _palaces_record(answer: PalacesAsked, *, details: bool) -> dict[str, Any]:
    """Return what JSON has of each palace, where several were asked."""
    if "" in answer.own:
        return {}
    records: list[dict[str, Any]] = []
    for name, result in answer.own.items():
        record: dict[str, Any] = {"palace": name, "answered": result.is_answered}
        if details or result.mode != "vector":
            record["mode"] = result.mode
        if details or result.freshness != "current":
            record |= {"freshness": result.freshness, "behind": result.behind}
        if details:
            record |= {"confidence": to_record(result.confidence), "embedder": result.embedder}
            record["profile"] = result.profile
        records.append(record)
    for name, error in answer.failed.items():
        failure = {"message": str(error), "exit_code": error.exit_code}
        records.append({"palace": name, "answered": False, "error": failure})
    return {"palaces": records}


def _show(
    answer: PalacesAsked,
    texts: Sequence[str] | None,
    form: str,
    given: Mapping[str, Any],
    remarks: list[str],
) -> None:
    """Print an answer in any format but JSON; the remarks will follow it, one may be added."""
    result = answer.result
    if form == "text" and given["min_confidence"] is None and not given["details"]:
        read = result.worth_reading()
        if len(read) < len(result) and not result.is_answered:
            remarks.append("--min-confidence 0 shows what else was found")
        kept = [place for place, hit in enumerate(result) if hit in read.hits]
        result, texts = read, texts and [texts[place] for place in kept]
    neighbors = bool(given["neighbors"])
    details = given["details"] and form == "text"
    shown = arrange(_roots(answer), result, texts, details=details, neighbors=neighbors)
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


def _roots(answer: PalacesAsked) -> dict[str, Path]:
    """Return the folders of palaces; a store has none here."""
    return {name: palace.paths.root for name, palace in answer.palaces.items()}


def _open_hit(answer: PalacesAsked, number: int) -> None:
    from memory_palace.cli.opening import open_hit  # delayed: only what opens one pays

    if answer.result.hits:
        shown = arrange(_roots(answer), answer.result)
        open_hit(answer.palaces, shown, number, os.environ)


def _remark_all(answer: PalacesAsked, given: Mapping[str, Any]) -> Iterator[str]:
    """Yield what to know of each palace; what none of them holds is said once."""
    yield from _remark_quotes(answer.result)
    for name, result in answer.own.items():
        if name in answer.palaces:
            remarks = _remark(answer.palaces[name], result, given)
        else:
            remarks = _remark_stored(result, answer.unknown_tags.get(name, ()), given)
        yield from (f"{name}: {remark}" if name else remark for remark in remarks)
    yield from (f"{name}: {say_failure(error)}" for name, error in answer.failed.items())


def say_failure(error: PalaceError) -> str:
    """Return on one line what went wrong with one of several palaces."""
    return "; ".join(str(error).splitlines())


def _remark_stored(
    result: QueryResult, unknown: Sequence[str], given: Mapping[str, Any]
) -> Iterator[str]:
    yield from map(_say_unknown, unknown)
    if result.mode == "lexical":
        is_asked = given["mode"] == "lexical"
        why = _REQUESTED if is_asked else "the notes were indexed without vectors"
        why = f"{result.unread_by} reads English alone" if result.unread_by else why
        yield f"mode: lexical; {why}"


def _remark(palace: Palace, result: QueryResult, given: Mapping[str, Any]) -> Iterator[str]:
    """Yield what a reader of the answer should know besides; it is said on stderr."""
    yield from _remark_words(palace, result)
    if result.mode == "lexical":
        yield f"mode: lexical; {_why_lexical(palace, result)}"
    elif result.awaiting:
        known = palace.snapshot().commit.rows - result.awaiting
        yield f"found by meaning so far: {known:,} {_of_passages(palace)}"
    if result.freshness == "stale":
        yield f"{say_behind(result.behind)}, or ask with --refresh"
    elif result.freshness == "unchecked":
        yield "freshness: unchecked"
    if given["since"] or given["until"]:
        yield from say_copied(palace.snapshot(include_cold=given["include_cold"]).told_dates)
    if palace.config.cold_hint and not given["include_cold"] and result.mode == "vector":
        better = palace.query(result.text, limit=1, include_cold=True, profile="raw", neighbors=0)
        best = max((hit.contributions[0].value for hit in result.hits), default=0.0)
        if better and better[0].note.is_cold and better[0].score > best:
            yield "the cold zone holds a better match; ask with --include-cold"


def _remark_words(palace: Palace, result: QueryResult) -> Iterator[str]:
    """Yield what of the question was meant to narrow the answer and could not."""
    if "#" in result.text:
        from memory_palace.retrieval.filters import bear_tag  # delayed: few have any
        from memory_palace.retrieval.question import find_unknown_tags

        snapshot = palace.snapshot()
        found = find_unknown_tags(result.text, lambda tag: bool(bear_tag(snapshot, tag).any()))
        yield from map(_say_unknown, found)


def _say_unknown(tag: str) -> str:
    return f"no note has the tag #{tag}; it was searched as a word"


def _remark_quotes(result: QueryResult) -> Iterator[str]:
    for quote in result.unmatched_quotes:
        yield f'no note holds "{quote}"; its words were searched one by one'


def _of_passages(palace: Palace) -> str:
    """Return of how many passages vectors are made, and what makes the others."""
    return f"of {palace.snapshot().commit.rows:,} passages; `palace index` goes on with the others"


def _why_lexical(palace: Palace, result: QueryResult) -> str:
    if result.unread_by:
        return advise_asker(result.unread_by, palace.config)
    commit = palace.snapshot().commit
    if commit.dimension:
        return _REQUESTED
    if commit.awaiting:
        return f"found by meaning so far: 0 {_of_passages(palace)}"
    awaited = palace.awaited_model()
    if awaited is None:
        return f"the index was made with `--embedder {commit.embedder}`"
    if awaited.is_ready:
        return f"{awaited.name} is here now; `palace index` makes vectors with it"
    return f"run `palace models fetch {awaited.name}`, then `palace index`"
