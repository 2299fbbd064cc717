from hashlib import sha256

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_palace.embedding.hashing import DIMENSION, HashingEmbedder

GOLDEN = "The barometer drifts after the storm. 気圧計 naïve"
GOLDEN_VALUES = {4: -0.2913858, 52: 0.1942572, 164: -0.1942572, 6: -0.1373606}


def test_golden_values_hold_on_every_platform() -> None:
    vector = HashingEmbedder().embed_queries([GOLDEN])[0]
    for column, value in GOLDEN_VALUES.items():
        assert vector[column] == pytest.approx(value, abs=1e-6)
    assert sha256(vector.astype("<f4").tobytes()).hexdigest().startswith("d32648b5623e5575")


@given(st.lists(st.text(max_size=80), max_size=5))
def test_vectors_have_unit_length_or_are_zero(texts: list[str]) -> None:
    embedder = HashingEmbedder()
    vectors = embedder.embed_passages(texts)
    assert vectors.shape == (len(texts), DIMENSION)
    lengths = np.linalg.norm(vectors, axis=1)
    assert np.all((np.abs(lengths - 1) < 1e-5) | (lengths == 0))


def test_case_and_compatibility_forms_do_not_matter() -> None:
    vectors = HashingEmbedder().embed_passages(["STORM ﬁne", "storm fine"])
    assert np.array_equal(vectors[0], vectors[1])


@pytest.mark.parametrize(
    ("question", "near", "far"),
    [
        ("barometer drift", "the barometer drifts in rain", "we had lunch at noon"),
        ("calibrations", "calibration of the sensor", "the river froze over"),
        ("気圧計の校正", "雨の日に気圧計を校正する", "川が凍った"),
    ],
)
def test_shared_words_and_stems_are_near(question: str, near: str, far: str) -> None:
    embedder = HashingEmbedder()
    similarity = embedder.embed_passages([near, far]) @ embedder.embed_queries([question])[0]
    assert similarity[0] > similarity[1] + 0.15


def test_long_words_and_unspaced_scripts_count_by_their_length() -> None:
    embedder = HashingEmbedder()
    assert embedder.count_tokens("two words") == 2
    assert embedder.count_tokens("気圧計") == 3
    assert embedder.count_tokens("x" * 62_000) == 62_000 / 16
    assert embedder.count_tokens("") == 0
    assert embedder.embed_queries(["x" * 100_000]).any()
