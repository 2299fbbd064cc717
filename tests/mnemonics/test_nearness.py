"""Nearness by meaning reads each word, and the whole."""

from __future__ import annotations

import numpy as np
import pytest

from memory_palace.mnemonics.claims import Wording
from memory_palace.mnemonics.comparing import share_content
from memory_palace.mnemonics.nearness import measure_by_meaning

AXES = {"pump": 0, "engine": 0, "starts": 1, "begins": 1, "geese": 2}
SENTENCES = [Wording("The pump starts."), Wording("Geese.")]


def embed_tokens(text):
    pieces = text.casefold().rstrip(".").split()
    return pieces, np.array([np.eye(4)[AXES.get(piece, 3)] for piece in pieces], dtype=np.float32)


def test_other_words_of_the_same_meaning_are_as_near_as_the_words_themselves():
    same = measure_by_meaning(Wording("The pump starts."), SENTENCES, embed_tokens)
    other = measure_by_meaning(Wording("The engine begins."), SENTENCES, embed_tokens)
    assert same == pytest.approx(1) and other == pytest.approx(same)


def test_words_that_one_sentence_does_not_explain_together_are_less_near():
    mixed = measure_by_meaning(Wording("Geese begins."), SENTENCES, embed_tokens)
    assert 0 < mixed < 1


def test_a_claim_without_a_word_is_near_to_nothing():
    assert measure_by_meaning(Wording(""), SENTENCES, lambda text: ([], np.zeros((0, 4)))) == 0


def test_by_words_counts_shared_content():
    assert share_content(Wording("The pump coughs."), Wording("The pump starts.")) == 0.5
