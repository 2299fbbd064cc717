"""``palace verify``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

from typer import Argument, Context, Option

from memory_palace.cli.options import Json, Words, completed, open_palace, read_input
from memory_palace.cli.printing import print_answer, say, to_record
from memory_palace.errors import CheckFailedError, UsageError
from memory_palace.mnemonics.verification import TokenCheck, Verdict, Verification
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
        Option("--strict", help="Exit 8 unless the answer is grounded and its tokens are sound."),
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
    print_answer(_record(done), _lines(done.verification), as_json=as_json)
    for flaw in done.flaws:
        say(str(flaw))
    if not done.by_meaning and done.verification.support.claims and not words:
        say("claims were compared by words only; an index built with minilm compares meanings")
    if strict and not done.passes_strictly:
        raise CheckFailedError(_failure(done))


def _lines(verification: Verification) -> Iterator[str]:
    yield f"{verification.outcome}"
    for check in verification.tokens:
        yield f"token {check.outcome}: {check.memory_id}{_remark(check)}"
    support = verification.support
    score = f" ({support.score:.2f}, at least {support.least:.2f})" if support.claims else ""
    yield f"claims {verification.support_verdict}{score}"
    for claim in support.claims:
        yield f"  {claim.score:.2f}  {claim.text}"
        yield from (f"        {reason}" for reason in claim.contradictions)


def _remark(check: TokenCheck) -> str:
    """Say what stands where the token should. The missing token itself is never printed."""
    if check.outcome != Verdict.UNGROUNDED or not check.near:
        return ""
    return f", nearly: {', '.join(f'“{phrase}”' for phrase in check.near)}"


def _failure(done: Verified) -> str:
    found = done.verification
    if found.outcome == Verdict.UNGROUNDED:
        return f"not grounded: token {found.token_verdict}, claims {found.support_verdict}"
    return "a token that was checked can be known without reading the memory"


def _record(done: Verified) -> dict[str, Any]:
    found = done.verification
    return {
        "outcome": found.outcome,
        "token": found.token_verdict,
        "support": found.support_verdict,
        "score": found.support.score,
        "least": found.support.least,
        "by_meaning": done.by_meaning,
        "memories": [
            {"path": check.memory_id, "outcome": check.outcome, "near": list(check.near)}
            for check in found.tokens
        ],
        "claims": to_record(found.support.claims),
        "flaws": to_record(done.flaws),
    }
