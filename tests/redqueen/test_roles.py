import asyncio
import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_palace.features.memories.form import Memory
from memory_palace.features.redqueen.session import (
    DEPTH,
    Cue,
    LearnerAnswer,
    Question,
    SentenceRoles,
    Strategy,
    choose_targets,
    leave_out,
    run_red_queen,
    run_session,
    weak_priority,
)

from .conftest import memory


def ask(memories, targets, strategy=Strategy.RANDOM, seed=0):
    rng = random.Random(seed)
    return asyncio.run(SentenceRoles().ask(memories, targets, strategy, rng=rng))


def recall(questions, cues):
    return asyncio.run(SentenceRoles().recall(questions, cues))


def test_the_learner_is_given_questions_and_cues_and_nothing_else(orchard):
    class Listening(SentenceRoles):
        async def recall(self, questions, cues):
            self.heard = [*questions, *cues]
            return await super().recall(questions, cues)

    listening = Listening()
    found = asyncio.run(run_session(orchard, listening, question_count=3)).evaluations
    cues = [orchard[id].cue for id in sorted(orchard)]
    assert listening.heard == [*(each.question for each in found), *cues]


def test_a_question_that_no_cue_knows_recalls_nothing(orchard):
    (answer,) = recall(["zeppelin"], [m.cue for m in orchard.values()])
    assert answer == LearnerAnswer((), "", 1)


@given(st.permutations(range(12)), st.text(max_size=30))
def test_the_order_of_cues_changes_no_recall(order, question):
    cues = [Cue(f"m{i}", f"subject {'abc' * i} {i}", (f"anchor {i % 3}",)) for i in range(12)]
    first = recall([question], cues)[0].recalled
    assert recall([question], [cues[i] for i in order])[0].recalled == first


def test_priority_follows_the_formula_of_the_source():
    fresh = memory("a", "x", confidence=1.0, smashin=12)
    assert weak_priority(fresh) == pytest.approx(0.3 * 0.015 + 0.05)
    stale = memory("a", "x", confidence=0.0, smashin=0, idle_days=90.0)
    assert weak_priority(stale) == pytest.approx(0.4 + 0.3 * 0.2 + 0.2 + 0.05)


def test_strategies_choose_as_they_say():
    memories = {
        f"m{i}": memory(f"m{i}", "x", subject=f"same {i // 5}", confidence=i / 10)
        for i in range(10)
    }
    memories["m3"] = memory("m3", "x", subject="unlike anything else")

    def choose(strategy, count):
        return choose_targets(memories, strategy, count, rng=random.Random(0))

    assert choose(Strategy.WEAK_SPOTS, 2) == ["m0", "m1"]
    assert choose(Strategy.DEPTH_FIRST, 6) == ["m0"] * DEPTH + ["m1"]
    assert choose(Strategy.ADVERSARIAL, 10)[-1] == "m3"
    assert len(set(choose(Strategy.RANDOM, 4))) == 4


def test_a_seed_gives_the_same_session_again(orchard):
    one, two = (asyncio.run(run_session(orchard, SentenceRoles(), seed=4)) for _ in range(2))
    assert one == two


def test_a_memory_that_another_is_taken_for_is_named(orchard):
    question = Question("frost", "The hives stand behind the ____.", "3", ("wall",))
    answers = [LearnerAnswer(("bees", "frost"), "hives by a wall", 3), LearnerAnswer((), "", 1)]
    right, none = asyncio.run(SentenceRoles().judge([question] * 2, answers, orchard))
    assert (right.score, right.gaps) == (1.0, ("misconception: taken for bees",))
    assert right.should_evolve
    assert (none.score, none.gaps) == (0.0, ("missing detail: wall",))


def test_the_answer_does_not_stand_in_the_question():
    """FINDINGS D: sentences were asked as they stand in the memory, and each scored 1.0."""
    boats = "Boats on a lake. [Verify: mustard waltz]"
    raft = Memory("1", "Raft", boats, "Followers vote for one leader in each term.")
    (found,) = asyncio.run(run_red_queen({"1": raft}))
    assert found.question == "____ vote for one leader in each term"
    assert (found.score, found.gaps) == (0.0, ("missing detail: Followers",))
    told = replace(raft, image="A leader, and followers on a lake who vote in each term.")
    (found,) = asyncio.run(run_red_queen({"1": told}))
    assert (found.score, found.should_evolve) == (1.0, False)


@pytest.mark.parametrize(
    ("sentence", "asked", "word"),
    [
        ("In May 2026 we moved 14 hives", "In May ____ we moved 14 hives", "2026"),
        ("The yeast came from Asturias", "The yeast came from ____", "Asturias"),
        ("Votes elect one leader, by votes", "Votes elect one ____, by votes", "leader"),
        ("Frost, frosts", None, None),
        ("霜は花を枯らす", None, None),
    ],
)
def test_the_most_telling_word_is_left_out_everywhere(sentence, asked, word):
    assert leave_out(sentence, "frost") == ((asked, word) if asked else None)
