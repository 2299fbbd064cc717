from __future__ import annotations

import os

import numpy as np
import pytest

from memory_palace.embedding.e5 import E5Embedder
from memory_palace.embedding.weights import E5, cache_folder


@pytest.fixture(scope="module")
def e5() -> E5Embedder:
    cache = cache_folder(os.environ)
    if not E5.is_present(cache):
        pytest.skip(f"the weights of e5 are not here; run `{E5.fetch_command}`")
    return E5Embedder(cache)


def test_a_question_is_nearest_to_its_answer_in_another_language(e5: E5Embedder) -> None:
    passages = [
        "Die Katze schläft auf dem Sofa.",
        "Kafka war zu teuer, also haben wir es entfernt.",
    ]
    similarity = e5.embed_passages(passages) @ e5.embed_queries(["Why was Kafka removed?"])[0]
    assert similarity[1] > similarity[0] + 0.05


@pytest.mark.parametrize("text", ["", " \n\t", "\u200b\x00"])
def test_a_text_without_a_token_is_the_zero_vector(e5: E5Embedder, text: str) -> None:
    vectors = e5.embed_passages([text, "storm"])
    assert not vectors[0].any()
    assert np.linalg.norm(vectors[1]) == pytest.approx(1, abs=1e-6)
    assert e5.count_tokens(text) == 0
