"""The four roles. Each has an offline form and one that asks a model."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from memory_palace.redqueen.examined import Memories
from memory_palace.redqueen.round_values import (
    Cue,
    Evaluation,
    Evolution,
    Question,
    Recollection,
    Strategy,
)


class Examiner(Protocol):
    """Reads everything and asks what should be known."""

    async def ask(
        self, memories: Memories, targets: Sequence[str], strategy: Strategy, *, rng: random.Random
    ) -> list[Question]:
        """Return at most one question for each target; a target may be named several times."""
        ...


class Learner(Protocol):
    """Recalls. Its signature is the proof of its ignorance: texts of questions, and cues."""

    async def recall(self, questions: Sequence[str], cues: Sequence[Cue]) -> list[Recollection]:
        """Return one answer per question."""
        ...


class Evaluator(Protocol):
    """Compares answers with the truth and names what is lacking."""

    async def judge(
        self, questions: Sequence[Question], answers: Sequence[Recollection], memories: Memories
    ) -> list[Evaluation]:
        """Return one evaluation per question."""
        ...


class Evolver(Protocol):
    """Proposes what would close the gaps."""

    async def strengthen(
        self, weak: Mapping[str, Sequence[Evaluation]], memories: Memories
    ) -> list[Evolution]:
        """Return at most one evolution for each weak memory."""
        ...


@dataclass(frozen=True, slots=True)
class Roles:
    """Who plays what."""

    examiner: Examiner
    learner: Learner
    evaluator: Evaluator
    evolver: Evolver
