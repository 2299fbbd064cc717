from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest

from memory_palace.embedding import minilm as minilm_module
from memory_palace.embedding.minilm import BULK_TEXTS, MiniLMEmbedder
from memory_palace.embedding.minilm_onnx import OnnxMiniLM, is_onnx_installed
from memory_palace.embedding.weights import MINILM_FILES, minilm_folder

pytestmark = [
    pytest.mark.onnx,
    pytest.mark.skipif(not is_onnx_installed(), reason="needs the extra [onnx]"),
]

REFERENCE = json.loads((Path(__file__).parent / "data" / "minilm_reference.json").read_bytes())


@pytest.fixture
def cache(tmp_path: Path, minilm_weights: Path) -> Path:
    """Return a cache of its own, so that graphs can be broken in it."""
    folder = minilm_folder(tmp_path)
    folder.mkdir(parents=True)
    for file in MINILM_FILES:
        os.link(minilm_weights / file.name, folder / file.name)
    return tmp_path


def graphs(cache: Path) -> list[Path]:
    return list(minilm_folder(cache).glob("*.onnx"))


def test_bulk_vectors_are_those_of_sentence_transformers(cache: Path) -> None:
    repeats = BULK_TEXTS // len(REFERENCE["texts"]) + 1
    found = MiniLMEmbedder(cache).embed_passages(REFERENCE["texts"] * repeats)
    expected = np.array(REFERENCE["vectors"] * repeats, dtype=np.float32)
    assert len(graphs(cache)) == 1
    assert np.abs(found - expected).max() <= 1e-5


def test_few_texts_do_not_start_onnxruntime(cache: Path) -> None:
    MiniLMEmbedder(cache).embed_passages(["storm"] * (BULK_TEXTS - 1))
    assert graphs(cache) == []


def test_the_fingerprint_does_not_depend_on_what_computes(cache: Path) -> None:
    embedder = MiniLMEmbedder(cache)
    before = embedder.fingerprint
    embedder.embed_passages(["storm"] * BULK_TEXTS)
    assert embedder.fingerprint == before


def test_the_same_weights_give_the_same_graph(cache: Path) -> None:
    OnnxMiniLM(minilm_folder(cache))
    first = graphs(cache)[0]
    data = first.read_bytes()
    first.unlink()
    OnnxMiniLM(minilm_folder(cache))
    assert graphs(cache) == [first]
    assert first.read_bytes() == data


@pytest.mark.parametrize("damage", [b"", b"not a graph"])
def test_a_damaged_graph_is_built_again(cache: Path, damage: bytes) -> None:
    OnnxMiniLM(minilm_folder(cache))
    path = graphs(cache)[0]
    path.write_bytes(damage)
    vectors = OnnxMiniLM(minilm_folder(cache)).embed([[101, 4040, 102]])
    assert graphs(cache) == [path]
    assert path.read_bytes() != damage
    assert abs(float(np.linalg.norm(vectors)) - 1) < 1e-5


def test_a_cache_that_cannot_be_written_is_served_by_numpy(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(folder: Path) -> OnnxMiniLM:
        raise PermissionError(13, "Permission denied", str(folder))

    monkeypatch.setattr(minilm_module, "OnnxMiniLM", refuse)
    assert MiniLMEmbedder(cache).embed_passages(["storm"] * BULK_TEXTS).any(axis=1).all()
