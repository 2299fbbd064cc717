"""A model that is registered with ``llm`` the way its plugins do it, and plays the four roles."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import re

import pytest

from memory_palace.bench.answers import measure_answers
from memory_palace.cli.app import main
from memory_palace.dialogue import (
    ATTEMPTS,
    ReplyError,
    find_json,
    open_dialogue,
)
from memory_palace.errors import CheckFailedError, MissingPartError, PalaceError, UsageError
from memory_palace.redqueen.llm import model_roles, read_prompt
from memory_palace.redqueen.round_values import Strategy
from memory_palace.redqueen.rounds import run

pytestmark = [
    pytest.mark.llm,
    pytest.mark.skipif(importlib.util.find_spec("llm") is None, reason="needs the extra [llm]"),
]
ROLES = ("examiner", "learner", "evaluator", "evolver")


def data_of(prompt):
    return json.loads(prompt[prompt.index("\n{\n ") : prompt.rindex("\n}\n") + 2])


class Player:
    """Answers each role from the data in its prompt; ``spoil`` replaces the next replies."""

    def __init__(self):
        self.prompts = []
        self.spoil = []
        self.error = None
        self.counts_tokens = True

    def reply(self, prompt):
        self.prompts.append(prompt)
        if self.error is not None:
            raise self.error
        if self.spoil:
            return self.spoil.pop(0)
        role = next((r for r in ROLES if prompt.startswith(read_prompt(r))), None)
        return json.dumps(getattr(self, role)(data_of(prompt))) if role else "The answer is 2026."

    def examiner(self, data):
        return {"questions": [
            {"id": t["id"], "question": f"What of it? {n}", "difficulty": 3,
             "expected": [re.findall(r"\w{4,}", t["content"])[0]]}
            for n, t in enumerate(data["targets"])
        ]}  # fmt: skip

    def learner(self, data):
        first = data["cues"][0]["id"]
        return {"answers": [
            {"question": q["question"], "recalled": [first], "answer": "hardly", "confidence": 2}
            for q in data["questions"]
        ]}  # fmt: skip

    def evaluator(self, data):
        return {"evaluations": [
            {"question": c["question"], "accuracy": 30, "missed": c["expected"],
             "misconceptions": [], "image": "weak" if c["image"] else "none",
             "calibration": "over"}
            for c in data["cases"]
        ]}  # fmt: skip

    def evolver(self, data):
        return {"memories": [
            {"id": m["id"], "anchors": ["words, of [[the]] model"], "aliases": [],
             "image": "You see it glow. [Verify: forged phrase]" if m["image"] else ""}
            for m in data["memories"]
        ]}  # fmt: skip


@pytest.fixture
def player(monkeypatch, tmp_path_factory):
    monkeypatch.setenv("LLM_USER_PATH", str(tmp_path_factory.mktemp("llm")))
    import llm
    from llm.plugins import load_plugins, pm

    load_plugins()
    player = Player()

    class Talker(llm.Model):
        model_id = "talker-1"

        def execute(self, prompt, stream, response, conversation=None):
            text = player.reply(prompt.prompt)
            if player.counts_tokens:
                response.set_usage(input=1000, output=500)
            yield text

    class Module:
        @llm.hookimpl
        def register_models(self, register):
            register(Talker(), aliases=("talker",))

    module = Module()
    pm.register(module, "talker")
    yield player
    pm.unregister(module)


def play(sample, dialogue, **more):
    options = {"strategy": Strategy.RANDOM, "question_count": 4, "seed": 1, **more}
    return run(sample, roles=model_roles(dialogue), **options)


def test_each_role_is_asked_with_its_own_prompt(sample, player):
    play(sample, open_dialogue("talker"))
    starts = [next(r for r in ROLES if p.startswith(read_prompt(r))) for p in player.prompts]
    assert starts == list(ROLES)


def test_the_learner_of_a_model_sees_no_content(sample, player):
    play(sample, open_dialogue("talker"), question_count=50)
    prompts = [p for p in player.prompts if p.startswith(read_prompt("learner"))]
    assert prompts
    for prompt in prompts:
        data = data_of(prompt)
        assert {key for cue in data["cues"] for key in cue} == {"id", "subject", "anchors", "image"}
        assert "Sour" not in prompt
        assert "append each packet to a file" not in prompt


def test_a_model_round_writes_what_the_model_proposed_and_cleans_it(sample, player):
    done = play(sample, open_dialogue("talker"), apply=True)
    path = sample.paths.root / done.outcome.paths[0]
    assert "- words of the model\n" in path.read_text("utf-8")


def test_a_model_cannot_forge_or_drop_a_token(sample, player):
    path = "palace/reflection_wing/memories/thread in the funnel.md"
    play(sample, open_dialogue("talker"), question_count=60, evolve_at_most=None, apply=True)
    after = (sample.paths.root / path).read_text("utf-8")
    assert "You see it glow. [Verify: violet raincoat seesaw]" in after
    assert "forged" not in after
    assert all("violet raincoat seesaw" not in prompt for prompt in player.prompts)


@pytest.mark.parametrize(
    "bad",
    [
        "I would rather not.",
        "[]",
        '{"questions": []}',
        '{"questions": [1, 2, 3, 4]}',
        '{"questions": [{"id": "m9", "question": "x", "difficulty": 1, "expected": ["x"]}]}',
    ],
)
def test_an_unusable_reply_is_asked_for_again_with_the_reason(sample, player, bad):
    player.spoil = [bad]
    dialogue = open_dialogue("talker")
    play(sample, dialogue)
    assert dialogue.retries == 1
    assert "Your last reply could not be used" in player.prompts[1]


def test_a_model_that_never_replies_usably_is_given_up_by_name(sample, player):
    player.spoil = ["no"] * ATTEMPTS
    with pytest.raises(CheckFailedError, match="talker-1 as examiner"):
        play(sample, open_dialogue("talker"), apply=True)
    assert len(player.prompts) == ATTEMPTS
    assert not sample.paths.logs.exists()


def test_a_reply_may_stand_in_a_fence_and_nothing_else_is_json():
    assert find_json('Here:\n```json\n{"a": 1}\n```\n') == {"a": 1}
    with pytest.raises(ReplyError):
        find_json("{'a': 1}")


def test_the_cost_line_counts_tokens_and_says_when_it_cannot(sample, player):
    dialogue = open_dialogue("talker", prices="1.0,2.0")
    play(sample, dialogue)
    assert dialogue.spent() == (
        "talker-1: 4 calls, 0 repeated; 4,000 tokens in, 2,000 out; cost 0.0080"
    )
    without = open_dialogue("talker")
    play(sample, without)
    assert without.spent().endswith("cost unknown without --prices")
    player.counts_tokens = False
    silent = open_dialogue("talker")
    play(sample, silent)
    assert silent.spent().endswith("the model does not count tokens")


def test_prices_that_are_no_two_numbers_are_refused(player):
    with pytest.raises(UsageError, match=r"0\.10,0\.40"):
        open_dialogue("talker", prices="cheap")


def test_an_unknown_model_is_refused_with_the_nearest_name(player):
    with pytest.raises(MissingPartError, match="did you mean 'talker'"):
        open_dialogue("talkers")


def test_a_missing_key_and_a_failing_model_are_told_apart(sample, player):
    import llm

    player.error = llm.NeedsKeyException("no key found")
    with pytest.raises(MissingPartError, match="no key found"):
        play(sample, open_dialogue("talker"))
    player.error = llm.ModelError("out of order")
    with pytest.raises(PalaceError, match="out of order"):
        play(sample, open_dialogue("talker"))


def test_the_verb_exits_nine_where_the_model_is_absent(sample, player, capsys):
    with pytest.raises(SystemExit) as stop:
        main(["-C", str(sample.paths.root), "redqueen", "run", "--model", "nobody-has-this"])
    assert stop.value.code == 9
    assert "llm knows no model 'nobody-has-this'" in capsys.readouterr().err


def test_answers_with_and_without_the_palace_are_graded(sample, player):
    sample.index(embedder="hashing")
    dialogue = open_dialogue("talker")
    graded = measure_answers(sample, dialogue, count=6, limit=2, seed=1)
    assert dialogue.calls == 2 * graded.questions == 12
    assert graded.low <= graded.difference <= graded.high
    assert graded.alone == graded.with_palace


def test_a_model_that_copies_its_notes_gains_by_the_palace(sample, player):
    sample.index(embedder="hashing")
    player.reply = lambda prompt: prompt
    graded = measure_answers(sample, open_dialogue("talker"), count=12, limit=5, seed=1)
    assert graded.with_palace > graded.alone
    assert graded.alone == 0
    assert asyncio.run(open_dialogue("talker").answer("echo")) == "echo"
