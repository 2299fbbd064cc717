"""Print the answer of a palace or a store, and remarks on it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from memory_palace.errors import UsageError
from memory_palace.features.asking.answers import answer_record, arrange, hit_records, write_lines
from memory_palace.features.asking.validities import say_copied
from memory_palace.index.advice import advise_asker
from memory_palace.models import QueryResult
from memory_palace.palace import Palace
from memory_palace.retrieval.whole_passages import full_texts
from memory_palace.shown import ANSWERS, print_answer, say, say_behind

_REQUESTED = "words and facts only, as requested"


def give_answer(
    palace: Palace | None,
    result: QueryResult,
    given: Mapping[str, Any],
    unknown_tags: Sequence[str] = (),
) -> None:
    """Print an answer, as the options of ``palace query`` say.

    Without a palace it is of a store; ``unknown_tags`` are those of the question that it lacks.
    """
    form = choose_format(given["format"], as_json=given["as_json"])
    texts = None
    if given["full"]:
        texts = [hit.text for hit in result]
        if palace is not None:
            snapshot = palace.snapshot(include_cold=given["include_cold"])
            most = given["budget"]
            texts = full_texts(list(result), snapshot, palace.paths, max_bytes=most)
    if not result.is_answered:
        say(_say_unsure(result))
    remarks = list(_remark_quotes(result))
    if palace is not None:
        remarks += _remark(palace, result, given)
    else:
        remarks += _remark_stored(result, unknown_tags, given)
    root = palace.paths.root if palace is not None else None
    if form == "json":
        record = answer_record(result, texts, details=given["details"])
        print_answer(record, as_json=True, schema=ANSWERS)
    else:
        _show(root, result, texts, form, given, remarks)
    for remark in remarks:
        say(remark)
    sys.stderr.flush()


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


def _show(
    root: Path | None,
    result: QueryResult,
    texts: Sequence[str] | None,
    form: str,
    given: Mapping[str, Any],
    remarks: list[str],
) -> None:
    """Print an answer in any format but JSON; the remarks will follow it, one may be added."""
    if form == "text" and given["min_confidence"] is None and not given["details"]:
        read = result.worth_reading()
        if len(read) < len(result) and not result.is_answered:
            remarks.append("--min-confidence 0 shows what else was found")
        kept = [place for place, hit in enumerate(result) if hit in read.hits]
        result, texts = read, texts and [texts[place] for place in kept]
    neighbors = bool(given["neighbors"])
    details = given["details"] and form == "text"
    shown = arrange(root, result, texts, details=details, neighbors=neighbors)
    if form == "text" and sys.stdout.isatty():
        from memory_palace.features.asking.screen import (
            show_answer,  # delayed: a pipe needs no rich
        )

        show_answer(shown, result.text, remarks if sys.stderr.isatty() else (), os.environ)
        return
    lines = write_lines(shown)
    if form != "text":
        from memory_palace.features.asking.formats import (
            FORMATS,  # delayed: only what asks for one pays
        )

        records = hit_records(result, texts, details=given["details"] or form == "tsv")
        lines = FORMATS[form](records, shown.entries)
    for line in lines:
        print(line)


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
        yield say_behind(result.behind)
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
