"""What a check of an answer says, of each sentence and of the whole."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, TypeAlias

DifferenceKind: TypeAlias = Literal["number", "unit", "time", "name", "negation"]


class Verdict(StrEnum):
    """What was found of a sentence, or of an answer, the best first."""

    QUOTED = "quoted"
    """A passage has it in nearly the same words, and nothing that carries meaning differs."""
    SUPPORTED = "supported"
    """A passage has it in other words, and nothing was found that differs: no proof."""
    NOT_FOUND = "not_found"
    """No passage is about it, or none says enough of it."""
    CONTRADICTED = "contradicted"
    """A passage says it with another number, unit, time or name, or denies it."""
    NOT_APPLICABLE = "not_applicable"
    """It says nothing that could be checked."""


ACCEPTED = frozenset({Verdict.QUOTED, Verdict.SUPPORTED})
REFUSED = frozenset({Verdict.CONTRADICTED, Verdict.NOT_FOUND})
_WORST_FIRST = (Verdict.CONTRADICTED, Verdict.NOT_FOUND, Verdict.SUPPORTED, Verdict.QUOTED)


@dataclass(frozen=True, slots=True)
class Passage:
    """Lines of a note, 1-based and inclusive, that an answer is compared with."""

    note: str
    first_line: int
    last_line: int
    text: str
    about: str = ""
    """What else the note says of itself: its title, file name, day and front matter."""
    superseded: str = ""
    """What took its place and when, of a claim that bears out nothing any more."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that an answer says otherwise than a passage."""

    kind: DifferenceKind
    reason: str
    mine: str
    """Words of the answer."""
    theirs: str
    """Words of the passage."""


@dataclass(frozen=True, slots=True)
class SentenceCheck:
    """One sentence of an answer."""

    text: str
    verdict: Verdict
    reason: str
    passage: Passage | None
    """The lines that bore it out or contradict it; ``None`` where nothing comes near."""
    differences: tuple[Difference, ...]
    score: float
    """How much of it the passage covers, from 0 to 1."""
    compared: tuple[Passage, ...] = ()
    """Of other notes that the search found for it, nearest first."""


@dataclass(frozen=True, slots=True)
class AnswerCheck:
    """All sentences of an answer, in order."""

    sentences: tuple[SentenceCheck, ...]

    @property
    def verdict(self) -> Verdict:
        return worst_verdict(tuple(sentence.verdict for sentence in self.sentences))


def worst_verdict(verdicts: tuple[Verdict, ...]) -> Verdict:
    """Return the worst of some verdicts; without one that checks anything, not applicable."""
    return next((v for v in _WORST_FIRST if v in verdicts), Verdict.NOT_APPLICABLE)


def differ(kind: DifferenceKind, mine: str, theirs: str) -> Difference:
    """Return a difference with the words of both sides for its reason."""
    return Difference(kind, f"“{mine}” where the passage says “{theirs}”", mine, theirs)


def write_place(passage: Passage) -> str:
    """Return where a passage is, as ``read`` and ``verify --against`` take it."""
    lines = f"{passage.first_line}"
    if passage.last_line > passage.first_line:
        lines += f"-{passage.last_line}"
    return f"{passage.note}:{lines}"
