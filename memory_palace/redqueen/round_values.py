"""What the four roles of the Red Queen hand to each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, TypeAlias

PASS_SCORE = 0.70
"""Below it a memory is weak (source document 000, weak-spot test)."""

GapKind: TypeAlias = Literal[
    "missing detail", "weak image", "misconception", "missing link", "miscalibration"
]


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
    """One attack. The first four fields are those of the source document."""

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
class Gap:
    """One thing that recall lacks, and what it lacks of it."""

    kind: GapKind
    element: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.element}"


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The verdict on one answer. The first four fields are those of the source document."""

    memory_id: str
    score: float
    """Between 0 and 1."""
    gaps: tuple[str, ...]
    should_evolve: bool
    found: tuple[Gap, ...] = ()
    """The gaps again, as values."""
    question: str = ""


def conclude(question: Question, score: float, gaps: Sequence[Gap]) -> Evaluation:
    """Return the verdict on an answer; misconceptions and weak images weaken whatever the score."""
    is_weak = any(gap.kind in ("misconception", "weak image") for gap in gaps)
    return Evaluation(
        question.memory_id,
        round(score, 6),
        tuple(map(str, gaps)),
        score < PASS_SCORE or is_weak,
        tuple(gaps),
        question.question_text,
    )


def cue_text(cue: Cue) -> str:
    """Return everything a cue says, one part a line."""
    return "\n".join(part for part in (cue.subject, *cue.anchors, cue.image) if part)


def band(score: float) -> str:
    """Name a score (bands of the source's Evaluator, which counts to 100)."""
    for least, name in _BANDS:
        if score >= least:
            return name
    return "wrong"


_BANDS = (
    (1.0, "complete"),
    (0.8, "minor details missing"),
    (0.6, "general idea"),
    (0.4, "partial"),
    (0.2, "misconceived"),
)
