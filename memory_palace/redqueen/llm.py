"""The four roles played by a model. Each has its own prompt in ``prompts/``."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from importlib.resources import files
from typing import TypeVar

from memory_palace.dialogue import (
    Dialogue,
    ReplyError,
    read_choice,
    read_items,
    read_number,
    read_text,
    read_texts,
)
from memory_palace.redqueen.cue_index import CueIndex
from memory_palace.redqueen.evolver import clean_anchor
from memory_palace.redqueen.examined import Memories
from memory_palace.redqueen.round_values import (
    Cue,
    Evaluation,
    Evolution,
    Gap,
    LearnerAnswer,
    Question,
    Strategy,
    conclude,
)
from memory_palace.redqueen.session import Roles

BATCH = 10
"""Questions, answers or memories in one prompt."""
SHORTLIST = 20
"""Cues the Learner is shown for each question, chosen by their words: a palace has thousands."""
_MOST_CONTENT = 4_000
"""Characters of a memory's content in a prompt."""
Item = TypeVar("Item")
Value = TypeVar("Value")


def model_roles(dialogue: Dialogue) -> Roles:
    """Return the roles, all played by one model."""
    player = ModelPlayer(dialogue)
    return Roles(player, player, player, player)


class ModelPlayer:
    """Plays all four roles with one model; each call of it sends the prompt of one role."""

    def __init__(self, dialogue: Dialogue) -> None:
        self._dialogue = dialogue

    async def ask(
        self, memories: Memories, targets: Sequence[str], strategy: Strategy, *, rng: random.Random
    ) -> list[Question]:
        """Return one question for each mention of a target; ``rng`` has been used to choose."""
        questions: list[Question] = []
        for batch in _batches(targets):
            truths = [_truth(name, id, memories) for name, id in _name(batch)]
            data = {"strategy": strategy.value, "targets": truths}
            questions += await self._send("examiner", data, "questions", batch, _question)
        return questions

    async def recall(self, questions: Sequence[str], cues: Sequence[Cue]) -> list[LearnerAnswer]:
        """Return one answer per question. No content of a memory is ever put into the prompt."""
        answers: list[LearnerAnswer] = []
        index = CueIndex(cues) if cues and len(cues) > SHORTLIST else None
        for batch in _batches(questions):
            shown = dict(_name(cues if index is None else _shortlist(index, batch, cues)))
            data = {
                "cues": [
                    {"id": name, "subject": cue.subject, "anchors": cue.anchors, "image": cue.image}
                    for name, cue in shown.items()
                ],
                "questions": [
                    {"question": number, "text": text} for number, text in enumerate(batch, 1)
                ],
            }
            read = partial(_recollection, shown)
            answers += await self._send("learner", data, "answers", batch, read)
        return answers

    async def judge(
        self, questions: Sequence[Question], answers: Sequence[LearnerAnswer], memories: Memories
    ) -> list[Evaluation]:
        """Return one evaluation per question."""
        evaluations: list[Evaluation] = []
        for batch in _batches(list(zip(questions, answers, strict=True))):
            cases = [
                {
                    "question": number,
                    "text": question.question_text,
                    "expected": question.expected_elements,
                    "truth": memories[question.memory_id].content[:_MOST_CONTENT],
                    "image": memories[question.memory_id].cue.image,
                    "answer": answer.text,
                    "confidence": answer.confidence,
                }
                for number, (question, answer) in enumerate(batch, 1)
            ]
            asked = [question for question, _ in batch]
            data = {"cases": cases}
            evaluations += await self._send("evaluator", data, "evaluations", asked, _evaluation)
        return evaluations

    async def strengthen(
        self, weak: Mapping[str, Sequence[Evaluation]], memories: Memories
    ) -> list[Evolution]:
        """Return at most one evolution for each weak memory."""
        evolutions: list[Evolution] = []
        for batch in _batches(list(weak.items())):
            described = [
                {
                    **_truth(name, id, memories),
                    "image": memories[id].cue.image,
                    "anchors": memories[id].cue.anchors,
                    "gaps": [gap for evaluation in found for gap in evaluation.gaps],
                }
                for name, (id, found) in _name(batch)
            ]
            data = {"memories": described}
            evolutions += await self._send("evolver", data, "memories", batch, _evolution)
        return [evolution for evolution in evolutions if evolution]

    async def _send(
        self,
        role: str,
        data: Mapping[str, object],
        key: str,
        batch: Sequence[Item],
        read: Callable[[str, Item, Mapping[str, object]], Value],
    ) -> list[Value]:
        """Return what ``read`` makes of each reply in the list ``key``, one for each of a batch.

        ``read`` takes the name in the prompt, the item of the batch and the reply to it.
        """

        def parse(reply: object) -> list[Value]:
            replies = read_items(reply, key, len(batch))
            named = zip(_name(batch), replies, strict=True)
            return [read(name, item, answer) for (name, item), answer in named]

        return await self._dialogue.ask(role, read_prompt(role), data, parse)


def read_prompt(role: str) -> str:
    """Return the prompt of a role."""
    return files("memory_palace.redqueen").joinpath("prompts", f"{role}.md").read_text("utf-8")


def _batches(items: Sequence[Item]) -> Iterator[Sequence[Item]]:
    return (items[start : start + BATCH] for start in range(0, len(items), BATCH))


def _name(items: Sequence[Item]) -> Iterator[tuple[str, Item]]:
    """Yield items with what they are called in a prompt: paths would be hints."""
    return ((f"m{number}", item) for number, item in enumerate(items, 1))


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


def _question(name: str, id: str, item: Mapping[str, object]) -> Question:
    read_choice(item, "id", [name])
    return Question(
        id,
        read_text(item, "question"),
        str(read_number(item, "difficulty", low=1, high=5)),
        tuple(read_texts(item, "expected", least=1, most=6)),
    )


def _recollection(
    shown: Mapping[str, Cue], _: str, question: str, item: Mapping[str, object]
) -> LearnerAnswer:
    recalled = read_texts(item, "recalled", most=SHORTLIST)
    unknown = [name for name in recalled if name not in shown]
    if unknown:
        raise ReplyError(f"it names an unknown cue {unknown[0]!r}")
    text = read_text(item, "answer", may_be_empty=True)
    confidence = read_number(item, "confidence", low=1, high=5)
    ids = tuple(shown[name].memory_id for name in dict.fromkeys(recalled))
    return LearnerAnswer(ids[:5], text, confidence)


def _evaluation(_: str, question: Question, item: Mapping[str, object]) -> Evaluation:
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
    return conclude(question, score, gaps)


def _evolution(
    name: str, weak: tuple[str, Sequence[Evaluation]], item: Mapping[str, object]
) -> Evolution:
    id, found = weak
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
