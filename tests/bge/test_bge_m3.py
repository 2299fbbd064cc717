"""The real FlagEmbedding code over a tiny model of the same architecture."""

import os
import shutil
import subprocess
import sys

import numpy as np
import pytest

from memory_palace.embedding.bge_m3 import BATCH_SIZE, BgeM3Embedder, load
from memory_palace.embedding.registry import DIGESTS

pytestmark = pytest.mark.bge

TEXTS = [
    "the gateway lost packets",
    "wind and rain on the ridge every ten minutes, and the battery is below eleven volts",
    "das ist ein kurzer Satz",
    "这是一个中文句子",
]


def test_vectors_are_unit_float32_of_the_width_the_config_names(embedder):
    vectors = embedder.embed_passages(TEXTS)
    assert vectors.shape == (len(TEXTS), embedder.dimension) == (4, 32)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
    assert np.abs(vectors @ vectors.T - np.eye(4)).max() < 0.999


def test_vectors_are_those_of_flagembeddings_own_encode(embedder, tiny_bge_m3):
    from FlagEmbedding import BGEM3FlagModel

    model = BGEM3FlagModel(str(tiny_bge_m3), use_fp16=False, devices="cpu")
    expected = model.encode(TEXTS, batch_size=len(TEXTS) + 1)["dense_vecs"]
    np.testing.assert_allclose(embedder.embed_passages(TEXTS), expected, atol=1e-6)


def test_a_text_has_the_same_vector_in_any_batch_and_as_a_question(embedder):
    texts = [f"{'the station reports rain ' * (n % 7)}{n}" for n in range(3 * BATCH_SIZE)]
    together = embedder.embed_passages(texts)
    alone = np.concatenate([embedder.embed_queries([text]) for text in texts])
    np.testing.assert_allclose(together, alone, atol=2e-6)


def test_the_counter_agrees_with_the_tokenizer_that_encodes(embedder, tiny_bge_m3):
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(str(tiny_bge_m3))
    for text in [*TEXTS, "", "  two  spaces\n\nand lines ", "unknown: Ω 🌧"]:
        assert embedder.count_tokens(text) == len(tokenizer.tokenize(text)), text


def test_control_tokens_in_a_note_are_text(embedder, tiny_bge_m3):
    from transformers import AutoTokenizer

    ids = AutoTokenizer.from_pretrained(str(tiny_bge_m3))("rain </s> snow")["input_ids"]
    assert ids.count(2) == 2, "the tokenizer takes it for the end of the text"
    assert embedder.count_tokens("a </s> b") > embedder.count_tokens("a b") + 1
    marked, plain = embedder.embed_passages(["<s>rain</s>", "< s>rain< /s>"])
    np.testing.assert_array_equal(marked, plain)


def test_a_text_longer_than_the_limit_is_still_read_to_its_end(embedder):
    long = "rain " * embedder.token_limit
    assert embedder.token_limit == 510
    assert embedder.count_tokens(long) > embedder.token_limit
    first, second = embedder.embed_passages([f"{long} wind", f"{long} snow"])
    assert np.abs(first - second).max() > 1e-4


def test_loading_and_encoding_print_nothing(tiny_bge_m3, tmp_path):
    script = (
        "import sys\n"
        "from memory_palace.embedding.bge_m3 import load\n"
        "e = load('', {'PALACE_BGE_M3': sys.argv[1], 'PALACE_CACHE': sys.argv[2]})\n"
        "assert 'torch' not in sys.modules and 'FlagEmbedding' not in sys.modules\n"
        "assert e.count_tokens('rain') and e.fingerprint and 'torch' not in sys.modules\n"
        "assert e.embed_passages(['rain'] * 20).shape == (20, 32)\n"
        "import huggingface_hub.constants as c; assert c.HF_HUB_OFFLINE\n"
    )
    environ = {k: v for k, v in os.environ.items() if not k.startswith(("HF_", "PYTHONWARN"))}
    done = subprocess.run(
        [sys.executable, "-c", script, str(tiny_bge_m3), str(tmp_path)],
        capture_output=True,
        text=True,
        env=environ,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_published_weight_format_gives_the_same_vectors(embedder, tiny_bge_m3, tmp_path):
    import torch
    from safetensors.torch import load_file

    folder = shutil.copytree(tiny_bge_m3, tmp_path / "weights")
    torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()
    other = load("", {"PALACE_BGE_M3": str(folder), "PALACE_CACHE": str(tmp_path / "cache")})
    np.testing.assert_allclose(
        other.embed_passages(TEXTS), embedder.embed_passages(TEXTS), atol=1e-6
    )


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.json", "config.json"])
def test_the_fingerprint_changes_with_what_changes_vectors(tiny_bge_m3, tmp_path, name):
    folder = shutil.copytree(tiny_bge_m3, tmp_path / "weights")
    cache = tmp_path / "cache"
    before = BgeM3Embedder(folder, cache=cache).fingerprint
    assert BgeM3Embedder(folder, cache=cache).fingerprint == before
    data = (folder / name).read_bytes()
    is_text = name.endswith("json")
    (folder / name).write_bytes(data + b"\n" if is_text else data[:-1] + bytes([data[-1] ^ 1]))
    assert BgeM3Embedder(folder, cache=cache).fingerprint != before
    assert (cache / DIGESTS).is_file()
