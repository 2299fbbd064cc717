"""The files of a cross-encoder: what its configuration says, and its tensors, compared with it.

What they say is not trusted: names, shapes and kinds of numbers are compared before they are used.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memory_palace.embedding.forward import BERT_EPSILON
from memory_palace.embedding.rerankers import FILES
from memory_palace.embedding.tensor_file import Tensor, TensorFile

_LARGEST_CONFIG = 1_000_000
_WIDENED = ("F32", "F16", "BF16")


@dataclass(frozen=True, slots=True)
class Family:
    """How models of one architecture name their tensors, and where their positions begin."""

    prefix: str
    dense: str
    out: str
    counts_from_padding: bool = False
    """Whether the first position is the one after the id that pads."""


FAMILIES = {
    "BertForSequenceClassification": Family("bert.", "bert.pooler.dense", "classifier"),
    "XLMRobertaForSequenceClassification": Family(
        "roberta.", "classifier.dense", "classifier.out_proj", counts_from_padding=True
    ),
}


class ModelFileError(ValueError):
    """The files of a model are not what they have to be; the message goes on after its folder."""


def check_files(folder: Path) -> None:
    """Raise ``ModelFileError`` where a folder lacks a file, with what it has instead."""
    if not folder.is_dir():
        raise ModelFileError("it is not a folder")
    missing = [name for name in FILES if not (folder / name).is_file()]
    if missing == [FILES[-1]]:
        if (folder / "pytorch_model.bin").is_file():
            raise ModelFileError(
                "its weights are pytorch_model.bin, which runs code when it is read; "
                "save them as model.safetensors (`save_pretrained` of transformers does)"
            )
        if (folder / f"{FILES[-1]}.index.json").is_file():
            raise ModelFileError("its weights are in several files; join them to model.safetensors")
    if missing:
        raise ModelFileError(f"it lacks {', '.join(missing)}; copy the whole folder of the model")


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """What ``config.json`` says of a model."""

    family: Family
    width: int
    inner: int
    layers: int
    heads: int
    padding: int
    epsilon: float
    labels: tuple[str, ...]

    @classmethod
    def read(cls, path: Path) -> ModelConfig:
        """Read the file; raise ``ModelFileError`` for an architecture that is not known here."""
        given = _read_object(path)
        family = _find_family(given)
        for key, usual in (("hidden_act", "gelu"), ("position_embedding_type", "absolute")):
            if given.get(key, usual) != usual:
                raise ModelFileError(
                    f"its {key} is {given[key]!r:.40}, and only {usual} is computed"
                )
        width, heads = (_take_count(given, k) for k in ("hidden_size", "num_attention_heads"))
        if width % heads:
            raise ModelFileError(f"config.json divides {width} numbers by {heads} heads")
        epsilon = given.get("layer_norm_eps", BERT_EPSILON)
        if not isinstance(epsilon, int | float) or not 0 <= epsilon < 1:
            raise ModelFileError("config.json has no usable layer_norm_eps")
        return cls(
            family=family,
            width=width,
            inner=_take_count(given, "intermediate_size"),
            layers=_take_count(given, "num_hidden_layers"),
            heads=heads,
            padding=_take_count(given, "pad_token_id", least=0),
            epsilon=epsilon,
            labels=_take_labels(given.get("id2label")),
        )


def _read_object(path: Path) -> dict[str, Any]:
    if path.stat().st_size > _LARGEST_CONFIG:
        raise ModelFileError("its config.json is no configuration: it is too large")
    try:
        given = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise ModelFileError("its config.json is not JSON") from error
    if not isinstance(given, dict):
        raise ModelFileError("its config.json is no object")
    return given


def _find_family(given: dict[str, Any]) -> Family:
    named = given.get("architectures")
    name = named[0] if isinstance(named, list) and named else "not named"
    if not isinstance(name, str) or name not in FAMILIES:
        known = " and ".join(FAMILIES)
        raise ModelFileError(f"its architecture is {name!r:.60}; {known} are read")
    return FAMILIES[name]


def _take_count(given: dict[str, Any], name: str, *, least: int = 1) -> int:
    value = given.get(name, 1 if not least else None)  # XLM-RoBERTa's padding is 1
    if type(value) is not int or not least <= value <= 1_000_000:
        raise ModelFileError(f"config.json has no usable {name}")
    return value


def _take_labels(given: object) -> tuple[str, ...]:
    if given is None:
        return ()
    if not isinstance(given, dict) or set(given) != {str(n) for n in range(len(given))}:
        raise ModelFileError("config.json has no usable id2label")
    return tuple(str(given[str(n)]) for n in range(len(given)))


class ModelWeights:
    """The tensors of a model under the names of its encoder, widened to float32 and compared."""

    def __init__(self, file: TensorFile, config: ModelConfig) -> None:
        self._file, self._config = file, config

    def __getitem__(self, name: str) -> Tensor:
        if name.endswith(".kernel") or ".query_key_value" in name:
            raise KeyError(name)  # names of our own files, which are never those of a model
        tensor = _widen(self._read(name), self._kind(name))
        expected = self._expect(name)
        if len(tensor.shape) != len(expected) or any(
            wanted not in (0, found) for wanted, found in zip(expected, tensor.shape, strict=True)
        ):
            raise ModelFileError(f"its tensor {name} has the shape {tensor.shape}")
        return tensor

    def count_rows(self, name: str) -> int:
        """Return how many rows a table of embeddings has, and check its width."""
        table = self._read(name)
        if table.ndim != 2 or table.shape[1] != self._config.width:
            raise ModelFileError(f"its tensor {name} has the shape {table.shape}")
        return len(table)

    def read_rows(self, name: str, ids: NDArray[np.intp]) -> Tensor:
        """Return rows of a table, which nobody else holds."""
        return _widen(self._read(name)[ids], self._kind(name))

    def check_layers(self) -> None:
        """Raise ``ModelFileError`` where the file has more layers than its configuration says."""
        layers = self._config.layers
        if self._file.has(self._name(f"encoder.layer.{layers}.output.dense.bias")):
            raise ModelFileError(f"its weights have more layers than the {layers} of config.json")

    def _name(self, name: str) -> str:
        is_inner = re.match(r"(embeddings|encoder)\.", name)
        return f"{self._config.family.prefix}{name}" if is_inner else name

    def _kind(self, name: str) -> str:
        return self._file.find_kind(self._name(name))

    def _read(self, name: str) -> NDArray[Any]:
        full = self._name(name)
        if not self._file.has(full):
            raise ModelFileError(f"its weights lack the tensor {full}")
        kind = self._kind(name)
        if kind not in _WIDENED:
            raise ModelFileError(
                f"its tensor {full} is of {kind or 'no kind'!s:.20}; {', '.join(_WIDENED)} are read"
            )
        return self._file.read(full, kind)

    def _expect(self, name: str) -> tuple[int, ...]:
        """Return the shape that a tensor must have; 0 stands for any number."""
        width, inner = self._config.width, self._config.inner
        part, _, kind = name.rpartition(".")
        rows = inner if part.endswith("intermediate.dense") else width
        if part.endswith("_embeddings"):
            return 0, width
        if part == self._config.family.out:
            rows = 0
        if kind == "bias" or part.endswith("LayerNorm"):
            return (rows,)
        is_narrowing = part.endswith(".output.dense") and not part.endswith(
            "attention.output.dense"
        )
        return rows, inner if is_narrowing else width


def _widen(values: NDArray[Any], kind: str) -> Tensor:
    """Return numbers as float32. ``BF16`` is the upper half of one, which numpy does not know."""
    if kind == "BF16":
        return (values.astype(np.uint32) << np.uint32(16)).view(np.float32)
    wide: Tensor = values.astype(np.float32, copy=False)
    return wide
