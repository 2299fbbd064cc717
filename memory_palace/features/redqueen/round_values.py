"""What the four roles of the Red Queen hand to each other, and what a round proposes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, TypeAlias

PASS_SCORE = 0.70
"""Below it a memory is weak (source document 000, weak-spot test)."""
_WEAKENING = ("misconception", "weak image")
"""Gaps that make a memory weak whatever its score."""

ProposalKind: TypeAlias = Literal["link", "alias", "question", "image"]


class Strategy(StrEnum):
    """Which memories are attacked first."""

    RANDOM = "random"
    WEAK_SPOTS = "weak-spots"
    DEPTH_FIRST = "depth-first"
    ADVERSARIAL = "adversarial"
    CROSS_LINK = "cross-link"


@dataclass(frozen=True, slots=True)
class Cue:
    """All of a memory that the Learner may see: never its content."""

    memory_id: str
    subject: str
    anchors: tuple[str, ...] = ()
    """Anchor terms and other names."""
    image: str = ""
    """Without its verification token."""


@dataclass(frozen=True, slots=True)
class Question:
    """One attack: the fields of the source document."""

    memory_id: str
    question_text: str
    difficulty: str
    """From ``1``, easy, to ``5``, hard."""
    expected_elements: tuple[str, ...]
    """What a full answer names."""


@dataclass(frozen=True, slots=True)
class LearnerAnswer:
    """What the Learner recalls of one question, from cues alone."""

    recalled: tuple[str, ...]
    """Ids of the memories it thinks of, best first, at most five."""
    text: str
    """What it can say."""
    confidence: int
    """From 1, a guess, to 5, certain."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The verdict on one answer. The first four fields are those of the source document."""

    memory_id: str
    score: float
    """Between 0 and 1."""
    gaps: tuple[str, ...]
    """Each as its kind, a colon, and what is lacking."""
    should_evolve: bool
    question: str = ""


@dataclass(frozen=True, slots=True)
class RoundProposal:
    """One thing that a person may want in a note."""

    kind: ProposalKind
    path: str
    """Of the note that would change."""
    text: str
    """The name, question or image; of a link the words that become it."""
    line: int = 0
    """1-based line of the file where a link goes; 0 for the other kinds."""
    target: str = ""
    """Path of the note that a link leads to."""
    reason: str = ""
    """One line that names the evidence."""
    written: str = ""
    """What stands in place of the words that become a link."""

    def __str__(self) -> str:
        place = f"{self.path}:{self.line}" if self.line else self.path
        target = f" -> {self.target}" if self.target else ""
        return f"{place}  {self.kind} {self.text}{target} ({self.reason})"


def conclude(question: Question, score: float, gaps: Sequence[str]) -> Evaluation:
    """Return the verdict on an answer; misconceptions and weak images weaken whatever the score."""
    is_weak = any(gap.startswith(_WEAKENING) for gap in gaps)
    return Evaluation(
        question.memory_id,
        round(score, 6),
        tuple(gaps),
        score < PASS_SCORE or is_weak,
        question.question_text,
    )


def cue_text(cue: Cue) -> str:
    """Return everything a cue says, one part a line."""
    return "\n".join(part for part in (cue.subject, *cue.anchors, cue.image) if part)
