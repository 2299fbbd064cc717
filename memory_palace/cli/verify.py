"""``palace verify``."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import Annotated

from typer import Argument, Context, Option

from memory_palace.checking.verdicts import REFUSED
from memory_palace.cli.options import (
    Json,
    Prices,
    Words,
    completed,
    note_below,
    open_palace,
    read_input,
)
from memory_palace.cli.printing import ANSWERS, print_answer, say, say_behind
from memory_palace.cli.verified import show_verified, verified_record
from memory_palace.errors import CheckFailedError
from memory_palace.mnemonics.verification import TokenVerdict
from memory_palace.mnemonics.verified_lines import write_lines
from memory_palace.mnemonics.verify import Verified

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
Instructions = Annotated[
    str | None, Option("--prompt", metavar="FILE", help="Instructions for the model.")
]
Entailment = Annotated[
    str | None,
    Option(
        "--entailment",
        metavar="MODEL",
        help="Cross-encoder of entailment: a folder, or ORGANIZATION/NAME in the Hugging Face "
        "cache.",
    ),
]


def verify_answer(
    ctx: Context,
    file: Annotated[str, Argument(metavar="FILE", help="File with the answer; - for stdin.")] = "-",
    against: Against = None,
    text: Annotated[str | None, Option("--text", help="The answer itself.")] = None,
    all_tokens: Annotated[
        bool, Option("--all-tokens", help="Require every token of a memory, not just one.")
    ] = False,
    words: Words = False,
    model: JudgedBy = None,
    prompt: Instructions = None,
    prices: Prices = None,
    entailment: Entailment = None,
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
    done = palace.memories.verify(
        text,
        [note_below(palace, name) for name in against or ()],
        require_all=all_tokens,
        by_words=words,
        entailment=entailment,
        model=model,
        prompt=None if prompt is None else read_input(prompt),
        prices=prices,
    )
    if not as_json and sys.stdout.isatty():
        show_verified(done, palace.paths.root, os.environ)
    else:
        print_answer(verified_record(done), write_lines(done), as_json=as_json, schema=ANSWERS)
    for remark in _remark(done, by_words=words):
        say(remark)
    if strict and not done.passes_strictly:
        raise CheckFailedError(_failure(done))


def _remark(done: Verified, *, by_words: bool) -> Iterator[str]:
    yield from map(str, done.flaws)
    for each in done.sentences:
        if each.model is not None and each.model.verdict is None:
            yield f"no verdict on “{each.check.text}”: {each.model.reason}"
    if done.spent is not None:
        yield done.spent
    if done.behind:
        yield say_behind(done.behind)
    if done.is_checkable and not (done.by_meaning or by_words):
        yield "compared by words only; an index built with minilm compares meanings"
    if done.is_checkable and not done.is_english:
        yield "the answer is not English: fewer differences are looked for, and less is found"


def _failure(done: Verified) -> str:
    for who, verdict in (("", done.verdict), (f" by {done.judged_by}", done.model_verdict)):
        if verdict in REFUSED:
            return f"the answer is {verdict.replace('_', ' ')}{who}"
    if done.token_verdict == TokenVerdict.MISSING:
        return "a token is missing"
    return "a token that was checked can be known without reading the memory"
