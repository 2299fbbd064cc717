"""The four roles played by a model. Each has its own prompt in ``prompts/``."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from importlib.resources import files
from itertools import chain
from typing import TypeVar

from memory_palace.dialogue import Dialogue
from memory_palace.redqueen.companions import find_companions
from memory_palace.redqueen.examined import Memories
from memory_palace.redqueen.proposals import RoundProposal
from memory_palace.redqueen.replies import (
    Reply,
    read_entries,
    read_evaluation,
    read_proposals,
    read_question,
    read_recollection,
    reply_schema,
)
from memory_palace.redqueen.round_values import (
    Cue,
    Evaluation,
    LearnerAnswer,
    Question,
    Strategy,
    cue_text,
)
from memory_palace.redqueen.session import Roles
from memory_palace.retrieval.collection import TextCollection

BATCH = 10
"""Questions, answers or memories in one prompt, as long as its texts are short."""
SHORTLIST = 20
"""Cues the Learner is shown for each question, chosen by their words: a palace has thousands."""
_MOST_CONTENT = 4_000
"""Characters of a memory's content in a prompt."""
_MOST_BESIDE = 1_500
"""Characters of the content of a rival or a linked memory."""
_MOST_TEXT = 12_000
"""Characters of all texts in one prompt, some 3,000 tokens: a model that runs at home reads no more
than 4,096 at once unless it is told to."""
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
        describe = _Describer(memories, targets, strategy)
        questions: list[Question] = []
        for batch in _batches(targets, describe.length):
            truths = [describe.truth(name, id) for name, id in _name(batch)]
            data = {"strategy": strategy.value, "targets": truths}
            questions += await self._send("examiner", data, batch, read_question)
        return questions

    async def recall(self, questions: Sequence[str], cues: Sequence[Cue]) -> list[LearnerAnswer]:
        """Return one answer per question. No content of a memory is ever put into the prompt."""
        likely = dict(zip(questions, _shortlists(questions, cues), strict=True))
        sizes = [len(cue_text(cue)) for cue in cues]

        def length(question: str) -> int:
            return len(question) + sum(sizes[place] for place in likely[question])

        answers: list[LearnerAnswer] = []
        for batch in _batches(questions, length):
            places = sorted(set(chain.from_iterable(likely[question] for question in batch)))
            shown = dict(_name([cues[place] for place in places]))
            data = {
                "cues": [
                    {"id": name, "subject": cue.subject, "anchors": cue.anchors, "image": cue.image}
                    for name, cue in shown.items()
                ],
                "questions": [{"id": name, "text": text} for name, text in _name(batch, "q")],
            }
            answers += await self._send(
                "learner", data, batch, partial(read_recollection, shown), "q"
            )
        return answers

    async def judge(
        self, questions: Sequence[Question], answers: Sequence[LearnerAnswer], memories: Memories
    ) -> list[Evaluation]:
        """Return one evaluation per question."""
        evaluations: list[Evaluation] = []
        cases = list(zip(questions, answers, strict=True))
        for batch in _batches(cases, lambda case: len(memories[case[0].memory_id].content)):
            described = [
                {
                    "id": name,
                    "text": question.question_text,
                    "expected": question.expected_elements,
                    "truth": memories[question.memory_id].content[:_MOST_CONTENT],
                    "image": memories[question.memory_id].cue.image,
                    "answer": answer.text,
                    "confidence": answer.confidence,
                }
                for name, (question, answer) in _name(batch, "q")
            ]
            asked = [question for question, _ in batch]
            data = {"cases": described}
            evaluations += await self._send("evaluator", data, asked, read_evaluation, "q")
        return evaluations

    async def strengthen(
        self, weak: Mapping[str, Sequence[Evaluation]], memories: Memories, strategy: Strategy
    ) -> list[RoundProposal]:
        """Return what may close the gaps of each weak memory, not yet vetted."""
        describe = _Describer(memories, list(weak), strategy)
        proposals: list[list[RoundProposal]] = []
        for batch in _batches(list(weak), describe.length):
            described = [
                {
                    **describe.truth(name, id),
                    "image": memories[id].cue.image,
                    "anchors": memories[id].cue.anchors,
                    "gaps": [gap for evaluation in weak[id] for gap in evaluation.gaps],
                }
                for name, id in _name(batch)
            ]
            data = {"memories": described}
            proposals += await self._send(
                "evolver", data, batch, lambda id, item: read_proposals(id, weak[id], item)
            )
        return list(chain.from_iterable(proposals))

    async def _send(
        self,
        role: str,
        data: Mapping[str, object],
        batch: Sequence[Item],
        read: Callable[[Item, Reply], Value],
        letter: str = "m",
    ) -> list[Value]:
        """Return what ``read`` makes of each entry of the reply, one for each of a batch."""
        names = [name for name, _ in _name(batch, letter)]

        def parse(reply: object) -> list[Value]:
            return list(map(read, batch, read_entries(role, reply, names)))

        schema = reply_schema(role, names)
        return await self._dialogue.ask(role, read_prompt(role), data, parse, schema=schema)


class _Describer:
    """Describes memories to those roles that may read them, with what the strategy puts beside."""

    def __init__(self, memories: Memories, ids: Sequence[str], strategy: Strategy) -> None:
        self._memories = memories
        self._companions = find_companions(ids, memories, strategy)
        self._is_adversarial = strategy is Strategy.ADVERSARIAL

    def truth(self, name: str, id: str) -> dict[str, object]:
        """Return subject and content of a memory, and of what the strategy puts beside it."""
        truth: dict[str, object] = {"id": name, **self._tell(id, _MOST_CONTENT)}
        beside = [self._tell(other, _MOST_BESIDE) for other in self._companions.get(id, ())]
        if beside and self._is_adversarial:
            return truth | {"rival": beside[0]}
        return truth | {"linked": beside} if beside else truth

    def length(self, id: str) -> int:
        """Return about how many characters that is."""
        beside = sum(
            min(len(self._memories[other].content), _MOST_BESIDE)
            for other in self._companions.get(id, ())
        )
        return min(len(self._memories[id].content), _MOST_CONTENT) + beside

    def _tell(self, id: str, most: int) -> dict[str, object]:
        memory = self._memories[id]
        return {"subject": memory.cue.subject, "content": memory.content[:most]}


def read_prompt(role: str) -> str:
    """Return the prompt of a role."""
    return files("memory_palace.redqueen").joinpath("prompts", f"{role}.md").read_text("utf-8")


def _batches(items: Sequence[Item], length: Callable[[Item], int]) -> Iterator[Sequence[Item]]:
    """Yield items in order, at most ``BATCH`` at once, with no more text than a prompt holds."""
    start = size = 0
    for place, item in enumerate(items):
        size += length(item)
        if place > start and (place - start == BATCH or size > _MOST_TEXT):
            yield items[start:place]
            start, size = place, length(item)
    if items:
        yield items[start:]


def _name(items: Sequence[Item], letter: str = "m") -> Iterator[tuple[str, Item]]:
    """Yield items with what they are called in a prompt: paths would be hints."""
    return ((f"{letter}{number}", item) for number, item in enumerate(items, 1))


def _shortlists(questions: Sequence[str], cues: Sequence[Cue]) -> Iterator[Sequence[int]]:
    """Yield the places of the cues that each question may be shown, the likeliest by words."""
    if len(cues) <= SHORTLIST:
        yield from (range(len(cues)) for _ in questions)
        return
    texts = TextCollection([cue_text(cue) for cue in cues])
    for question in questions:
        scores = texts.score(question)
        yield (-scores).argsort(kind="stable")[:SHORTLIST].tolist()
