"""``palace verify``."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from memory_palace.cli.group import Group
from memory_palace.cli.options import completed, note_below, read_input
from memory_palace.errors import CheckFailedError
from memory_palace.features.checking.report import (
    SentenceRecord,
    read_sentence,
    show_verified,
    write_lines,
)
from memory_palace.features.checking.verdicts import REFUSED, Verdict
from memory_palace.features.checking.verify import Verified, verify
from memory_palace.kinds import Flaw, TokenCheck, TokenVerdict
from memory_palace.palace import Palace
from memory_palace.shown import ANSWERS, Shown, inner, say, say_behind

verbs = Group()


@dataclass(frozen=True, slots=True)
class AnswerChecked(Shown):
    """An answer that was checked."""

    schema = ANSWERS

    verdict: Verdict
    """The worst of the sentences that can be checked."""
    by_meaning: bool
    """Whether vectors were compared, not words only."""
    is_searched: bool
    """Whether the palace's own search chose the passages."""
    sentences: tuple[SentenceRecord, ...]
    token: TokenVerdict
    tokens: tuple[TokenCheck, ...]
    """One for each memory that was named."""
    flaws: tuple[Flaw, ...]
    done: Verified = inner()
    root: Path = inner()
    is_strict: bool = inner()

    def lines(self) -> Iterable[str]:
        return write_lines(self.done)

    def remarks(self, *, as_json: bool) -> Iterable[str]:
        yield from map(str, self.flaws)
        if self.done.behind:
            yield say_behind(self.done.behind)
        is_checkable = self.verdict != Verdict.NOT_APPLICABLE
        if is_checkable and not self.by_meaning:
            yield "compared by words only; an index built with minilm compares meanings"
        if is_checkable and not self.done.is_english:
            yield "the answer is not English: fewer differences are looked for, and less is found"

    def failure(self) -> CheckFailedError | None:
        if not self.is_strict or self.done.passes_strictly:
            return None
        if self.verdict in REFUSED:
            return CheckFailedError(f"the answer is {self.verdict.replace('_', ' ')}")
        is_missing = self.token == TokenVerdict.MISSING
        known = "a token that was checked can be known without reading the memory"
        return CheckFailedError("a token is missing" if is_missing else known)

    def show(self, *, as_json: bool) -> None:
        if as_json or not sys.stdout.isatty():
            Shown.show(self, as_json=as_json)
            return
        show_verified(self.done, self.root, os.environ)
        for remark in self.remarks(as_json=False):
            say(remark)
        if failure := self.failure():
            raise failure


@verbs.verb("verify")
def verify_answer(
    palace: Palace,
    file: Annotated[str, Argument(metavar="FILE", help="File with the answer; - for stdin.")] = "-",
    against: Annotated[
        list[str] | None,
        Option(
            "--against",
            metavar="NOTE",
            help="Note, lines of one (NOTE:10-20) or folder to compare with; repeatable. Without "
            "it the palace is searched.",
            autocompletion=completed("notes"),
        ),
    ] = None,
    text: Annotated[str | None, Option("--text", help="The answer itself.")] = None,
    strict: Annotated[
        bool,
        Option(
            "--strict", help="Exit 8 if anything is contradicted or not found, or a token fails."
        ),
    ] = False,
) -> AnswerChecked:
    """Check each sentence of an answer against the notes: whether they say so, or otherwise.

    Of a memory that is named the token is checked too: it shows that the note was read.

    Example: palace verify answer.txt --against "the thread in the funnel" --strict
    """
    if text is None:
        text = read_input(file, hint="; to give the answer itself, use --text")
    named = [note_below(palace, name) for name in against or ()]
    done = verify(palace, text, named)
    return AnswerChecked(
        verdict=done.verdict,
        by_meaning=done.by_meaning,
        is_searched=done.is_searched,
        sentences=tuple(map(read_sentence, done.sentences)),
        token=done.token_verdict,
        tokens=done.tokens,
        flaws=done.flaws,
        done=done,
        root=palace.paths.root,
        is_strict=strict,
    )
