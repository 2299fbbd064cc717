"""Other judges of a sentence: a model of the ``llm`` library, a cross-encoder of entailment."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import numpy as np

from memory_palace.checking.verdicts import Passage, Verdict
from memory_palace.dialogue import Dialogue, ReplyError, read_choice, read_number, read_text
from memory_palace.embedding.cross_encoder import open_cross_encoder
from memory_palace.errors import MissingPartError, PalaceError

_ROLE = "judge"
_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "verdict": {"type": "string", "enum": [verdict.value for verdict in Verdict]},
        "reason": {"type": "string"},
        "passage": {"type": "integer", "minimum": 0},
    },
    "required": ["verdict", "reason", "passage"],
    "additionalProperties": False,
}
_SURE = 0.5
"""Probability from which on a label counts: more than all others together."""
_SAID = {Verdict.SUPPORTED: "entailed", Verdict.CONTRADICTED: "contradicted"}
_NO_LETTER = re.compile(r"[^a-z]+")
_STEMS = {
    "not": Verdict.NOT_FOUND,
    "non": Verdict.NOT_FOUND,
    "noent": Verdict.NOT_FOUND,
    "nei": Verdict.NOT_FOUND,
    "neutral": Verdict.NOT_FOUND,
    "unknown": Verdict.NOT_FOUND,
    "entail": Verdict.SUPPORTED,
    "support": Verdict.SUPPORTED,
    "contra": Verdict.CONTRADICTED,
    "refut": Verdict.CONTRADICTED,
}
"""How labels of published models begin, and what each says of a sentence. ``NEI`` is not enough
information."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What another judge makes of a sentence."""

    verdict: Verdict | None
    """``None`` where what it said could not be used."""
    reason: str
    passage: Passage | None = None
    """What it went by."""
    probability: float | None = None
    """Of the verdict, where the judge gives one."""


class ModelJudge:
    """A model of language, asked for one sentence at a time."""

    def __init__(self, dialogue: Dialogue, prompt: str | None = None) -> None:
        """``prompt`` stands for the instructions that come with this package."""
        self.dialogue = dialogue
        self._prompt = read_prompt() if prompt is None else prompt

    def judge(self, sentence: str, passages: Sequence[Passage]) -> Judgement:
        """Return its verdict, or why there is none: it failed, or gave three malformed replies."""
        data = {
            "sentence": sentence,
            "passages": [
                {"number": number, "place": f"{each.note}:{each.first_line}", "text": each.text}
                for number, each in enumerate(passages, 1)
            ],
        }

        def parse(reply: object) -> Judgement:
            return _read_reply(reply, passages)

        try:
            return asyncio.run(self.dialogue.ask(_ROLE, self._prompt, data, parse, schema=_SCHEMA))
        except MissingPartError:
            raise  # no key: it would fail each time
        except PalaceError as error:
            return Judgement(None, str(error))


def read_prompt() -> str:
    """Return the instructions for a model of language."""
    return files("memory_palace.checking").joinpath("prompts", f"{_ROLE}.md").read_text("utf-8")


def _read_reply(reply: object, passages: Sequence[Passage]) -> Judgement:
    if not isinstance(reply, dict):
        raise ReplyError("it is no JSON object")
    verdict = Verdict(read_choice(reply, "verdict", [each.value for each in Verdict]))
    number = read_number(reply, "passage", low=0, high=len(passages))
    place = passages[number - 1] if number else None
    return Judgement(verdict, read_text(reply, "reason", may_be_empty=True), place)


class EntailmentJudge:
    """A cross-encoder that reads a passage and a sentence, and says whether the one has the other.

    ``name`` is a folder, or ``ORGANIZATION/NAME`` in the cache of the Hugging Face hub.
    """

    def __init__(self, name: str) -> None:
        self._model = open_cross_encoder(name, known={})
        self._verdicts = read_labels(self._model.labels, name)

    def judge(self, sentence: str, passages: Sequence[Passage]) -> Judgement:
        """Return what is said by the passage that is surest to entail or to contradict it."""
        if not passages:
            return Judgement(Verdict.NOT_FOUND, "no passage is near", None, 1.0)
        logits = self._model.score([(each.text, sentence) for each in passages]).astype(np.float64)
        shares = np.exp(logits - logits.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
        found = {
            verdict: shares[:, [each == verdict for each in self._verdicts]].sum(axis=1)
            for verdict in set(self._verdicts)
        }
        surest = max((v for v in found if v != Verdict.NOT_FOUND), key=lambda v: found[v].max())
        share = round(float(found[surest].max()), 6)
        if share > _SURE:
            place = passages[int(found[surest].argmax())]
            return Judgement(surest, f"{_SAID[surest]}, probability {share:.2f}", place, share)
        return Judgement(Verdict.NOT_FOUND, "no passage entails it", None, round(1 - share, 6))


def read_labels(labels: Sequence[str], name: str) -> tuple[Verdict, ...]:
    """Return what each label of a model says; raise ``MissingPartError`` where one says nothing.

    Two labels are enough: entailed, or not.
    """
    found = [_read_label(label) for label in labels]
    verdicts = tuple(verdict for verdict in found if verdict is not None)
    if len(verdicts) < len(labels) or not {Verdict.SUPPORTED, Verdict.NOT_FOUND} <= set(verdicts):
        raise MissingPartError(
            f"the model {name} does not tell entailment: its labels are "
            f"{', '.join(labels):.80}; id2label of config.json must call them entailment, neutral "
            "and contradiction, or entailment and not_entailment"
        )
    return verdicts


def _read_label(label: str) -> Verdict | None:
    letters = _NO_LETTER.sub("", label.casefold())
    return next((verdict for stem, verdict in _STEMS.items() if letters.startswith(stem)), None)
