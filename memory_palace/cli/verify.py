"""``palace verify``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import typer

from memory_palace.cli.options import SCHEMA, Json, open_palace, read_input
from memory_palace.cli.printing import print_json, say
from memory_palace.errors import CheckFailedError, UsageError
from memory_palace.language.visible import visible
from memory_palace.mnemonics.support import ClaimCheck
from memory_palace.mnemonics.verification import Outcome, TokenCheck, Verification
from memory_palace.mnemonics.verify import Verified, verify


def verify_answer(
    ctx: typer.Context,
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="File with the response; - reads stdin.")
    ] = "-",
    against: Annotated[
        list[str] | None,
        typer.Option("--against", help="A memory that it should rest on; may be repeated."),
    ] = None,
    text: Annotated[str | None, typer.Option("--text", help="The response itself.")] = None,
    all_tokens: Annotated[
        bool, typer.Option("--all-tokens", help="Ask for every token of a memory, not for one.")
    ] = False,
    words: Annotated[
        bool, typer.Option("--words", help="Compare words alone, without a model.")
    ] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit 8 unless it is grounded and tokens are sound.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Say whether a response really came from the memories it should rest on.

    The token shows that a memory was read; the claims, that the response says what it says.

    Example: palace verify answer.txt --against "the thread in the funnel" --strict
    """
    if not against:
        raise UsageError("name the memory that the response should rest on: --against NOTE")
    if text is None:
        text = read_input(file, hint="; a response itself goes into --text")
    done = verify(open_palace(ctx), text, against, require_all=all_tokens, by_words=words)
    if as_json:
        print_json(_record(done))
    else:
        for line in _lines(done.verification):
            print(visible(line))
    for flaw in done.flaws:
        say(str(flaw))
    if not done.by_meaning and done.verification.support.claims and not words:
        say("claims were compared by words alone; an index made with minilm compares meanings")
    if strict and not done.passes_strictly:
        raise CheckFailedError(_failure(done))


def _lines(verification: Verification) -> Iterator[str]:
    yield f"{verification.outcome}"
    for check in verification.tokens:
        yield f"token {check.outcome}: {check.memory_id}{_remark(check)}"
    support = verification.support
    score = f" ({support.score:.2f}, at least {support.least:.2f})" if support.claims else ""
    yield f"claims {verification.support_outcome}{score}"
    for claim in support.claims:
        yield f"  {claim.score:.2f}  {claim.text}"
        yield from (f"        {reason}" for reason in claim.contradictions)


def _remark(check: TokenCheck) -> str:
    """Say what stands where the token should. The missing token itself is never printed."""
    if check.outcome != Outcome.UNGROUNDED or not check.near:
        return ""
    return f", nearly: {', '.join(f'“{phrase}”' for phrase in check.near)}"


def _failure(done: Verified) -> str:
    found = done.verification
    if found.outcome == Outcome.UNGROUNDED:
        return f"not grounded: token {found.token_outcome}, claims {found.support_outcome}"
    return "a token that the response was checked for can be had without reading"


def _record(done: Verified) -> dict[str, object]:
    found = done.verification
    return {
        "schema": SCHEMA,
        "outcome": found.outcome,
        "token": found.token_outcome,
        "support": found.support_outcome,
        "score": found.support.score,
        "least": found.support.least,
        "by_meaning": done.by_meaning,
        "memories": [
            {"path": check.memory_id, "outcome": check.outcome, "near": list(check.near)}
            for check in found.tokens
        ],
        "claims": [_claim(claim) for claim in found.support.claims],
        "flaws": [str(flaw) for flaw in done.flaws],
    }


def _claim(claim: ClaimCheck) -> dict[str, object]:
    return {
        "text": claim.text,
        "score": claim.score,
        "contradictions": list(claim.contradictions),
        "unknown": list(claim.unknown),
    }
