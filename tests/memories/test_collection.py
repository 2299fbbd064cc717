"""Texts in memory are ranked as notes of the index are."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_palace.features.memories.collection import TextCollection
from memory_palace.index.chance import UNRELATED, measure_null

TEXTS = ["The rain gauge froze at night.", "Rain fell on the roof.", "Bees sleep.", "Rain. Roof."]
WORDS = st.lists(st.sampled_from("rain gauge froze roof bees the".split()), max_size=6)


def test_rare_words_decide_or_else_meaning_and_where_neither_does_there_is_no_score():
    scores = TextCollection(TEXTS).score("rain gauge")
    assert np.argmax(scores) == 0 and scores[2] == 0
    cosines = np.array([0.1, 0.1, 0.8, 0.1], np.float32)
    assert np.argmax(TextCollection(TEXTS).score("insects", cosines)) == 2
    assert TextCollection([]).score("rain", np.zeros(0, np.float32)).shape == (0,)
    assert not TextCollection(TEXTS).score("").any()


@pytest.mark.parametrize("texts", [["Rain fell."], ["Rain fell.", "Rain fell again."]])
def test_a_word_that_every_text_has_is_still_found(texts):
    assert (TextCollection(texts).score("rain") > 0).all()


@given(st.permutations(range(len(TEXTS))), WORDS)
def test_the_order_of_texts_changes_no_score(places, words):
    question = " ".join(words)
    straight = TextCollection(TEXTS).score(question)
    turned = TextCollection([TEXTS[at] for at in places]).score(question)
    assert np.allclose(turned, straight[places], atol=1e-6) and (straight >= 0).all()


def test_meaning_counts_alike_whatever_the_cosines_of_unrelated_texts_are():
    """Before, e5's cosines, which are all high, were held against minilm's: they said little."""
    cosines = np.array([0.1, 0.0, 0.5, 0.2])
    plain = TextCollection(TEXTS, null=(0.05, 0.1)).score("rain", cosines)
    high = TextCollection(TEXTS, null=(0.525, 0.05)).score("rain", 0.5 + 0.5 * cosines)
    assert np.allclose(plain, high, atol=1e-5)
    assert not np.allclose(plain, TextCollection(TEXTS).score("rain", 0.5 + 0.5 * cosines))


def test_the_null_of_an_embedder_is_that_of_texts_that_have_nothing_in_common():
    shared = np.float32(0.9)

    def embed(texts):
        own = np.eye(len(texts), dtype=np.float32) * np.sqrt(1 - shared)
        return np.concatenate([np.full((len(texts), 1), np.sqrt(shared)), own], axis=1)

    assert measure_null(embed) == pytest.approx((0.9, 0.0), abs=1e-6)
    assert len(UNRELATED) > 10
