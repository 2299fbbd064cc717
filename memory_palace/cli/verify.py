"""``palace verify``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

from typer import Argument, Context, Option

from memory_palace.checking.verdicts import SentenceCheck, Verdict, write_place
from memory_palace.cli.options import Json, Words, completed, open_palace, read_input
from memory_palace.cli.printing import print_answer, say, to_record
from memory_palace.errors import CheckFailedError, UsageError
from memory_palace.mnemonics.verification import TokenCheck, TokenVerdict
from memory_palace.mnemonics.verify import Verified


def verify_answer(
    ctx: Context,
    file: Annotated[str, Argument(metavar="FILE", help="File with the answer; - for stdin.")] = "-",
    against: Annotated[
        list[str] | None,
        Option(
            "--against",
            help="Memory the answer should rest on; repeatable.",
            autocompletion=completed("notes"),
        ),
    ] = None,
    text: Annotated[str | None, Option("--text", help="The answer itself.")] = None,
    all_tokens: Annotated[
        bool, Option("--all-tokens", help="Require every token of a memory, not just one.")
    ] = False,
    words: Words = False,
    strict: Annotated[
        bool,
        Option(
            "--strict",
            help="Exit 8 if anything is contradicted or not found, or a token fails.",
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Check that an answer really came from the memories it should rest on.

    The token shows that a memory was read; the claims are compared with what it says.

    Example: palace verify answer.txt --against "the thread in the funnel" --strict
    """
    if not against:
        raise UsageError("name the memory that the answer should rest on: --against NOTE")
    if text is None:
        text = read_input(file, hint="; to give the answer itself, use --text")
    done = open_palace(ctx).memories.verify(text, against, require_all=all_tokens, by_words=words)
    print_answer(_record(done), _lines(done), as_json=as_json)
    for flaw in done.flaws:
        say(str(flaw))
    if not done.by_meaning and done.answer.sentences and not words:
        say("sentences were compared by words only; an index built with minilm compares meanings")
    if strict and not done.passes_strictly:
        raise CheckFailedError(_failure(done))


def _lines(done: Verified) -> Iterator[str]:
    yield _write(done.answer.verdict)
    for check in done.tokens:
        yield f"token {_write(check.outcome)}: {check.memory_id}{_remark(check)}"
    for sentence in done.answer.sentences:
        yield f"  {_write(sentence.verdict):<14}  {sentence.text}"
        place = f" ({write_place(sentence.passage)})" if sentence.passage else ""
        yield f"  {'':<14}  {sentence.reason}{place}"


def _write(verdict: Verdict | TokenVerdict) -> str:
    return verdict.replace("_", " ")


def _remark(check: TokenCheck) -> str:
    """Say what stands where the token should. The missing token itself is never printed."""
    if check.outcome != TokenVerdict.MISSING or not check.near:
        return ""
    return f", nearly: {', '.join(f'“{phrase}”' for phrase in check.near)}"


def _failure(done: Verified) -> str:
    if done.answer.verdict in (Verdict.CONTRADICTED, Verdict.NOT_FOUND):
        return f"the answer is {_write(done.answer.verdict)}"
    if done.token_verdict == TokenVerdict.MISSING:
        return "a token is missing"
    return "a token that was checked can be known without reading the memory"


def _record(done: Verified) -> dict[str, Any]:
    return {
        "verdict": done.answer.verdict,
        "token": done.token_verdict,
        "by_meaning": done.by_meaning,
        "memories": [
            {"path": check.memory_id, "outcome": check.outcome, "near": list(check.near)}
            for check in done.tokens
        ],
        "sentences": [_record_sentence(sentence) for sentence in done.answer.sentences],
        "flaws": to_record(done.flaws),
    }


def _record_sentence(sentence: SentenceCheck) -> dict[str, Any]:
    passage = sentence.passage
    return {
        "text": sentence.text,
        "verdict": sentence.verdict,
        "reason": sentence.reason,
        "score": sentence.score,
        "note": passage.note if passage else None,
        "first_line": passage.first_line if passage else None,
        "last_line": passage.last_line if passage else None,
        "differences": to_record(sentence.differences),
    }
