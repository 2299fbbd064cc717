"""The four roles played by a model. Each has its own prompt in ``prompts/``."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

from memory_palace.redqueen.cue_index import CueIndex
from memory_palace.redqueen.dialogue import Dialogue, ReplyError
from memory_palace.redqueen.evolver import clean_anchor
from memory_palace.redqueen.memories import Memories
from memory_palace.redqueen.replies import (
    read_choice,
    read_items,
    read_number,
    read_text,
    read_texts,
)
from memory_palace.redqueen.roles import Roles
from memory_palace.redqueen.values import (
    PASS_SCORE,
    Answer,
    Cue,
    Evaluation,
    Evolution,
    Gap,
    Question,
    Strategy,
)

BATCH = 10
"""Questions, answers or memories in one prompt."""
SHORTLIST = 20
"""Cues the Learner is shown for each question, chosen by their words: a palace has thousands."""
_MOST_CONTENT = 4_000
"""Characters of a memory's content in a prompt."""
Item = TypeVar("Item")


def model_roles(dialogue: Dialogue) -> Roles:
    """Return the roles, all played by one model."""
    return Roles(
        ModelExaminer(dialogue),
        ModelLearner(dialogue),
        ModelEvaluator(dialogue),
        ModelEvolver(dialogue),
    )


class ModelExaminer:
    """Writes questions on the chosen memories."""

    def __init__(self, dialogue: Dialogue) -> None:
        self._dialogue = dialogue

    async def ask(
        self, memories: Memories, targets: Sequence[str], strategy: Strategy, *, rng: random.Random
    ) -> list[Question]:
        """Return one question for each mention of a target; ``rng`` has been used to choose."""
        questions: list[Question] = []
        for batch in _batches(targets):
            names = [f"m{number}" for number, _ in enumerate(batch, 1)]
            data = {
                "strategy": strategy.value,
                "targets": [
                    _truth(name, id, memories) for name, id in zip(names, batch, strict=True)
                ],
            }

            def parse(
                reply: object, batch: Sequence[str] = batch, names: Sequence[str] = names
            ) -> list[Question]:
                items = read_items(reply, "questions", len(batch))
                for item, name in zip(items, names, strict=True):
                    read_choice(item, "id", [name])
                return [_question(id, item) for id, item in zip(batch, items, strict=True)]

            questions += await self._dialogue.ask("examiner", data, parse)
        return questions


class ModelLearner:
    """Answers from cues. No content of a memory is ever put into its prompt."""

    def __init__(self, dialogue: Dialogue) -> None:
        self._dialogue = dialogue

    async def recall(self, questions: Sequence[str], cues: Sequence[Cue]) -> list[Answer]:
        """Return one answer per question."""
        answers: list[Answer] = []
        index = CueIndex(cues) if cues and len(cues) > SHORTLIST else None
        for batch in _batches(questions):
            shown = cues if index is None else _shortlist(index, batch, cues)
            names = {f"m{number}": cue.memory_id for number, cue in enumerate(shown, 1)}
            data = {
                "cues": [
                    {"id": name, "subject": cue.subject, "anchors": cue.anchors, "image": cue.image}
                    for name, cue in zip(names, shown, strict=True)
                ],
                "questions": [
                    {"question": number, "text": text} for number, text in enumerate(batch, 1)
                ],
            }

            def parse(
                reply: object, count: int = len(batch), names: Mapping[str, str] = names
            ) -> list[Answer]:
                return [_answer(item, names) for item in read_items(reply, "answers", count)]

            answers += await self._dialogue.ask("learner", data, parse)
        return answers


class ModelEvaluator:
    """Judges answers against the truth."""

    def __init__(self, dialogue: Dialogue) -> None:
        self._dialogue = dialogue

    async def judge(
        self, questions: Sequence[Question], answers: Sequence[Answer], memories: Memories
    ) -> list[Evaluation]:
        """Return one evaluation per question."""
        evaluations: list[Evaluation] = []
        pairs = list(zip(questions, answers, strict=True))
        for batch in _batches(pairs):
            data = {
                "cases": [
                    {
                        "question": number, "text": question.question_text,
                        "expected": question.expected_elements,
                        "truth": memories[question.memory_id].content[:_MOST_CONTENT],
                        "image": memories[question.memory_id].cue.image,
                        "answer": answer.text, "confidence": answer.confidence,
                    }
                    for number, (question, answer) in enumerate(batch, 1)
                ]
            }  # fmt: skip

            def parse(
                reply: object, batch: Sequence[tuple[Question, Answer]] = batch
            ) -> list[Evaluation]:
                items = read_items(reply, "evaluations", len(batch))
                asked = (question for question, _ in batch)
                return [_evaluation(q, item) for q, item in zip(asked, items, strict=True)]

            evaluations += await self._dialogue.ask("evaluator", data, parse)
        return evaluations


class ModelEvolver:
    """Writes anchors, other names and images."""

    def __init__(self, dialogue: Dialogue) -> None:
        self._dialogue = dialogue

    async def strengthen(
        self, weak: Mapping[str, Sequence[Evaluation]], memories: Memories
    ) -> list[Evolution]:
        """Return at most one evolution for each weak memory."""
        evolutions: list[Evolution] = []
        for batch in _batches(list(weak.items())):
            data = {
                "memories": [
                    {
                        **_truth(f"m{number}", id, memories),
                        "image": memories[id].cue.image,
                        "anchors": memories[id].cue.anchors,
                        "gaps": [gap for evaluation in found for gap in evaluation.gaps],
                    }
                    for number, (id, found) in enumerate(batch, 1)
                ]
            }

            def parse(
                reply: object, batch: Sequence[tuple[str, Sequence[Evaluation]]] = batch
            ) -> list[Evolution]:
                items = read_items(reply, "memories", len(batch))
                return [
                    _evolution(f"m{number}", id, found, item)
                    for number, ((id, found), item) in enumerate(zip(batch, items, strict=True), 1)
                ]

            evolutions += await self._dialogue.ask("evolver", data, parse)
        return [evolution for evolution in evolutions if evolution]


def _batches(items: Sequence[Item]) -> Iterator[Sequence[Item]]:
    return (items[start : start + BATCH] for start in range(0, len(items), BATCH))


def _truth(name: str, id: str, memories: Memories) -> dict[str, object]:
    memory = memories[id]
    return {
        "id": name,
        "subject": memory.cue.subject,
        "content": memory.content[:_MOST_CONTENT],
        "links": [memories[link].cue.subject for link in memory.links[:BATCH]],
    }


def _shortlist(index: CueIndex, questions: Sequence[str], cues: Sequence[Cue]) -> list[Cue]:
    chosen: set[int] = set()
    for scores in index.score(questions):
        chosen |= set(index.rank(scores).places[:SHORTLIST])
    return [cues[place] for place in sorted(chosen)] or list(cues[:SHORTLIST])


def _question(id: str, item: Mapping[str, object]) -> Question:
    return Question(
        id,
        read_text(item, "question"),
        str(read_number(item, "difficulty", low=1, high=5)),
        tuple(read_texts(item, "expected", least=1, most=6)),
    )


def _answer(item: Mapping[str, object], names: Mapping[str, str]) -> Answer:
    recalled = read_texts(item, "recalled", most=SHORTLIST)
    unknown = [name for name in recalled if name not in names]
    if unknown:
        raise ReplyError(f"there is no cue {unknown[0]!r}")
    text = read_text(item, "answer", may_be_empty=True)
    confidence = read_number(item, "confidence", low=1, high=5)
    return Answer(tuple(names[name] for name in dict.fromkeys(recalled))[:5], text, confidence)


def _evaluation(question: Question, item: Mapping[str, object]) -> Evaluation:
    score = read_number(item, "accuracy", low=0, high=100) / 100
    missed = read_texts(item, "missed", most=10)
    wrong = read_texts(item, "misconceptions", most=10)
    image = read_choice(item, "image", ("strong", "weak", "none"))
    calibration = read_choice(item, "calibration", ("over", "under", "appropriate"))
    gaps = [Gap("missing detail", element) for element in missed]
    gaps += [Gap("misconception", words) for words in wrong]
    if image == "weak":
        gaps.append(Gap("weak image", ", ".join(missed) or question.question_text))
    if calibration != "appropriate":
        gaps.append(Gap("miscalibration", f"{calibration}-confident"))
    return Evaluation(
        question.memory_id,
        score,
        tuple(map(str, gaps)),
        score < PASS_SCORE or bool(wrong) or image == "weak",
        tuple(gaps),
        question.question_text,
    )


def _evolution(
    name: str, id: str, found: Sequence[Evaluation], item: Mapping[str, object]
) -> Evolution:
    read_choice(item, "id", [name])
    anchors = [clean_anchor(text) for text in read_texts(item, "anchors", most=8)]
    aliases = [clean_anchor(text) for text in read_texts(item, "aliases", most=4)]
    return Evolution(
        id,
        anchors=tuple(dict.fromkeys(filter(None, anchors))),
        aliases=tuple(dict.fromkeys(filter(None, aliases))),
        image=read_text(item, "image", may_be_empty=True),
        reasons=tuple(dict.fromkeys(gap for evaluation in found for gap in evaluation.gaps)),
    )
