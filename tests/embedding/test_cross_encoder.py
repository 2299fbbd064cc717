from __future__ import annotations

import json
import os
import shutil
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_palace.embedding.cross_encoder import open_cross_encoder, share_room
from memory_palace.embedding.model_folder import ModelConfig, ModelWeights
from memory_palace.embedding.tensor_file import TensorFile
from memory_palace.errors import MissingPartError
from tests.cross_encoders import SMALL, write_config, write_overlap_model, write_tensors

NAMES = ("bert", "xlm_roberta")
WORDS = "why did the barometer fall storm bread butter".split()


def golden(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((SMALL / name / "golden.json").read_text("utf-8"))
    return found


def pairs_of(found: dict[str, Any]) -> list[tuple[str, str]]:
    return [(first, second) for first, second in found["pairs"]]


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """Return a folder with a model that works, to be broken."""
    return write_overlap_model(tmp_path / "model", WORDS)


@pytest.mark.parametrize("name", NAMES)
def test_logits_are_those_of_transformers(name: str) -> None:
    expected, model = golden(name), open_cross_encoder(SMALL / name)
    logits = model.score(pairs_of(expected))
    assert np.abs(logits - np.array(expected["logits"])).max() <= 1e-4
    assert list(model.labels) == expected["labels"]


@pytest.mark.parametrize("name", NAMES)
def test_pairs_are_joined_and_cut_as_the_published_tokenizers_do(name: str) -> None:
    expected, model = golden(name), open_cross_encoder(SMALL / name)
    encode = model._tokenizer.encode
    found = [model._join(encode(first), encode(second)) for first, second in pairs_of(expected)]
    assert found == expected["ids"]
    assert max(map(len, found)) == 80  # some are longer than the model reads


@pytest.mark.parametrize("kind", ["F32", "F16", "BF16"])
@pytest.mark.parametrize("name", NAMES)
def test_weights_of_32_and_16_bits_are_read(name: str, kind: str, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    shutil.copytree(SMALL / name, folder)
    path, config = folder / "model.safetensors", ModelConfig.read(folder / "config.json")
    file, pairs = TensorFile(path), pairs_of(golden(name))
    weights = ModelWeights(file, config)
    names = file._entries.keys() - {"__metadata__"}
    tensors = {n: weights.read_rows(n, np.arange(len(weights._read(n)))) for n in names}
    before = open_cross_encoder(folder).score(pairs)
    write_tensors(path, tensors, kind=kind)
    moved = np.abs(open_cross_encoder(folder).score(pairs) - before).max()
    published = {"bert": "F16", "xlm_roberta": "BF16"}[name]
    assert moved < (1e-5 if kind in ("F32", published) else 0.2)


def test_batches_and_threads_change_no_logit() -> None:
    model, pairs = open_cross_encoder(SMALL / "bert"), pairs_of(golden("bert")) * 4
    together = model.score(pairs)
    alone = np.concatenate([model.score([pair]) for pair in pairs])
    assert np.abs(together - alone).max() < 1e-5


def test_no_pairs_have_no_logits() -> None:
    assert open_cross_encoder(SMALL / "xlm_roberta").score([]).shape == (0, 3)


def test_control_tokens_in_a_text_are_text() -> None:
    for name, token in (("bert", "[SEP]"), ("xlm_roberta", "</s>")):
        model = open_cross_encoder(SMALL / name)
        assert model._tokenizer.end not in model._tokenizer.encode(f"a {token} b")
        assert np.isfinite(model.score([(f"a {token} b", token)])).all()


def test_a_model_of_word_overlap_rises_with_each_shared_word(model: Path) -> None:
    question = "why did the barometer fall"
    words = question.split()
    pairs = [(question, " ".join([*words[:n], "bread", "butter"])) for n in range(6)]
    logits = open_cross_encoder(model).score(pairs)[:, 0]
    assert (np.diff(logits) > 0.1).all()


@given(st.integers(0, 600), st.integers(0, 600), st.integers(4, 600))
def test_what_is_cut_is_the_longer_of_two_texts(first: int, second: int, room: int) -> None:
    one, two = share_room(first, second, room)
    assert one <= first and two <= second and one + two <= room
    if first + second > room:
        assert one + two == room
        assert one == first or two == second or abs(one - two) <= 1
    else:
        assert (one, two) == (first, second)


def test_a_model_is_kept_while_its_files_stay_and_read_again_when_they_change(model: Path) -> None:
    first = open_cross_encoder(model)
    assert open_cross_encoder(model) is first
    assert open_cross_encoder(model / ".." / model.name) is first
    write_config(model, id2label={"0": "relevance"})
    again = open_cross_encoder(model)
    assert again is not first and again.labels == ("relevance",)


def test_a_snapshot_of_links_is_read(model: Path, tmp_path: Path) -> None:
    snapshot = tmp_path / "snapshot"
    snapshot.mkdir()
    for file in model.iterdir():
        (snapshot / file.name).symlink_to(file)
    assert open_cross_encoder(snapshot).labels == ("LABEL_0",)


def cut_weights(folder: Path) -> None:
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-100])


def name_huge_header(folder: Path) -> None:
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", 1 << 62) + b"{}")


def drop_a_tensor(folder: Path) -> None:
    path = folder / "model.safetensors"
    path.write_bytes(
        path.read_bytes().replace(b"bert.pooler.dense.bias", b"bert.pooler.dense.bies")
    )


def name_other_kind(folder: Path) -> None:
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes().replace(b'"F32"', b'"F64"', 1))


def fill_without_bounds(folder: Path) -> None:
    path = folder / "model.safetensors"
    data = path.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    path.write_bytes(data[: 8 + length] + b"\0\0\x80\x7f" * ((len(data) - 8 - length) // 4))


def fill_with_nothing(folder: Path) -> None:
    path = folder / "model.safetensors"
    data = path.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    path.write_bytes(data[: 8 + length] + b"\xff" * (len(data) - 8 - length))


def only_pickle(folder: Path) -> None:
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")


def only_shards(folder: Path) -> None:
    (folder / "model.safetensors").rename(folder / "model.safetensors.index.json")


def link_to_itself(folder: Path) -> None:
    (folder / "tokenizer.json").unlink()
    (folder / "tokenizer.json").symlink_to("tokenizer.json")


def make_a_pipe(folder: Path) -> None:
    (folder / "config.json").unlink()
    os.mkfifo(folder / "config.json")


def change(file: str, **values: Any) -> Callable[[Path], None]:
    def write(folder: Path) -> None:
        path = folder / file
        path.write_text(json.dumps({**json.loads(path.read_bytes()), **values}), "utf-8")

    return write


def replace_file(file: str, data: bytes) -> Callable[[Path], None]:
    return lambda folder: (folder / file).write_bytes(data) and None


WORDPIECE = {"type": "WordPiece", "unk_token": "[UNK]", "max_input_chars_per_word": 100}
HASHES = {"continuing_subword_prefix": "##"}
ODD = b'{"bert.embeddings.word_embeddings.weight": 1}'
BROKEN: dict[str, tuple[Callable[[Path], Any], str]] = {
    "cut weights": (cut_weights, "within the file"),
    "empty weights": (replace_file("model.safetensors", b""), "is empty"),
    "huge header": (name_huge_header, "past the end"),
    "no tensors": (replace_file("model.safetensors", b"\2\0\0\0\0\0\0\0{}"), "lack the tensor"),
    "odd tensors": (
        replace_file("model.safetensors", struct.pack("<Q", len(ODD)) + ODD),
        "no kind",
    ),
    "a missing tensor": (drop_a_tensor, "lack the tensor bert.pooler.dense.bias"),
    "another kind of numbers": (name_other_kind, "F64"),
    "values that are no numbers": (fill_with_nothing, "no numbers"),
    "values without bounds": (fill_without_bounds, "no numbers"),
    "a pickle": (only_pickle, "pytorch_model.bin, which runs code"),
    "several files": (only_shards, "in several files"),
    "a link to itself": (link_to_itself, "lacks tokenizer.json"),
    "a pipe": (make_a_pipe, "lacks config.json"),
    "no JSON": (replace_file("config.json", b"{"), "not JSON"),
    "deep JSON": (replace_file("config.json", b"[" * 100_000), "not JSON"),
    "a list": (replace_file("config.json", b"[]"), "no object"),
    "a huge configuration": (replace_file("config.json", b" " * 1_100_000), "too large"),
    "another architecture": (
        change("config.json", architectures=["LlamaForCausalLM"]),
        "'LlamaForCausalLM'; BertForSequenceClassification and XLMRoberta",
    ),
    "byte pairs": (
        change("config.json", architectures=["RobertaForSequenceClassification"]),
        "are read",
    ),
    "no architecture": (change("config.json", architectures=[[]]), "its architecture is"),
    "more heads than numbers": (change("config.json", num_attention_heads=1_000), "divides"),
    "no heads": (change("config.json", num_attention_heads=0), "num_attention_heads"),
    "a text for a number": (change("config.json", hidden_size="384"), "hidden_size"),
    "another width": (change("config.json", hidden_size=64), "has the shape"),
    "another inner width": (change("config.json", intermediate_size=5), "has the shape"),
    "more layers": (change("config.json", num_hidden_layers=3), "lack the tensor"),
    "a million layers": (change("config.json", num_hidden_layers=10**6), "lack the tensor"),
    "fewer layers": (change("config.json", num_hidden_layers=1), "more layers than the 1"),
    "another function": (change("config.json", hidden_act="relu"), "its hidden_act is 'relu'"),
    "relative positions": (change("config.json", position_embedding_type="x"), "its position"),
    "no epsilon": (change("config.json", layer_norm_eps="tiny"), "layer_norm_eps"),
    "other labels": (change("config.json", id2label={"0": "a", "1": "b"}), "has 2 labels"),
    "odd labels": (change("config.json", id2label={"1": "a"}), "id2label"),
    "no tokenizer": (replace_file("tokenizer.json", b"{}"), "it has no 'model'"),
    "a list for a tokenizer": (replace_file("tokenizer.json", b"[]"), "another shape"),
    "a deep tokenizer": (replace_file("tokenizer.json", b"[" * 100_000), "too deep"),
    "byte pairs of a tokenizer": (change("tokenizer.json", model={"type": "BPE"}), "'BPE'"),
    "other prefixes": (change("tokenizer.json", model={**WORDPIECE, "vocab": {}}), "other rules"),
    "gaps": (change("tokenizer.json", model={**WORDPIECE, **HASHES, "vocab": {"a": 5}}), "from 0"),
    "another normalizer": (change("tokenizer.json", normalizer={"type": "NFC"}), "as BERT does"),
    "no normalizer": (change("tokenizer.json", normalizer=None), "another shape"),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_folder_is_refused_in_one_line(model: Path, name: str) -> None:
    spoil, words = BROKEN[name]
    spoil(model)
    with pytest.raises(MissingPartError) as caught:
        open_cross_encoder(model).score([("why", "storm")])
    message = str(caught.value)
    assert words in message and "\n" not in message and len(message) < 500


def table(data: str) -> dict[str, Any]:
    return {"normalizer": {"type": "Precompiled", "precompiled_charsmap": data}}


def pieces(*names: str, **more: Any) -> dict[str, Any]:
    vocabulary = [[name, 0.0] for name in names]
    return {"model": {"type": "Unigram", "unk_id": 0, "vocab": vocabulary, **more}}


UNIGRAM_SPOILED: dict[str, tuple[dict[str, Any], str]] = {
    "a short table": (table("AAAA"), "too short"),
    "a cut table": (table("/////wAAAAAA"), "cut off"),
    "no base 64": (table("é"), "ASCII"),
    "an unknown step": ({"normalizer": {"type": "Nmt"}}, "'Nmt'"),
    "another replacement": (
        {"normalizer": {"type": "Replace", "pattern": {"String": "a"}, "content": " "}},
        "'Replace'",
    ),
    "no blanks": ({"pre_tokenizer": {"type": "ByteLevel"}}, "blanks"),
    "no pieces": (pieces(), "'<s>' is not in list"),
    "no start": (pieces("a"), "'<s>' is not in list"),
    "far unknown": (pieces("<s>", "</s>", unk_id=9), "another shape"),
    "no unknown": (pieces("<s>", "</s>", unk_id=None), "another shape"),
    "bytes": (pieces("<s>", byte_fallback=True), "bytes"),
}


@pytest.mark.parametrize("name", UNIGRAM_SPOILED)
def test_a_broken_unigram_tokenizer_is_refused_in_one_line(tmp_path: Path, name: str) -> None:
    changes, words = UNIGRAM_SPOILED[name]
    folder = tmp_path / "model"
    shutil.copytree(SMALL / "xlm_roberta", folder)
    change("tokenizer.json", **changes)(folder)
    with pytest.raises(MissingPartError, match=words) as caught:
        open_cross_encoder(folder).score([("why", "storm")])
    assert "\n" not in str(caught.value)


def test_a_folder_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(MissingPartError, match="it is not a folder"):
        open_cross_encoder(tmp_path / "nothing")
    with pytest.raises(MissingPartError, match=r"lacks config.json, tokenizer.json, mo"):
        open_cross_encoder(tmp_path)
