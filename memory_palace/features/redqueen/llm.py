"""The four roles played by a model. The prompt of each is in ``prompts/``."""

from __future__ import annotations

import random
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, partial
from importlib.resources import files
from typing import Any, TypeAlias

from memory_palace.dialogue import (
    Dialogue,
    ReplyError,
    read_choice,
    read_number,
    read_text,
    read_texts,
)
from memory_palace.features.memories.collection import TextCollection
from memory_palace.features.redqueen.session import (
    Cue,
    Evaluation,
    ExaminedMemory,
    LearnerAnswer,
    Memories,
    ProposalKind,
    Question,
    RoundProposal,
    Strategy,
    conclude,
)
from memory_palace.language.visible import may_hold_marker, visible_line

BATCH = 4
"""Most questions, answers or memories per prompt."""
SHORTLIST = 10
"""Cues per question that the Learner sees, best by shared words: a palace has thousands."""
_MOST_CONTENT = 3_000
"""Most characters of a memory's content in a prompt. Four make some 3,000 tokens; a local model
reads no more than 4,096 at once by default."""
_LISTS = {
    "examiner": ("targets", "m"),
    "learner": ("questions", "q"),
    "evaluator": ("cases", "q"),
    "evolver": ("memories", "m"),
}
"""By role: the key of the entries in its prompt, and the letter before their numbers. Paths would
give hints."""
_UNSAFE = re.compile(r"[\[\]{}<>|`*\\\"]|\A[#>%-]|://|%%|--")
Reply: TypeAlias = Mapping[str, Any]
Schema: TypeAlias = dict[str, Any]
_PROMPTS = files("memory_palace.features.redqueen").joinpath("prompts")


def read_prompt(role: str) -> str:
    """Return the prompt of a role."""
    return _PROMPTS.joinpath(f"{role}.md").read_text("utf-8")


@cache
def _read_fields() -> Mapping[str, Mapping[str, Mapping[str, Schema]]]:
    """Return the JSON schema of each field of a reply's entries, by role and reply key."""
    return tomllib.loads(_PROMPTS.joinpath("replies.toml").read_text("utf-8"))


def _object(properties: Mapping[str, Schema]) -> Schema:
    known: Schema = {"type": "object", "properties": properties, "required": list(properties)}
    return known | {"additionalProperties": False}


def read_entries(role: str, reply: object, names: Sequence[str]) -> list[Reply]:
    """Return a reply's entries in the order of ``names``; raise ``ReplyError`` if malformed."""
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
    """Play all four roles with one model; each method sends the prompts of one role."""

    def __init__(self, dialogue: Dialogue) -> None:
        self._dialogue = dialogue

    async def ask(
        self, memories: Memories, targets: Sequence[str], strategy: Strategy, *, rng: random.Random
    ) -> list[Question]:
        """Return one question for each mention of a target; ``rng`` is not used."""
        described = [_describe(memories[id]) for id in targets]
        replies = await self._send("examiner", described, strategy=strategy.value)
        return [
            Question(id, reply["question"], str(reply["difficulty"]), tuple(reply["expected"]))
            for id, reply in zip(targets, replies, strict=True)
        ]

    async def recall(self, questions: Sequence[str], cues: Sequence[Cue]) -> list[LearnerAnswer]:
        """Return one answer per question; the prompt never holds the content of a memory."""
        texts = TextCollection([str(cue) for cue in cues])
        answers: list[LearnerAnswer] = []
        for start in range(0, len(questions), BATCH):
            batch, places = questions[start : start + BATCH], set[int]()
            for question in batch:
                ranked = (-texts.score(question)).argsort(kind="stable")
                places.update(ranked[:SHORTLIST].tolist())
            shown = {f"m{place + 1}": cues[place] for place in sorted(places)}
            listed = [
                {"id": name, "subject": cue.subject, "anchors": cue.anchors, "image": cue.image}
                for name, cue in shown.items()
            ]
            replies = await self._send("learner", [{"text": text} for text in batch], cues=listed)
            for reply in replies:
                names = dict.fromkeys(reply["recalled"])
                ids = [shown[name].memory_id for name in names if name in shown]
                answers.append(LearnerAnswer(tuple(ids[:5]), reply["answer"], reply["confidence"]))
        return answers

    async def judge(
        self, questions: Sequence[Question], answers: Sequence[LearnerAnswer], memories: Memories
    ) -> list[Evaluation]:
        described = [
            {
                "text": question.question_text,
                "expected": question.expected_elements,
                "truth": memories[question.memory_id].content[:_MOST_CONTENT],
                "image": memories[question.memory_id].cue.image,
                "answer": answer.text,
                "confidence": answer.confidence,
            }
            for question, answer in zip(questions, answers, strict=True)
        ]
        replies = await self._send("evaluator", described)
        return [_evaluate(*pair) for pair in zip(questions, replies, strict=True)]

    async def strengthen(
        self, weak: Mapping[str, Sequence[Evaluation]], memories: Memories, strategy: Strategy
    ) -> list[RoundProposal]:
        described = [
            {
                **_describe(memories[id]),
                "image": memories[id].cue.image,
                "anchors": memories[id].cue.anchors,
                "gaps": [gap for evaluation in found for gap in evaluation.gaps],
            }
            for id, found in weak.items()
        ]
        proposals: list[RoundProposal] = []
        replies = await self._send("evolver", described)
        for (id, found), reply in zip(weak.items(), replies, strict=True):
            proposals += _propose(id, found, reply)
        return proposals

    async def _send(
        self, role: str, entries: Sequence[Mapping[str, object]], **more: object
    ) -> list[Reply]:
        """Send a role's entries in batches; return the entries of the replies, one for each."""
        key, letter = _LISTS[role]
        ((name, fields),) = _read_fields()[role].items()
        found: list[Reply] = []
        for start in range(0, len(entries), BATCH):
            batch = {f"{letter}{n}": e for n, e in enumerate(entries[start : start + BATCH], 1)}
            data = {**more, key: [{"id": id, **entry} for id, entry in batch.items()]}
            schema = _object({name: _object(dict.fromkeys(batch, _object(fields)))})
            parse = partial(read_entries, role, names=list(batch))
            found += await self._dialogue.ask(role, read_prompt(role), data, parse, schema=schema)
        return found


def _describe(memory: ExaminedMemory) -> dict[str, object]:
    return {"subject": memory.cue.subject, "content": memory.content[:_MOST_CONTENT]}


def _evaluate(question: Question, item: Reply) -> Evaluation:
    gaps = [f"missing detail: {element}" for element in item["missed"]]
    gaps += [f"misconception: {words}" for words in item["misconceptions"]]
    if item["image"] == "weak":
        gaps.append(f"weak image: {', '.join(item['missed']) or question.question_text}")
    if item["calibration"] != "appropriate":
        gaps.append(f"miscalibration: {item['calibration']}-confident")
    return conclude(question, item["accuracy"] / 100, gaps)


def _propose(id: str, found: Sequence[Evaluation], item: Reply) -> Iterator[RoundProposal]:
    """Yield a reply's proposals, without texts with markup, a token or hidden characters."""
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
