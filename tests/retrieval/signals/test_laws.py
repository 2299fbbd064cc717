"""What holds for every signal of structure."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_palace.features.structure.signals import analyse
from memory_palace.models import ParsedQuery
from memory_palace.retrieval.question import read_question
from memory_palace.retrieval.times import temporal
from memory_palace.signals import structure

OWN = structure().signals
SIGNALS = {
    name: OWN[name].measure if name in OWN else temporal
    for name in (
        "logic",
        "preference",
        "noun_phrase",
        "temporal",
        "quoted",
        "name",
        "temporal_phrase",
    )
}
QUESTIONS = [
    'What did Anna say about "slow living" last Tuesday?',
    "Which tea would Boris recommend in May 2026?",
    "Who bought the old boat two weeks ago?",
    "Can you suggest a hotel in the town where Anna lives?",
]
PASSAGES = [
    "Anna bought the old boat on Tuesday.",
    'Boris: I love green tea. "Slow living", he said.',
    "When I was a kid we went to the lake in May 2026.",
    "Anna prefers the small hotel in town.",
    "The boiler was repaired.",
    "",
    "谁在三月买了那条旧船？",
]
DATES = [f"2026-05-{day}" for day in (12, 14, 23, 26, 27, 28, 11)]


def measure(signal, made):
    return signal(made, made.rows)


def test_every_signal_is_woken_by_some_question(context):
    for label, signal in SIGNALS.items():
        made = (context(question, PASSAGES, dates=DATES) for question in QUESTIONS)
        assert any(measure(signal, one).any() for one in made), label


@pytest.mark.parametrize("signal", SIGNALS.values(), ids=SIGNALS)
@settings(max_examples=40, deadline=None)
@given(question=st.sampled_from(QUESTIONS) | st.text(max_size=60), order=st.permutations(range(7)))
def test_scores_are_bounded_and_follow_their_candidates(context, signal, question, order):
    plain = measure(signal, context(question, PASSAGES, dates=DATES))
    mixed = measure(signal, context(question, PASSAGES, dates=DATES, order=order))
    assert plain.dtype == mixed.dtype == np.float32
    assert plain.shape == (7,)
    assert (plain >= 0).all()
    assert (plain <= 1).all()
    assert mixed.tolist() == plain[list(order)].tolist()


@pytest.mark.parametrize("signal", [SIGNALS[name] for name in SIGNALS if name != "temporal"])
@pytest.mark.parametrize(
    "question",
    [
        "",
        "为什么我们上周放弃了“卡夫卡”？",
        "Почему мы отказались от Кафки на прошлой неделе?",
        'Warum haben wir das "Boot" letzten Dienstag im Mai nicht von Anna gekauft?',
        "¿Qué dijo Anna el martes sobre el barco?",
    ],
)
def test_r3_questions_in_other_languages_wake_nothing_but_time(context, signal, question):
    assert not measure(signal, context(question, PASSAGES, dates=DATES)).any()


@pytest.mark.parametrize("signal", SIGNALS.values(), ids=SIGNALS)
def test_a_passage_gets_no_less_for_passages_that_share_nothing(context, signal):
    """Noise does not push an answer down: all weights come from what the passages hold."""
    alone = measure(signal, context(QUESTIONS[2], PASSAGES, dates=DATES))
    more = [*PASSAGES, *["rain fell"] * 20]
    among = measure(signal, context(QUESTIONS[2], more, dates=[*DATES, *["1999-01-01"] * 20]))
    assert (among[:7] >= alone - 1e-6).all()


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=200))
def test_any_text_can_be_asked(text):
    analyse(text)
    assert read_question(ParsedQuery(text, 0.0)).times is not None
