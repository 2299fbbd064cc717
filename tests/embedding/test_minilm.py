import json
import math
import subprocess
import sys
from pathlib import Path

import numpy as np

from memory_palace.embedding.minilm import TOKEN_LIMIT, MiniLMEmbedder, _gelu

REFERENCE = json.loads((Path(__file__).parent / "data" / "minilm_reference.json").read_bytes())
TEXTS = REFERENCE["texts"]


def test_vectors_are_those_of_sentence_transformers(minilm: MiniLMEmbedder) -> None:
    expected = np.array(REFERENCE["vectors"], dtype=np.float32)
    assert np.abs(minilm.embed_passages(TEXTS) - expected).max() <= 1e-5
    assert np.abs(minilm.embed_queries(TEXTS[:1]) - expected[:1]).max() <= 1e-5


def test_a_text_past_the_limit_is_read_up_to_it(minilm: MiniLMEmbedder) -> None:
    text = "storm " * 16_667
    assert minilm.count_tokens(text) == 16_667
    cut = "storm " * TOKEN_LIMIT
    assert np.array_equal(minilm.embed_queries([text]), minilm.embed_queries([cut]))


def test_the_share_of_a_text_that_is_read(minilm: MiniLMEmbedder) -> None:
    english = ("Where's José's 2nd IL-6 report?", "¿?", "a I 7")
    assert [minilm.find_share(text) for text in english] == [1.0] * 3
    foreign = ("我想找一家餐厅", "Где лежит ключ?", "冬のポンプ", "열쇠는 어디에")
    assert max(map(minilm.find_share, foreign)) < 0.3
    assert minilm.find_share("我们 Kafka") == 5 / 7


def test_a_word_has_a_unit_vector_of_its_own_in_each_text(minilm: MiniLMEmbedder) -> None:
    pieces, vectors = minilm.embed_tokens("The river bank.")
    others, far = minilm.embed_tokens("The bank lends.")
    assert pieces == ["the", "river", "bank", "."] and vectors.shape == (4, minilm.dimension)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert vectors[2] @ far[others.index("bank")] < 0.99


def test_gelu_is_exact_to_four_millionths() -> None:
    values = np.linspace(-12, 12, 50_001, dtype=np.float32)
    exact = [x * 0.5 * (1 + math.erf(x / math.sqrt(2))) for x in values.tolist()]
    _gelu(values)
    assert np.abs(values - np.array(exact)).max() < 4e-6
    far = np.array([-1e4, -300, -12, 12, 300, 1e4], np.float32)
    _gelu(far)
    assert far.tolist() == [0, 0, 0, 12, 300, 1e4]


def test_blas_runs_on_one_thread_unless_the_user_says_otherwise() -> None:
    code = "import os, memory_palace; print(os.environ['OPENBLAS_NUM_THREADS'])"
    for given, expected in (({}, "1"), ({"OPENBLAS_NUM_THREADS": "3"}, "3")):
        done = subprocess.run(
            [sys.executable, "-c", code], env=given, capture_output=True, text=True, check=True
        )
        assert done.stdout.strip() == expected
