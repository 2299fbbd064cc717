from io import BytesIO
from math import erf

import numpy as np
import pytest
from numpy.typing import NDArray

from memory_palace.embedding import e5
from memory_palace.embedding.e5 import E5File, open_unpacked, write_tensors
from memory_palace.embedding.minilm import Encoder, TensorFile
from memory_palace.embedding.registry import PinnedModel, WeightFile, digest_weights
from tests.embedding.e5_writer import HEADS, LAYERS, WIDTH, write_e5

Numbers = dict[str, NDArray[np.float32]]


@pytest.fixture
def small(tmp_path, monkeypatch):
    """Write a small model, pin it in place of the real one, and return its folder."""
    write_e5(tmp_path / "small.bin")
    digest = digest_weights(tmp_path / "small.bin", cache=tmp_path)
    size = (tmp_path / "small.bin").stat().st_size
    model = PinnedModel("e5", (WeightFile("small.bin", size, digest),))
    monkeypatch.setattr(e5, "E5", model)
    packed = BytesIO()
    write_tensors(packed, E5File(tmp_path / "small.bin").unpack())
    (tmp_path / "packed").write_bytes(packed.getvalue())
    digest = digest_weights(tmp_path / "packed", cache=tmp_path)
    unpacked = WeightFile("unpacked", len(packed.getvalue()), digest)
    monkeypatch.setattr(e5, "UNPACKED", unpacked)
    return tmp_path


def embed_plainly(numbers, ids):
    """Return the vector of a sequence in double precision, step by step as BERT defines it."""

    def norm(x, name):
        x = x - x.mean(-1, keepdims=True)
        x = x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-12)
        return np.asarray(x * numbers[f"{name}.w"] + numbers[f"{name}.b"], np.float64)

    def apply(x, name):
        whole = numbers[f"{name}.w"].astype(np.float64)
        return np.asarray(x @ whole.T + numbers[f"{name}.b"], np.float64)

    x = numbers["emb.word"][ids] + numbers["emb.pos"][: len(ids)] + numbers["emb.type"][0]
    x = norm(x.astype(np.float64), "emb.ln")
    for number in range(LAYERS):
        layer = f"l{number}"
        query, key, value = (apply(x, f"{layer}.{part}") for part in "qkv")
        heads = []
        for head in np.split(np.arange(WIDTH), HEADS):
            weights = np.exp(query[:, head] @ key[:, head].T / len(head) ** 0.5)
            heads.append(weights / weights.sum(-1, keepdims=True) @ value[:, head])
        x = norm(x + apply(np.concatenate(heads, -1), f"{layer}.ao"), f"{layer}.aln")
        wide = apply(x, f"{layer}.fi")
        wide = wide * 0.5 * (1 + np.vectorize(erf)(wide / 2**0.5))
        x = norm(x + apply(wide, f"{layer}.fo"), f"{layer}.oln")
    total: NDArray[np.float64] = x.sum(0)
    return total / np.linalg.norm(total)


def test_a_small_model_gives_the_vectors_of_a_plain_pass_in_double_precision(tmp_path):
    numbers = write_e5(tmp_path / "e5.bin")
    file = E5File(tmp_path / "e5.bin")
    packed = BytesIO()
    write_tensors(packed, file.unpack())
    tensors = TensorFile(tmp_path / "unpacked", packed.getvalue())
    assert (file.layers, file.heads) == (LAYERS, HEADS)
    encoder = Encoder(tensors, layers=LAYERS, heads=HEADS, words=file.read_words)
    sequences = [[0, 5, 6, 7, 2], [0, 8, 2], [], [0, *range(4, 20), 2]]
    vectors = encoder.embed(sequences)
    assert not vectors[2].any()
    for ids, vector in zip(sequences, vectors, strict=True):
        if ids:
            assert np.abs(vector - embed_plainly(numbers, ids)).max() < 1e-5


def test_unpacking_happens_once(small, monkeypatch):
    first = open_unpacked(small, cache=small)
    monkeypatch.setattr(E5File, "unpack", lambda file: pytest.fail("unpacked again"))
    again = open_unpacked(small, cache=small)
    name = "encoder.layer.1.output.dense.kernel"
    assert np.array_equal(first[name], again[name])


@pytest.mark.parametrize("damage", [b"", b"no tensors", None])
def test_what_is_unpacked_and_does_not_verify_is_made_again(small, damage):
    open_unpacked(small, cache=small)
    path = small / "unpacked"
    whole = path.read_bytes()
    path.write_bytes(whole[:-9] + b"x" * 9 if damage is None else damage)
    open_unpacked(small, cache=small)
    assert path.read_bytes() == whole


def test_a_cache_that_cannot_be_written_to_answers_all_the_same(small, monkeypatch):
    def refuse(path, data):
        raise PermissionError(13, "read-only", str(path))

    monkeypatch.setattr(e5, "write_atomic", refuse)
    tensors = open_unpacked(small, cache=small)
    assert not (small / "unpacked").exists()
    expected = TensorFile(small / "packed")
    for name in ("embeddings.LayerNorm.bias", "encoder.layer.0.intermediate.dense.kernel"):
        assert np.array_equal(tensors[name], expected[name])
