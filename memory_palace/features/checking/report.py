"""How a checked answer is shown to people, programs and agents, claiming no more than was found."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, TypedDict

from memory_palace.errors import CheckFailedError
from memory_palace.features.checking.checker import REFUSED, Passage, SentenceCheck, Verdict
from memory_palace.features.checking.differences import Difference
from memory_palace.features.checking.verify import Verified, verify
from memory_palace.kinds import Flaw, TokenCheck, TokenVerdict
from memory_palace.palace import Palace
from memory_palace.shown import ANSWERS, Shown, inner, say_behind
from memory_palace.tools import Said

MARKS = {
    Verdict.CONTRADICTED: "x",
    Verdict.NOT_FOUND: "?",
    Verdict.SUPPORTED: "~",
    Verdict.QUOTED: "=",
    Verdict.NOT_APPLICABLE: "-",
}
"""Before each sentence."""
_LONGEST = 160
"""Characters of a passage that are shown."""
_SHORT = 80
"""Characters of what differs, on both sides, up to which both are shown beside the passage."""
_MOST_LINES = 100
"""What an agent is told at most."""


class PlaceRecord(TypedDict):
    """The lines of a passage; null where there is none."""

    note: str | None
    first_line: int | None
    last_line: int | None


class SentenceRecord(PlaceRecord):
    """A sentence of an answer, and the passage that bears it out or contradicts it."""

    text: str
    verdict: Verdict
    reason: str
    score: float
    passage: str | None
    differences: tuple[Difference, ...]
    compared: tuple[PlaceRecord, ...]


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
    is_strict: bool = inner()

    @classmethod
    def of(cls, done: Verified, *, is_strict: bool) -> AnswerChecked:
        return cls(
            verdict=done.verdict,
            by_meaning=done.by_meaning,
            is_searched=done.is_searched,
            sentences=tuple(map(_read_sentence, done.sentences)),
            token=done.token_verdict,
            tokens=done.tokens,
            flaws=done.flaws,
            done=done,
            is_strict=is_strict,
        )

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


def _read_sentence(check: SentenceCheck) -> SentenceRecord:
    return {
        "text": check.text,
        "verdict": check.verdict,
        "reason": check.reason,
        "score": check.score,
        **_read_place(check.passage),
        "passage": check.passage.text if check.passage else None,
        "differences": check.differences,
        "compared": tuple(map(_read_place, check.compared)),
    }


def _read_place(passage: Passage | None) -> PlaceRecord:
    if passage is None:
        return {"note": None, "first_line": None, "last_line": None}
    first, last = passage.first_line, passage.last_line
    return {"note": passage.note, "first_line": first, "last_line": last}


def verify_answer(
    palace: Palace,
    answer: str,
    notes: Annotated[Sequence[str], "path or path:10-20; else all"] = (),
) -> Said:
    """Check each sentence of an answer against notes before you send it."""
    done = verify(palace, answer, notes)
    lines = list(write_lines(done))
    if not done.by_meaning:
        lines[0] += " (compared by words only)"
    if more := len(lines[_MOST_LINES:]):
        lines[_MOST_LINES:] = [f"… {more} more lines; verify a shorter answer"]
    return Said(lines=lines)


def write_lines(done: Verified) -> Iterator[str]:
    """Yield the verdict on the answer, its tokens, and each sentence with what was found."""
    yield _say_verdict(done)
    for token in done.tokens:
        if token.outcome != TokenVerdict.NOT_APPLICABLE:
            yield f"token {token.outcome}: {token.path}"
    for check in done.sentences:
        yield f"{MARKS[check.verdict]}  {' '.join(check.text.split())}"
        yield f"   {_say(check)}"
        if check.verdict in (Verdict.CONTRADICTED, Verdict.SUPPORTED) and check.passage is not None:
            line = " ".join(check.passage.text.split())
            yield f"   “{line if len(line) <= _LONGEST else f'{line[:_LONGEST]}…'}”"
        if check.verdict in (Verdict.SUPPORTED, Verdict.NOT_FOUND) and check.compared:
            yield f"   compared with {', '.join(each.place for each in check.compared)} too"


def _say_verdict(done: Verified) -> str:
    verdicts = [each.verdict for each in done.sentences]
    checked = [verdict for verdict in verdicts if verdict != Verdict.NOT_APPLICABLE]
    wrong, missing = verdicts.count(Verdict.CONTRADICTED), verdicts.count(Verdict.NOT_FOUND)
    of = f"of {len(checked)} sentence{'s' * (len(checked) != 1)}"
    match done.verdict:
        case Verdict.CONTRADICTED:
            rest = f", {missing} not found" if missing else ""
            return f"contradicted: {wrong} {of} against the notes{rest}"
        case Verdict.NOT_FOUND:
            return f"not found: {missing} {of} not in the notes that were compared"
        case Verdict.QUOTED:
            return "quoted: the notes have all of it in nearly the same words"
        case Verdict.NOT_APPLICABLE:
            return "nothing to check: the answer states nothing that notes could bear out"
    return "not contradicted: the notes have it in other words, and no difference was found"


def _say(check: SentenceCheck) -> str:
    place = check.passage.place if check.passage else ""
    match check.verdict:
        case Verdict.QUOTED:
            return f"quoted from {place}"
        case Verdict.SUPPORTED:
            return f"not contradicted by {place}"
        case Verdict.CONTRADICTED:
            return f"contradicted by {place}: {_say_difference(check)}"
        case Verdict.NOT_FOUND:
            said = f"not found: {check.reason}" if check.reason.startswith("“") else "not found"
            return f"{said}; the nearest is {place}" if place else said
    return "nothing to check"


def _say_difference(check: SentenceCheck) -> str:
    """Return what differs first, in the words of both sides where they are few."""
    if not check.differences:
        return check.reason
    first = check.differences[0]
    if len(first.mine) + len(first.theirs) > _SHORT:  # the passage is shown below
        return first.kind
    return f"{first.kind}, the answer has “{first.mine}”, the note “{first.theirs}”"
