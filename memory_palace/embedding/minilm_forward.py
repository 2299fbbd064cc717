"""The forward pass of MiniLM-L6 in numpy: six transformer layers over packed tokens.

Texts lie one after another in a single ``(tokens, 384)`` matrix, without padding; only attention
looks at each text by itself. Weights are used where they are mapped, never copied.
"""

from __future__ import annotations

import json
import mmap
import struct
from collections.abc import Sequence
from itertools import pairwise
from math import prod
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from memory_palace.models import Matrix

Tensor: TypeAlias = NDArray[np.float32]

DIMENSION = 384
LAYERS = 6
HEADS = 12
HEAD_WIDTH = DIMENSION // HEADS
_EPSILON = np.float32(1e-12)
_SCALE = np.float32(HEAD_WIDTH**-0.5)

_GELU_BOUND = np.float32(5)
_GELU = tuple(
    np.float32(c)
    for c in (7.97828136e-01, 3.64687895e-02, -1.24860624e-04, -3.05812129e-05, 1.11909438e-06)
)
"""p with tanh(x·p(x²)) ≈ erf(x/√2) for |x| ≤ 5, fitted to 3e-6: numpy has no erf."""
_GELU_BLOCK = 16_384
"""Values that stay in the processor's cache between the eleven passes over them."""
MAX_HEADER_BYTES = 100_000_000
"""The limit of the safetensors format's own reader."""


class Affine(NamedTuple):
    """A weight matrix, stored (out, in), or a norm's gain; and its bias."""

    weight: Tensor
    bias: Tensor


class Layer(NamedTuple):
    """The parameters of one transformer layer."""

    query: Affine
    key: Affine
    value: Affine
    merge: Affine
    merge_norm: Affine
    widen: Affine
    narrow: Affine
    norm: Affine


class MiniLM:
    """The model's parameters as views of the mapped file, and what it computes with them."""

    def __init__(self, tensors: TensorFile) -> None:
        self._words = tensors["embeddings.word_embeddings.weight"]
        # Every token has type 0, so its embedding belongs to the positions.
        self._positions = (
            tensors["embeddings.position_embeddings.weight"]
            + tensors["embeddings.token_type_embeddings.weight"][0]
        )
        self._norm = _read_affine(tensors, "embeddings.LayerNorm")
        self._layers = [_read_layer(tensors, number) for number in range(LAYERS)]

    def embed(self, sequences: Sequence[Sequence[int]]) -> Matrix:
        """Return the unit vector of each sequence of ids, start and end included."""
        states, borders = self._read(sequences)
        vectors: Matrix = np.add.reduceat(states, borders[:-1])
        vectors /= np.sqrt(np.einsum("td,td->t", vectors, vectors))[:, None]
        return vectors

    def embed_tokens(self, sequence: Sequence[int]) -> Matrix:
        """Return the unit vector of each id of one sequence, as the others around it make it."""
        states, _ = self._read([sequence])
        vectors: Matrix = states / np.sqrt(np.einsum("td,td->t", states, states))[:, None]
        return vectors

    def _read(self, sequences: Sequence[Sequence[int]]) -> tuple[Tensor, NDArray[np.intp]]:
        """Return the last layer's states of all ids, and where each sequence begins and ends."""
        lengths = [len(ids) for ids in sequences]
        borders = np.cumsum([0, *lengths])
        states = self._words[np.concatenate([np.asarray(ids) for ids in sequences])]
        states += self._positions[np.concatenate([np.arange(n) for n in lengths])]
        _normalize(states, self._norm)
        for layer in self._layers:
            states = _apply_layer(states, borders, layer)
        return states, borders


def _apply_layer(states: Tensor, borders: NDArray[np.intp], layer: Layer) -> Tensor:
    merged = _apply(_attend(states, borders, layer), layer.merge)
    merged += states
    _normalize(merged, layer.merge_norm)
    wide = _apply(merged, layer.widen)
    _gelu(wide)
    narrow = _apply(wide, layer.narrow)
    narrow += merged
    _normalize(narrow, layer.norm)
    return narrow


def _attend(states: Tensor, borders: NDArray[np.intp], layer: Layer) -> Tensor:
    queries, keys, values = (
        _apply(states, affine).reshape(-1, HEADS, HEAD_WIDTH)
        for affine in (layer.query, layer.key, layer.value)
    )
    queries *= _SCALE
    context = np.empty_like(queries)
    for first, last in pairwise(borders):
        text = slice(first, last)
        weights = queries[text].transpose(1, 0, 2) @ keys[text].transpose(1, 2, 0)
        weights -= weights.max(axis=-1, keepdims=True)
        np.exp(weights, out=weights)
        weights /= weights.sum(axis=-1, keepdims=True)
        context[text] = (weights @ values[text].transpose(1, 0, 2)).transpose(1, 0, 2)
    return context.reshape(-1, DIMENSION)


def _apply(states: Tensor, affine: Affine) -> Tensor:
    result: Tensor = states @ affine.weight.T
    result += affine.bias
    return result


def _normalize(states: Tensor, affine: Affine) -> None:
    """Layer normalisation in place (Ba et al., 2016)."""
    states -= states.mean(axis=-1, keepdims=True)
    variance = np.einsum("td,td->t", states, states)[:, None] / np.float32(DIMENSION)
    states /= np.sqrt(variance + _EPSILON)
    states *= affine.weight
    states += affine.bias


def _gelu(values: Tensor) -> None:
    """Gaussian error linear unit in place (Hendrycks and Gimpel, 2016), exact to 3e-6."""
    flat = values.reshape(-1)
    for start in range(0, flat.size, _GELU_BLOCK):
        block = flat[start : start + _GELU_BLOCK]
        clipped = np.clip(block, -_GELU_BOUND, _GELU_BOUND)
        squared = clipped * clipped
        gate = squared * _GELU[-1]
        for coefficient in _GELU[-2:0:-1]:
            gate += coefficient
            gate *= squared
        gate += _GELU[0]
        gate *= clipped
        np.tanh(gate, out=gate)
        gate += np.float32(1)
        gate *= np.float32(0.5)
        block *= gate


def _read_layer(tensors: TensorFile, number: int) -> Layer:
    prefix = f"encoder.layer.{number}"
    return Layer(
        *(
            _read_affine(tensors, f"{prefix}.{name}")
            for name in (
                "attention.self.query",
                "attention.self.key",
                "attention.self.value",
                "attention.output.dense",
                "attention.output.LayerNorm",
                "intermediate.dense",
                "output.dense",
                "output.LayerNorm",
            )
        )
    )


def _read_affine(tensors: TensorFile, name: str) -> Affine:
    return Affine(tensors[f"{name}.weight"], tensors[f"{name}.bias"])


class TensorFileError(ValueError):
    """A safetensors file does not follow the format, or holds other numbers than float32."""


class TensorFile:
    """Float32 tensors of a mapped safetensors file, by name.

    They are read-only views: only touched pages are ever loaded.
    """

    def __init__(self, path: Path) -> None:
        with path.open("rb") as file:
            try:
                self._bytes = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            except ValueError as error:  # an empty file cannot be mapped
                raise TensorFileError(f"{path} is empty") from error
        self._path = path
        self._start, self._entries = self._read_header()

    def __getitem__(self, name: str) -> Tensor:
        """Return a tensor; ``KeyError`` names the one that is missing."""
        if not self._is_valid(name):
            raise TensorFileError(f"{self._path}: tensor {name} is not float32 within the file")
        entry = self._entries[name]
        first, shape = self._start + int(entry["data_offsets"][0]), entry["shape"]
        flat = np.frombuffer(self._bytes, dtype="<f4", count=prod(shape), offset=first)
        return flat.reshape(shape)

    def _is_valid(self, name: str) -> bool:
        """Whether a tensor is float32 and lies within the file."""
        entry = self._entries[name]
        try:
            (first, last), shape = entry["data_offsets"], entry["shape"]
            return bool(
                entry["dtype"] == "F32"
                and all(type(number) is int and number >= 0 for number in (first, last, *shape))
                and last <= len(self._bytes) - self._start
                and last - first == 4 * prod(shape)
            )
        except (KeyError, TypeError, ValueError):
            return False

    def _read_header(self) -> tuple[int, dict[str, Any]]:
        if len(self._bytes) < 8:
            raise TensorFileError(f"{self._path} is too short for a header")
        (length,) = struct.unpack("<Q", self._bytes[:8])
        if length > min(len(self._bytes) - 8, MAX_HEADER_BYTES):
            raise TensorFileError(f"{self._path}: the header reaches past the end of the file")
        try:
            header = json.loads(self._bytes[8 : 8 + length])
        except ValueError as error:
            raise TensorFileError(f"{self._path}: the header is not JSON") from error
        if not isinstance(header, dict):
            raise TensorFileError(f"{self._path}: the header is not an object")
        return 8 + length, header
