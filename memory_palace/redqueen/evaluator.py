"""Judge answers by expected elements, and name what is lacking."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memory_palace.language.tokens import tokenize
from memory_palace.redqueen.examined import Memories
from memory_palace.redqueen.round_values import Evaluation, Gap, LearnerAnswer, Question, conclude

_CERTAIN = 4
_UNCERTAIN = 2
_GOOD = 0.8
_POOR = 0.4


class ElementEvaluator:
    """Needs no model. The memory itself counts as the first thing to be recalled.

    The score is the mean over that, worth the reciprocal of its rank among the five recalled,
    and over the expected elements, each worth 1 where the answer names it.
    """

    async def judge(
        self, questions: Sequence[Question], answers: Sequence[LearnerAnswer], memories: Memories
    ) -> list[Evaluation]:
        """Return one evaluation per question."""
        return [
            judge_answer(question, answer, memories)
            for question, answer in zip(questions, answers, strict=True)
        ]


def judge_answer(question: Question, answer: LearnerAnswer, memories: Memories) -> Evaluation:
    """Compare one answer with what the question expects."""
    ranks = list(answer.recalled)
    found = 1 / (1 + ranks.index(question.memory_id)) if question.memory_id in ranks else 0.0
    missed = [
        element for element in question.expected_elements if not mentions(answer.text, element)
    ]
    named = len(question.expected_elements) - len(missed)
    score = (found + named) / (1 + len(question.expected_elements))
    return conclude(question, score, list(_find_gaps(question, answer, missed, score, memories)))


def mentions(text: str, element: str) -> bool:
    """Say whether a text holds every token of an element, in any order."""
    wanted = set(tokenize(element))
    return bool(wanted) and wanted <= set(tokenize(text))


def _find_gaps(
    question: Question,
    answer: LearnerAnswer,
    missed: Sequence[str],
    score: float,
    memories: Memories,
) -> Iterator[Gap]:
    is_link = question.kind == "link"
    for element in missed:
        yield Gap("missing link" if is_link else "missing detail", element)
    image = memories[question.memory_id].cue.image
    if image and missed and not any(mentions(image, e) for e in question.expected_elements):
        yield Gap("weak image", ", ".join(missed))
    first = answer.recalled[0] if answer.recalled else ""
    if first and first != question.memory_id and answer.confidence >= _CERTAIN:
        yield Gap("misconception", f"taken for {memories[first].cue.subject}")
    if answer.confidence >= _CERTAIN and score < _POOR:
        yield Gap("miscalibration", f"certain, and {score:.0%} right")
    elif answer.confidence <= _UNCERTAIN and score >= _GOOD:
        yield Gap("miscalibration", f"unsure, and {score:.0%} right")
