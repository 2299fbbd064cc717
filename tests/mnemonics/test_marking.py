"""A model may judge an image; its name is stored with the mark, and people have the last word."""

from __future__ import annotations

import importlib.util
import json
from types import SimpleNamespace

import pytest

from memory_palace.dialogue import Dialogue
from memory_palace.errors import CheckFailedError
from memory_palace.mnemonics.memory_values import Factor, Mark
from memory_palace.palace import Palace

pytestmark = [
    pytest.mark.llm,
    pytest.mark.skipif(importlib.util.find_spec("llm") is None, reason="needs the extra [llm]"),
]
IMAGE = "You kick a red gong. [Verify: mustard waltz umbrella]"


class Model:
    """Replies with what it is given, in turn, the last again and again; keeps the prompts."""

    model_id = "judge (v2)"

    def __init__(self, *replies):
        self.replies = list(replies)
        self.prompts = []

    def prompt(self, text, **_):
        self.prompts.append(text)
        reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        usage = SimpleNamespace(input=10, output=5)
        return SimpleNamespace(text=lambda: reply, usage=lambda: usage)


def reply(*present, factors=Factor):
    items = [
        {"factor": f.value, "present": f in present, "reason": f"see (by me) {f.value}"}
        for f in factors
    ]
    return json.dumps({"factors": items})


@pytest.fixture
def palace(tmp_path):
    made = Palace.init(tmp_path)
    made.memories.new("Gong", image=IMAGE, content="Everyone votes.", domain="")
    return made


def marks_of(palace):
    return {mark.factor: mark for mark in palace.memories.show("Gong").marks}


def test_marks_of_a_model_are_written_with_its_name(palace):
    model = Model(reply(Factor.ABSURD, Factor.HUMOR))
    scored = palace.memories.score("Gong", dialogue=Dialogue(model), apply=True)
    stored = marks_of(palace)
    assert scored.score == 2 and len(stored) == 12
    assert stored[Factor.HUMOR] == Mark(Factor.HUMOR, True, "see by me humor", "judge v2")
    assert not stored[Factor.COLOR].is_present
    assert "umbrella" not in model.prompts[0] and "kick a red gong" in model.prompts[0]


def test_what_a_person_marked_stays_and_what_the_model_marked_is_made_anew(palace):
    mine = Mark(Factor.HUMOR, False, "not to me", "ilse")
    palace.memories.score("Gong", [mine], apply=True)
    for present in (Factor.ABSURD, Factor.SYMBOLS):
        dialogue = Dialogue(Model(reply(present, Factor.HUMOR)))
        palace.memories.score("Gong", dialogue=dialogue, apply=True)
    stored = marks_of(palace)
    assert stored[Factor.HUMOR] == mine
    assert stored[Factor.SYMBOLS].is_present and not stored[Factor.ABSURD].is_present


def test_a_reply_without_every_factor_is_asked_again_and_then_refused(palace):
    part = reply(factors=[*list(Factor)[:11], Factor.SUBSTITUTE])
    model = Model(part, "no JSON", reply(Factor.COLOR))
    assert palace.memories.score("Gong", dialogue=Dialogue(model)).score == 1
    assert len(model.prompts) == 3
    with pytest.raises(CheckFailedError, match="as marker gave 3 unusable replies"):
        palace.memories.score("Gong", dialogue=Dialogue(Model(part)))
