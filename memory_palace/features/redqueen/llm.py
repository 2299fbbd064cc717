"""The four roles played by a model. Each has its own prompt in ``prompts/``."""

from __future__ import annotations

import random
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from itertools import chain
from typing import Any, TypeAlias, TypeVar

from memory_palace.dialogue import (
    Dialogue,
    ReplyError,
    read_choice,
    read_number,
    read_text,
    read_texts,
)
from memory_palace.features.redqueen.examined import Cue, Memories
from memory_palace.features.redqueen.session import (
    Evaluation,
    LearnerAnswer,
    ProposalKind,
    Question,
    RoundProposal,
    Strategy,
    conclude,
)
from memory_palace.language.markers import may_hold_marker
from memory_palace.language.visible import visible_line
from memory_palace.retrieval.collection import TextCollection

BATCH = 10
"""Questions, answers or memories in one prompt, as long as its texts are short."""
SHORTLIST = 20
"""Cues the Learner is shown for each question, chosen by their words: a palace has thousands."""
_MOST_CONTENT = 4_000
"""Characters of a memory's content in a prompt."""
_MOST_TEXT = 12_000
"""Characters of all texts in one prompt, some 3,000 tokens: a model that runs at home reads no more
than 4,096 at once unless it is told to."""
_UNSAFE = re.compile(r"[\[\]{}<>|`*\\\"]|\A[#>%-]|://|%%|--")
Item = TypeVar("Item")
Reply: TypeAlias = Mapping[str, Any]
Schema: TypeAlias = dict[str, Any]
_PROMPTS = files("memory_palace.features.redqueen").joinpath("prompts")


def read_prompt(role: str) -> str:
    """Return the prompt of a role."""
    return _PROMPTS.joinpath(f"{role}.md").read_text("utf-8")


@cache
def _read_fields() -> Mapping[str, Mapping[str, Mapping[str, Schema]]]:
    """Return by role and by what its reply holds the fields of an entry."""
    return tomllib.loads(_PROMPTS.joinpath("replies.toml").read_text("utf-8"))


def _object(properties: Mapping[str, Schema]) -> Schema:
    known: Schema = {"type": "object", "properties": properties, "required": list(properties)}
    return known | {"additionalProperties": False}


def read_entries(role: str, reply: object, names: Sequence[str]) -> list[Reply]:
    """Return the entries of a reply in the order of the names in its prompt."""
    ((key, fields),) = _read_fields()[role].items()
    entries = reply.get(key) if isinstance(reply, dict) else None
    if not isinstance(entries, dict) or set(entries) != set(names):
        raise ReplyError(f"{key!r} is no object with an entry for each of {', '.join(names)}")
    found: list[Reply] = []
    for name in names:
        if not isinstance(entries[name], dict):
            raise ReplyError(f"{name!r} is not an object")
        found.append({key: _read(entries[name], key, field) for key, field in fields.items()})
    return found


def _read(item: Mapping[str, object], key: str, field: Schema) -> object:
    if field["type"] == "integer":
        return read_number(item, key, low=field["minimum"], high=field["maximum"])
    if field["type"] == "array":
        return read_texts(item, key, least=field["minItems"], most=2 * field["maxItems"])
    if "enum" in field:
        return read_choice(item, key, field["enum"])
    return read_text(item, key, may_be_empty=key != "question")


class ModelRoles:
    """Plays all four roles with one model; each call of it sends the prompt of one role."""

    def __init__(self, dialogue: Dialogue) -> None:
        self._dialogue = dialogue

    async def ask(
        self, memories: Memories, targets: Sequence[str], strategy: Strategy, *, rng: random.Random
    ) -> list[Question]:
        """Return one question for each mention of a target; ``rng`` has been used to choose."""
        questions: list[Question] = []
        for batch in _batches(targets, lambda id: _length(memories, id)):
            truths = [_truth(memories, name, id) for name, id in _name(batch)]
            data = {"strategy": strategy.value, "targets": truths}
            for id, item in zip(batch, await self._send("examiner", data, batch), strict=True):
                expected = tuple(item["expected"])
                level = str(item["difficulty"])
                questions.append(Question(id, item["question"], level, expected))
        return questions

    async def recall(self, questions: Sequence[str], cues: Sequence[Cue]) -> list[LearnerAnswer]:
        """Return one answer per question. No content of a memory is ever put into the prompt."""
        likely = dict(zip(questions, _shortlists(questions, cues), strict=True))
        sizes = [len(str(cue)) for cue in cues]

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
            for item in await self._send("learner", data, batch, "q"):
                ids = [shown[id].memory_id for id in dict.fromkeys(item["recalled"]) if id in shown]
                answers.append(LearnerAnswer(tuple(ids[:5]), item["answer"], item["confidence"]))
        return answers

    async def judge(
        self, questions: Sequence[Question], answers: Sequence[LearnerAnswer], memories: Memories
    ) -> list[Evaluation]:
        """Return one evaluation per question."""
        evaluations: list[Evaluation] = []
        cases = list(zip(questions, answers, strict=True))
        for batch in _batches(cases, lambda case: _length(memories, case[0].memory_id)):
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
            items = await self._send("evaluator", {"cases": described}, batch, "q")
            evaluations += [
                _evaluate(case[0], item) for case, item in zip(batch, items, strict=True)
            ]
        return evaluations

    async def strengthen(
        self, weak: Mapping[str, Sequence[Evaluation]], memories: Memories, strategy: Strategy
    ) -> list[RoundProposal]:
        """Return what may close the gaps of each weak memory: questions, other names, an image."""
        proposals: list[RoundProposal] = []
        for batch in _batches(list(weak), lambda id: _length(memories, id)):
            described = [
                {
                    **_truth(memories, name, id),
                    "image": memories[id].cue.image,
                    "anchors": memories[id].cue.anchors,
                    "gaps": [gap for evaluation in weak[id] for gap in evaluation.gaps],
                }
                for name, id in _name(batch)
            ]
            items = await self._send("evolver", {"memories": described}, batch)
            for id, item in zip(batch, items, strict=True):
                proposals += _propose(id, weak[id], item)
        return proposals

    async def _send(
        self, role: str, data: Mapping[str, object], batch: Sequence[object], letter: str = "m"
    ) -> list[Reply]:
        """Return the entries of the reply, one for each of a batch."""
        names = [name for name, _ in _name(batch, letter)]
        ((key, fields),) = _read_fields()[role].items()
        schema = _object({key: _object(dict.fromkeys(names, _object(fields)))})

        def parse(reply: object) -> list[Reply]:
            return read_entries(role, reply, names)

        return await self._dialogue.ask(role, read_prompt(role), data, parse, schema=schema)


def _evaluate(question: Question, item: Reply) -> Evaluation:
    gaps = [f"missing detail: {element}" for element in item["missed"]]
    gaps += [f"misconception: {words}" for words in item["misconceptions"]]
    if item["image"] == "weak":
        gaps.append(f"weak image: {', '.join(item['missed']) or question.question_text}")
    if item["calibration"] != "appropriate":
        gaps.append(f"miscalibration: {item['calibration']}-confident")
    return conclude(question, item["accuracy"] / 100, gaps)


def _propose(id: str, found: Sequence[Evaluation], item: Reply) -> Iterator[RoundProposal]:
    """Yield what a reply proposes, without what holds markup, a token or hidden characters."""
    reason = f"not recalled when asked: {found[0].question}"
    kinds: Mapping[ProposalKind, Sequence[str]] = {
        "question": item["questions"],
        "alias": item["aliases"],
        "image": [item["image"]],
    }
    for kind, texts in kinds.items():
        for text in filter(_is_safe, dict.fromkeys(texts)):
            yield RoundProposal(kind, id, text, reason=reason)


def _is_safe(text: str) -> bool:
    is_plain = not may_hold_marker(text) and visible_line(text) == text
    return bool(text) and is_plain and _UNSAFE.search(text) is None


def _truth(memories: Memories, name: str, id: str) -> dict[str, object]:
    memory = memories[id]
    return {"id": name, "subject": memory.cue.subject, "content": memory.content[:_MOST_CONTENT]}


def _length(memories: Memories, id: str) -> int:
    return min(len(memories[id].content), _MOST_CONTENT)


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
    texts = TextCollection([str(cue) for cue in cues])
    for question in questions:
        yield (-texts.score(question)).argsort(kind="stable")[:SHORTLIST].tolist()
