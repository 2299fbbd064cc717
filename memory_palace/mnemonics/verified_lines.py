"""What is said of an answer that was checked, in words that claim no more than was shown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from memory_palace.checking.verdicts import Passage, SentenceCheck, Verdict, write_place
from memory_palace.mnemonics.verification import TokenCheck, TokenVerdict
from memory_palace.mnemonics.verify import CheckedSentence, Verified

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


class SentenceLines(NamedTuple):
    """One sentence of an answer and what was found of it."""

    mark: str
    text: str
    findings: tuple[str, ...]
    places: tuple[Passage, ...]
    """What the findings cite."""


def say_verdict(done: Verified) -> str:
    """Return the verdict on the answer: without a model of entailment no more than was looked for.

    Nothing of it speaks of the tokens.
    """
    verdicts = [each.check.verdict for each in done.sentences]
    checked = [verdict for verdict in verdicts if verdict != Verdict.NOT_APPLICABLE]
    wrong, missing = verdicts.count(Verdict.CONTRADICTED), verdicts.count(Verdict.NOT_FOUND)
    of = f"of {len(checked)} sentence{'s' * (len(checked) != 1)}"
    if done.verdict == Verdict.CONTRADICTED:
        rest = f", {missing} not found" if missing else ""
        return f"contradicted: {wrong} {of} against the notes{rest}"
    if done.verdict == Verdict.NOT_FOUND:
        return f"not found: {missing} {of} not in the notes that were compared"
    if done.verdict == Verdict.QUOTED:
        return "quoted: the notes have all of it in nearly the same words"
    if done.verdict == Verdict.NOT_APPLICABLE:
        return "nothing to check: the answer states nothing that notes could bear out"
    found = [each for each in done.sentences if each.check.verdict == Verdict.SUPPORTED]
    if all(each.basis == "entailment" for each in found):
        return "supported: the model of entailment finds all of it in the notes"
    return "not contradicted: the notes have it in other words, and no difference was found"


def write_sentence(sentence: CheckedSentence) -> SentenceLines:
    """Return a sentence with its verdict, the places it was compared with, and its other judge."""
    check = sentence.check
    findings = [_say(sentence)]
    if check.verdict in (Verdict.CONTRADICTED, Verdict.SUPPORTED) and check.passage is not None:
        findings.append(f"“{_shorten(check.passage.text)}”")
    others = sentence.compared if check.verdict in _UNSURE else ()
    if others:
        findings.append(f"compared with {', '.join(map(write_place, others))} too")
    if sentence.model is not None and sentence.model.verdict is not None:
        agrees = "differs" if sentence.is_disputed else "agrees"
        reason = f": {sentence.model.reason}" if sentence.model.reason else ""
        findings.append(f"the model {agrees}, {_spell(sentence.model.verdict)}{reason}")
    places = (check.passage, *others)
    text = " ".join(check.text.split())
    return SentenceLines(
        MARKS[check.verdict], text, tuple(findings), tuple(each for each in places if each)
    )


_UNSURE = frozenset({Verdict.SUPPORTED, Verdict.NOT_FOUND})
"""Where another note that was compared may be the one to read."""
_SHORT = 80
"""Characters of what differs, on both sides, up to which both are shown beside the passage."""


def _say(sentence: CheckedSentence) -> str:
    check = sentence.check
    place = write_place(check.passage) if check.passage else ""
    reason = " ".join(check.reason.split())
    match check.verdict:
        case Verdict.QUOTED:
            return f"quoted from {place}"
        case Verdict.SUPPORTED if sentence.basis == "entailment":
            return f"supported by {place} ({reason})"
        case Verdict.SUPPORTED:
            return f"not contradicted by {place}"
        case Verdict.CONTRADICTED:
            return f"contradicted by {place}: {_say_difference(check)}"
        case Verdict.NOT_FOUND:
            return f"not found; the nearest is {place}" if place else "not found"
    return "nothing to check"


def _say_difference(check: SentenceCheck) -> str:
    """Return what differs first, in the words of both sides where they are few."""
    if not check.differences:
        return check.reason
    first = check.differences[0]
    if not first.theirs:
        return first.reason
    if len(first.mine) + len(first.theirs) > _SHORT:  # the passage is shown below
        return first.kind
    return f"{first.kind}, the answer has “{first.mine}”, the note “{first.theirs}”"


def write_lines(done: Verified) -> Iterator[str]:
    """Yield the whole report in plain lines."""
    yield say_verdict(done)
    yield from write_tokens(done)
    for sentence in done.sentences:
        lines = write_sentence(sentence)
        yield f"{lines.mark}  {lines.text}"
        yield from (f"   {finding}" for finding in lines.findings)
    if done.model_verdict is not None:
        yield f"by {done.judged_by}: {_spell(done.model_verdict)}"


def write_tokens(done: Verified) -> Iterator[str]:
    """Say of each memory that has tokens whether the answer holds them."""
    applicable = (each for each in done.tokens if each.outcome != TokenVerdict.NOT_APPLICABLE)
    yield from map(_write_token, applicable)


def _write_token(check: TokenCheck) -> str:
    """Say whether a token is held, or what stands in its place: it itself is never shown."""
    near = check.near if check.outcome == TokenVerdict.MISSING else ()
    remark = f", nearly: {', '.join(f'“{phrase}”' for phrase in near)}" if near else ""
    return f"token {_spell(check.outcome)}: {check.memory_id}{remark}"


def _spell(verdict: Verdict | TokenVerdict) -> str:
    return verdict.replace("_", " ")


def _shorten(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"
