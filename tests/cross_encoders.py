"""Cross-encoders that tests make on the spot: of word overlap, and of weights with a defect."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

SMALL = Path(__file__).parent / "embedding" / "data" / "cross_encoders"
"""Two of random weights, with what transformers gives for them."""
_SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")
_LEVEL = 100.0
"""Of two constant features, so large that a norm leaves the others as they are."""

Arrays = Mapping[str, NDArray[Any]]


def needs_library(test: Any) -> Any:
    """Mark a test that opens a cross-encoder, which takes the extra."""
    is_missing = find_spec("sentence_transformers") is None
    return pytest.mark.st(pytest.mark.skipif(is_missing, reason="needs the extra [st]")(test))


def write_tensors(path: Path, tensors: Arrays) -> None:
    """Write float32 arrays as a safetensors file."""
    header: dict[str, Any] = {}
    parts: list[bytes] = []
    place = 0
    for name, array in tensors.items():
        data = np.ascontiguousarray(array, np.float32).tobytes()
        offsets = [place, place + len(data)]
        header[name] = {"dtype": "F32", "shape": list(array.shape), "data_offsets": offsets}
        parts.append(data)
        place += len(data)
    encoded = json.dumps(header).encode()
    encoded += b" " * (-(8 + len(encoded)) % 8)
    path.write_bytes(struct.pack("<Q", len(encoded)) + encoded + b"".join(parts))


def write_config(folder: Path, **changes: Any) -> None:
    """Change what ``config.json`` says; ``None`` takes a key away."""
    path = folder / "config.json"
    config = json.loads(path.read_bytes()) if path.exists() else {}
    config |= changes
    path.write_text(json.dumps({k: v for k, v in config.items() if v is not None}), "utf-8")


def write_overlap_model(
    folder: Path,
    words: Sequence[str],
    *,
    labels: Sequence[str] = ("LABEL_0",),
    steepness: float = 10.0,
) -> Path:
    """Make a BERT whose logit rises with the share of a question's words in the passage.

    Of ``words`` alone: any other is unknown and matches nothing; without ``steepness`` all pairs
    are alike. In its first layer a word of the
    question attends to the same word of the passage, else to the start; what is attended to is a
    mark of passages. In its second layer the start reads that mark off the words of the question.
    """
    folder.mkdir(parents=True, exist_ok=True)
    vocabulary = [*_SPECIAL, *dict.fromkeys(word.casefold() for word in words)]
    count, width = len(vocabulary), len(vocabulary) + 6
    first, second, found, read, high, low = range(count, width)  # features beside one a word
    scale = width**0.5
    words_table = np.zeros((count, width))
    words_table[range(4, count), range(4, count)] = 1
    words_table[2, 2] = words_table[3, 3] = 1
    words_table[:, high], words_table[:, low] = _LEVEL, -_LEVEL
    types = np.zeros((2, width))
    types[0, first] = types[1, second] = 1
    gain = np.full(width, np.sqrt(2 * _LEVEL**2 / width))
    tensors: dict[str, NDArray[Any]] = {
        "bert.embeddings.word_embeddings.weight": words_table,
        "bert.embeddings.position_embeddings.weight": np.zeros((512, width)),
        "bert.embeddings.token_type_embeddings.weight": types,
        **_norm("bert.embeddings.LayerNorm", gain),
    }
    # A matrix is (out, in): row ``o`` says what feature ``o`` is made of.
    seek, offer, mark, gather = (np.zeros((width, width)) for _ in range(4))
    seek[range(4, count), range(4, count)] = 20 * scale
    seek[second, high] = 10 * scale / _LEVEL
    offer[range(4, count), range(4, count)] = 1
    offer[second, second], offer[second, first], offer[second, 2] = 1, -1, 3
    mark[found, second] = 1
    ask, tell = np.zeros((width, width)), np.zeros((width, width))
    ask[first, high] = 20 * scale / _LEVEL
    tell[first, first] = 1
    gather[read, found] = 1
    for number, parts in enumerate(((seek, offer, mark), (ask, tell, gather))):
        tensors |= _layer(f"bert.encoder.layer.{number}", parts, gain)
    pool, out = np.zeros((width, width)), np.zeros((len(labels), width))
    pool[0, read] = 1
    out[-1, 0] = steepness
    tensors |= _affine("bert.pooler.dense", pool) | _affine("classifier", out)
    write_tensors(folder / "model.safetensors", tensors)
    config = {"architectures": ["BertForSequenceClassification"], "hidden_size": width}
    config |= {"num_hidden_layers": 2, "num_attention_heads": 1, "intermediate_size": 4}
    config |= {"model_type": "bert", "vocab_size": count, "layer_norm_eps": 1e-12}
    write_config(folder, **config, pad_token_id=0, id2label=dict(enumerate(labels)))
    _write_tokenizer(folder, vocabulary)
    return folder


def _affine(name: str, matrix: NDArray[Any]) -> Arrays:
    return {f"{name}.weight": matrix, f"{name}.bias": np.zeros(len(matrix))}


def _norm(name: str, gain: NDArray[Any]) -> Arrays:
    return {f"{name}.weight": gain, f"{name}.bias": np.zeros(len(gain))}


def _layer(name: str, parts: Sequence[NDArray[Any]], gain: NDArray[Any]) -> Arrays:
    width = len(gain)
    tensors: dict[str, NDArray[Any]] = {}
    for part, matrix in zip(("query", "key", "value"), parts, strict=True):
        tensors |= _affine(f"{name}.attention.self.{part}", matrix)
    tensors |= _affine(f"{name}.attention.output.dense", np.eye(width))
    tensors |= _affine(f"{name}.intermediate.dense", np.zeros((4, width)))
    tensors |= _affine(f"{name}.output.dense", np.zeros((width, 4)))
    for norm in ("attention.output", "output"):
        tensors |= _norm(f"{name}.{norm}.LayerNorm", gain)
    return tensors


def _write_tokenizer(folder: Path, vocabulary: Sequence[str]) -> None:
    model = {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##"}
    normalizer = {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True}
    special = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    bert = {"type": "BertProcessing", "sep": ["[SEP]", 3], "cls": ["[CLS]", 2]}
    content = {
        "version": "1.0",
        "added_tokens": [
            {"id": number, "content": piece, "special": True, **special}
            for number, piece in enumerate(_SPECIAL)
        ],
        "post_processor": bert,
        "normalizer": {**normalizer, "strip_accents": None, "lowercase": True},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "model": {
            **model,
            "max_input_chars_per_word": 100,
            "vocab": {piece: number for number, piece in enumerate(vocabulary)},
        },
    }
    (folder / "tokenizer.json").write_text(json.dumps(content), "utf-8")
