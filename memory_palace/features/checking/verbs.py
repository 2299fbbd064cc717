"""``palace verify``."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Context, Option

from memory_palace.cli.options import Json, completed, note_below, open_palace, read_input
from memory_palace.errors import CheckFailedError
from memory_palace.features.checking.report import MARKS, write_lines, write_report
from memory_palace.features.checking.verdicts import REFUSED, Passage, Verdict, write_place
from memory_palace.features.checking.verify import CheckedSentence, Verified
from memory_palace.kinds import TokenVerdict
from memory_palace.language.visible import visible
from memory_palace.shown import ANSWERS, print_answer, say, say_behind, to_record

Against = Annotated[
    list[str] | None,
    Option(
        "--against",
        metavar="NOTE",
        help="Note, lines of one (NOTE:10-20) or folder to compare with; repeatable. Without it "
        "the palace is searched.",
        autocompletion=completed("notes"),
    ),
]
Strict = Annotated[
    bool,
    Option("--strict", help="Exit 8 if anything is contradicted or not found, or a token fails."),
]
JudgedBy = Annotated[
    str | None, Option("--model", help="Model of the llm library that judges each sentence too.")
]
_STYLES = {
    MARKS[Verdict.CONTRADICTED]: "bold red",
    MARKS[Verdict.NOT_FOUND]: "bold yellow",
    MARKS[Verdict.SUPPORTED]: "bold cyan",
    MARKS[Verdict.QUOTED]: "bold green",
}


def verify_answer(
    ctx: Context,
    file: Annotated[str, Argument(metavar="FILE", help="File with the answer; - for stdin.")] = "-",
    against: Against = None,
    text: Annotated[str | None, Option("--text", help="The answer itself.")] = None,
    all_tokens: Annotated[
        bool, Option("--all-tokens", help="Require every token of a memory, not just one.")
    ] = False,
    model: JudgedBy = None,
    strict: Strict = False,
    as_json: Json = False,
) -> None:
    """Check each sentence of an answer against the notes: whether they say so, or otherwise.

    Of a memory that is named the token is checked too: it shows that the note was read.

    Example: palace verify answer.txt --against "the thread in the funnel" --strict
    """
    palace = open_palace(ctx)
    if text is None:
        text = read_input(file, hint="; to give the answer itself, use --text")
    named = [note_below(palace, name) for name in against or ()]
    done = palace.memories.verify(text, named, require_all=all_tokens, model=model)
    if not as_json and sys.stdout.isatty():
        show_verified(done, palace.paths.root, os.environ)
    else:
        print_answer(verified_record(done), write_lines(done), as_json=as_json, schema=ANSWERS)
    for remark in _remark(done):
        say(remark)
    if strict and not done.passes_strictly:
        raise CheckFailedError(_failure(done))


def _remark(done: Verified) -> Iterator[str]:
    yield from map(str, done.flaws)
    for each in done.sentences:
        if each.model is not None and each.model.verdict is None:
            yield f"no verdict on “{each.check.text}”: {each.model.reason}"
    if done.spent is not None:
        yield done.spent
    if done.behind:
        yield say_behind(done.behind)
    is_checkable = done.verdict != Verdict.NOT_APPLICABLE
    if is_checkable and not done.by_meaning:
        yield "compared by words only; an index built with minilm compares meanings"
    if is_checkable and not done.is_english:
        yield "the answer is not English: fewer differences are looked for, and less is found"


def _failure(done: Verified) -> str:
    for who, verdict in (("", done.verdict), (f" by {done.judged_by}", done.model_verdict)):
        if verdict in REFUSED:
            return f"the answer is {verdict.replace('_', ' ')}{who}"
    if done.token_verdict == TokenVerdict.MISSING:
        return "a token is missing"
    return "a token that was checked can be known without reading the memory"


def verified_record(done: Verified) -> dict[str, Any]:
    """Return the JSON of an answer that was checked."""
    model = {"name": done.judged_by, "verdict": done.model_verdict, "spent": done.spent}
    return {
        "verdict": done.verdict,
        "by_meaning": done.by_meaning,
        "searched": done.is_searched,
        "sentences": [_sentence_record(sentence) for sentence in done.sentences],
        "model": model if done.judged_by is not None else None,
        "token": done.token_verdict,
        "tokens": [
            {"path": check.path, "outcome": check.outcome, "near": list(check.near)}
            for check in done.tokens
        ],
        "flaws": to_record(done.flaws),
    }


def _sentence_record(sentence: CheckedSentence) -> dict[str, Any]:
    check, model = sentence.check, sentence.model
    judged = None
    if model is not None:
        judged = {"verdict": model.verdict, "reason": model.reason, **_place_record(model.passage)}
    return {
        "text": check.text,
        "verdict": check.verdict,
        "reason": check.reason,
        "score": round(check.score, 6),
        **_place_record(check.passage),
        "passage": check.passage.text if check.passage else None,
        "differences": to_record(check.differences),
        "compared": [_place_record(passage) for passage in sentence.compared],
        "model": judged,
    }


def _place_record(passage: Passage | None) -> dict[str, Any]:
    names = ("note", "first_line", "last_line")
    return {name: getattr(passage, name) if passage else None for name in names}


def show_verified(done: Verified, root: Path, environ: Mapping[str, str]) -> None:
    """Print an answer that was checked on this terminal; a click on a place opens it."""
    from rich.style import Style  # delayed: a pipe needs no rich
    from rich.text import Text

    from memory_palace.cli.screen import (
        INDENT,
        NARROWEST,
        WIDEST,
        link_to,
        print_rows,
        wrap,
    )

    width = max(NARROWEST, min(shutil.get_terminal_size().columns, WIDEST)) - INDENT
    rows = list[Text]()
    for line in write_report(done):
        text = Text(visible(line.text), "dim" if line.is_finding else "" if line.mark else "bold")
        for place in line.places:
            where = visible(write_place(place))
            if (start := text.plain.find(where)) >= 0:
                address = link_to(root / place.note, place.first_line, environ)
                text.stylize(Style(link=address), start, start + len(where))
        mark = Text(f"{line.mark:<{INDENT}}", _STYLES.get(line.mark, "dim"))
        is_below = bool(line.mark or line.is_finding)
        for row in wrap(text, width):
            rows.append(Text.assemble(mark, row) if is_below else row)
            mark = Text(" " * INDENT)
    print_rows(rows, environ)
