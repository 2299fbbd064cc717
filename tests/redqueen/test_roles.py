from __future__ import annotations

import asyncio
import random
from dataclasses import replace
from datetime import date

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_palace.embedding.hashing import HashingEmbedder
from memory_palace.index.calibration import UNRELATED
from memory_palace.mnemonics.memory_values import Memory
from memory_palace.notes.document import parse_document
from memory_palace.redqueen.cue_index import CueIndex, CueLearner
from memory_palace.redqueen.evaluator import ElementEvaluator, judge_answer, mentions
from memory_palace.redqueen.evolver import ANCHOR_WORDS, AnchorEvolver, clean_anchor
from memory_palace.redqueen.examined import examine
from memory_palace.redqueen.examiner import TemplateExaminer
from memory_palace.redqueen.round_values import (
    Cue,
    Evaluation,
    LearnerAnswer,
    Question,
    Strategy,
    band,
)
from memory_palace.redqueen.session import (
    DEPTH,
    choose_targets,
    offline_roles,
    run_red_queen,
    run_session,
    weak_priority,
)

from .conftest import memory


class Listening(HashingEmbedder):
    """Notes every text that is embedded."""

    def __init__(self):
        super().__init__()
        self.heard = []

    def embed_passages(self, texts):
        self.heard += texts
        return super().embed_passages(texts)

    def embed_queries(self, texts):
        self.heard += texts
        return super().embed_queries(texts)


def ask(memories, targets, strategy=Strategy.RANDOM, seed=0):
    rng = random.Random(seed)
    return asyncio.run(TemplateExaminer().ask(memories, targets, strategy, rng=rng))


def recall(questions, cues, embedder=None):
    return asyncio.run(CueLearner(embedder).recall(questions, cues))


def test_a_question_holds_no_expected_element(orchard):
    for seed in range(20):
        for question in ask(orchard, list(orchard) * 3, seed=seed):
            for element in question.expected_elements:
                assert not mentions(question.question_text, element)


def test_every_expected_element_stands_in_the_content(orchard):
    for question in ask(orchard, list(orchard) * 4):
        for element in question.expected_elements:
            assert mentions(orchard[question.memory_id].content, element)


def test_no_two_questions_are_alike(orchard):
    asked = ask(orchard, ["bees"] * 9, Strategy.DEPTH_FIRST)
    assert len({q.question_text for q in asked}) == len(asked) >= 3


def test_cross_link_asks_for_a_linked_memory(orchard):
    orchard["bees"] = replace(orchard["bees"], links=("cider",))
    (question,) = ask(orchard, ["bees"], Strategy.CROSS_LINK)
    assert (question.kind, question.expected_elements) == ("link", ("cider",))


def test_the_learner_embeds_cues_and_questions_and_nothing_else(orchard):
    listening = Listening()
    roles = replace(offline_roles(), learner=CueLearner(listening))
    session = asyncio.run(run_session(orchard, roles, question_count=3))
    cues = {"bees", "frost", "cider"}
    assert set(listening.heard) - set(UNRELATED) == cues | {
        q.question_text for q in session.questions
    }


def test_no_word_that_stands_in_the_content_alone_reaches_the_learner():
    note = b"---\ntitle: Thread\n---\n- Anchor: spider\n\n## Image\n\nYou lift a net.\n\n"
    note += b"## Content\n\nOrchard drizzles sideways.\n"
    seen = examine(parse_document("palace/a.md", note), today=date(2026, 11, 1))
    assert "Orchard drizzles" in seen.content
    listening = Listening()
    roles = replace(offline_roles(), learner=CueLearner(listening))
    session = asyncio.run(run_session({"palace/a.md": seen}, roles, question_count=2))
    heard = set(listening.heard) - {q.question_text for q in session.questions} - set(UNRELATED)
    assert heard == {"Thread", "spider", "You lift a net."}
    assert not any("Orchard" in answer.text for answer in session.answers)


def test_other_contents_behind_the_same_cues_change_no_answer(orchard):
    questions = [q.question_text for q in ask(orchard, list(orchard))]
    emptied = {id: replace(m, content="nothing") for id, m in orchard.items()}
    before = recall(questions, [m.cue for m in orchard.values()], HashingEmbedder())
    assert before == recall(questions, [m.cue for m in emptied.values()], HashingEmbedder())


def test_an_answer_says_only_what_the_cues_say(orchard):
    (answer,) = recall(["frost"], [m.cue for m in orchard.values()])
    assert answer.text == "frost"


def test_a_question_that_no_cue_knows_recalls_nothing(orchard):
    (answer,) = recall(["zeppelin"], [m.cue for m in orchard.values()])
    assert answer == LearnerAnswer((), "", 1)


def test_without_cues_nothing_is_recalled():
    assert recall(["why"], []) == [LearnerAnswer((), "", 1)]


@given(st.permutations(range(12)), st.text(max_size=30))
def test_the_order_of_cues_changes_no_recall(order, question):
    cues = [Cue(f"m{i}", f"subject {'abc' * i} {i}", (f"anchor {i % 3}",)) for i in range(12)]
    first = recall([question], cues)[0].recalled
    assert recall([question], [cues[i] for i in order])[0].recalled == first


def test_random_words_make_no_memory_a_hub():
    rng = random.Random(3)
    words = [f"word{i}" for i in range(400)]
    subjects = [" ".join(rng.sample(words, 3)) for _ in range(60)]
    padded = tuple(" ".join(rng.sample(words, 6)) for _ in range(8))
    cues = [Cue(f"m{i}", s, padded if i == 0 else ()) for i, s in enumerate(subjects)]
    questions = [" ".join(rng.sample(words, 6)) for _ in range(200)]
    ranked = recall(questions, cues, HashingEmbedder())
    assert sum(a.recalled[:1] == ("m0",) for a in ranked) <= 20


def test_scores_are_finite_or_silent_for_cues_without_words():
    index = CueIndex([Cue(f"m{i}", "") for i in range(10)], HashingEmbedder())
    scores = index.score(["x", ""])
    assert not np.isnan(scores).any()


def test_a_full_answer_scores_one_and_a_blank_one_nothing(orchard):
    question = Question("frost", "?", "2", ("lanterns", "midnight"))
    full = LearnerAnswer(("frost",), "lanterns at midnight", 4)
    assert judge_answer(question, full, orchard).score == 1
    assert not judge_answer(question, full, orchard).should_evolve
    blank = judge_answer(question, LearnerAnswer((), "", 1), orchard)
    assert (blank.score, blank.should_evolve) == (0, True)
    assert blank.gaps == ("missing detail: lanterns", "missing detail: midnight")


def test_a_certain_wrong_memory_is_a_misconception_and_a_miscalibration(orchard):
    question = Question("frost", "?", "2", ("lanterns",))
    found = judge_answer(question, LearnerAnswer(("cider",), "", 5), orchard)
    assert {gap.kind for gap in found.found} == {
        "missing detail", "misconception", "miscalibration",
    }  # fmt: skip


def test_a_right_answer_without_trust_is_a_miscalibration(orchard):
    question = Question("frost", "?", "2", ("lanterns",))
    found = judge_answer(question, LearnerAnswer(("frost",), "lanterns", 1), orchard)
    assert [gap.kind for gap in found.found] == ["miscalibration"]
    assert not found.should_evolve


def test_an_image_that_shows_nothing_of_the_answer_is_weak(orchard):
    orchard["frost"] = memory("frost", "Lanterns burn.", image="A giant glove sings.")
    question = Question("frost", "?", "2", ("lanterns",))
    found = judge_answer(question, LearnerAnswer(("frost",), "frost", 3), orchard)
    assert "weak image: lanterns" in found.gaps
    orchard["frost"] = memory("frost", "Lanterns burn.", image="A giant lantern sings.")
    found = judge_answer(question, LearnerAnswer(("frost",), "a giant lantern", 3), orchard)
    assert found.gaps == ()


def test_an_element_is_named_by_whole_words_alone():
    assert mentions("147 couples", "147 Couples")
    assert not mentions("147 couples", "47 couples")
    assert not mentions("anything", "")


def test_the_evolver_proposes_what_was_missed_first(orchard):
    evaluation = judge_answer(
        Question("frost", "?", "2", ("midnight",)), LearnerAnswer((), "", 1), orchard
    )
    (evolution,) = asyncio.run(AnchorEvolver().strengthen({"frost": [evaluation]}, orchard))
    assert "midnight" in evolution.anchors[0]
    assert evolution.reasons == ("missing detail: midnight",)


def test_anchors_are_the_memorys_own_words_and_few(orchard):
    weak = {id: [Evaluation(id, 0.0, (), True)] for id in orchard}
    for evolution in asyncio.run(AnchorEvolver(most=2).strengthen(weak, orchard)):
        assert 1 <= len(evolution.anchors) <= 2
        for anchor in evolution.anchors:
            assert len(anchor.split()) <= ANCHOR_WORDS
            assert mentions(orchard[evolution.memory_id].content, anchor)


def test_a_second_evolution_adds_nothing_that_is_said_already(orchard):
    weak = {"frost": [Evaluation("frost", 0.0, (), True)]}
    (first,) = asyncio.run(AnchorEvolver().strengthen(weak, orchard))
    cue = replace(orchard["frost"].cue, anchors=first.anchors)
    orchard["frost"] = replace(orchard["frost"], cue=cue)
    assert asyncio.run(AnchorEvolver().strengthen(weak, orchard)) == []


def test_a_missing_link_becomes_an_anchor_without_its_comma(orchard):
    found = judge_answer(
        Question("frost", "?", "3", ("Wren, the keeper",), "link"),
        LearnerAnswer((), "", 1),
        orchard,
    )
    (evolution,) = asyncio.run(AnchorEvolver().strengthen({"frost": [found]}, orchard))
    assert evolution.anchors[0] == "Wren the keeper"


def test_an_acronym_of_the_subject_becomes_an_alias_unless_somebody_has_it():
    hvn = memory("a", "The HVN has eleven stations on the slopes.", subject="Halde Valley Network")
    other = memory("b", "Something else is written here today.", subject="HVN")
    weak = {"a": [Evaluation("a", 0.0, (), True)]}
    (free,) = asyncio.run(AnchorEvolver().strengthen(weak, {"a": hvn}))
    assert free.aliases == ("HVN",)
    (taken,) = asyncio.run(AnchorEvolver().strengthen(weak, {"a": hvn, "b": other}))
    assert taken.aliases == ()


@given(st.text(max_size=200))
def test_an_anchor_can_stand_in_a_list_whatever_it_was_made_of(text):
    anchor = clean_anchor(text)
    assert len(anchor.splitlines()) <= 1
    assert not set(",[]<>|`*#") & set(anchor)


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
    memories["m9"] = replace(memories["m9"], links=("m1", "m2"))
    memories["m3"] = memory("m3", "x", subject="unlike anything else")

    def choose(strategy, count):
        return choose_targets(memories, strategy, count, rng=random.Random(0))

    assert choose(Strategy.WEAK_SPOTS, 2) == ["m0", "m1"]
    assert choose(Strategy.DEPTH_FIRST, 6) == ["m0"] * DEPTH + ["m1"]
    assert choose(Strategy.CROSS_LINK, 5) == ["m9"]
    assert choose(Strategy.ADVERSARIAL, 10)[-1] == "m3"
    assert len(set(choose(Strategy.RANDOM, 4))) == 4


def test_a_seed_gives_the_same_session_again(orchard):
    one, two = (
        asyncio.run(run_session(orchard, offline_roles(HashingEmbedder()), seed=4))
        for _ in range(2)
    )
    assert one == two


def test_the_limit_keeps_the_worst_and_resting_memories_are_left_alone(orchard):
    session = asyncio.run(run_session(orchard, offline_roles(), evolve_at_most=1, resting={"bees"}))
    assert len(session.evolutions) == 1
    assert session.evolutions[0].memory_id != "bees"
    assert session.resting == ("bees",)


def test_run_red_queen_takes_memories_as_the_source_document_gives_them():
    raft = Memory("1", "Raft", "Boats. [Verify: mustard waltz]", "Votes elect one leader a term.")
    (found,) = asyncio.run(run_red_queen({"1": raft}))
    assert found.memory_id == "1" and "mustard" not in found.question


def test_run_red_queen_has_the_signature_of_the_source_document(orchard):
    found = asyncio.run(run_red_queen(orchard, Strategy.RANDOM, 2))
    assert len(found) == 2
    assert all(0 <= e.score <= 1 and isinstance(e.should_evolve, bool) for e in found)


def test_bands_are_those_of_the_source():
    assert [band(s) for s in (1.0, 0.8, 0.6, 0.4, 0.2, 0.19)] == [
        "complete", "minor details missing", "general idea", "partial", "misconceived", "wrong",
    ]  # fmt: skip


def test_an_evaluator_judges_each_question(orchard):
    questions = ask(orchard, list(orchard))
    answers = recall([q.question_text for q in questions], [m.cue for m in orchard.values()])
    judged = asyncio.run(ElementEvaluator().judge(questions, answers, orchard))
    assert [e.memory_id for e in judged] == [q.memory_id for q in questions]
