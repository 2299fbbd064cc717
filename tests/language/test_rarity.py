"""How telling a word is."""

import math

import pytest

from memory_palace.language.words import bm25_idf, share_idf


def test_a_word_of_every_text_decides_nothing_and_still_has_a_share() -> None:
    assert bm25_idf(1000, 1000) < 0.001
    assert share_idf(1000, 1000) == pytest.approx(math.log(2))


def test_the_rarer_word_tells_more() -> None:
    for idf in (bm25_idf, share_idf):
        weights = [idf(having, 100) for having in range(1, 101)]
        assert weights == sorted(weights, reverse=True) and min(weights) > 0
