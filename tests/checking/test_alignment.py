"""Every word of a claim has its counterpart in a passage, by stem or by vector."""

from __future__ import annotations

import numpy as np
import pytest

from memory_palace.checking.alignment import align
from memory_palace.checking.wording import Wording

AXES = {"pump": 0, "engine": 0, "starts": 1, "begins": 1, "geese": 2}


def embed_tokens(text):
    pieces = text.casefold().rstrip(".").split()
    return pieces, np.array([np.eye(4)[AXES.get(piece, 3)] for piece in pieces], dtype=np.float32)


def cover(claim, passage):
    return align(Wording(claim), Wording(passage), embed_tokens).coverage


def test_other_words_of_the_same_meaning_are_as_like_as_the_words_themselves():
    assert cover("The pump starts.", "The pump starts.") == pytest.approx(1)
    assert cover("The engine begins.", "The pump starts.") == pytest.approx(1)


def test_a_word_that_the_passage_has_nothing_like_has_no_counterpart():
    found = align(Wording("Geese begins."), Wording("The pump starts."), embed_tokens)
    assert [(pair.mine, pair.theirs) for pair in found.pairs] == [(0, -1), (1, 2)]


def test_what_differs_between_words_that_are_copied_is_a_change():
    found = align(Wording("The old pump starts slowly."), Wording("Then the new pump starts."))
    assert [(list(c.mine), list(c.theirs)) for c in found.changes] == [([1], [2]), ([4], [])]
    assert found.copied == pytest.approx(3 / 5)


def test_a_claim_without_a_word_is_covered_by_nothing():
    assert align(Wording(""), Wording("x"), lambda text: ([], np.zeros((0, 4)))).coverage == 0


def test_by_words_counts_shared_content():
    assert Wording("The pump coughs.").share_matter(Wording("The pump starts.")) == 0.5
