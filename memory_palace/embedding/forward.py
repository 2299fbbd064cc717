"""The forward pass of a BERT encoder in numpy: transformer layers over packed tokens.

Texts lie one after another in a single ``(tokens, width)`` matrix, without padding; only attention
looks at each text by itself. Weights are used where they are mapped, never copied.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import pairwise
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from memory_palace.embedding.tensor_file import Tensor
from memory_palace.models import Matrix

ReadRows: TypeAlias = Callable[[NDArray[np.intp]], Tensor]
"""Gives the embeddings of ids, one row each, that nobody else holds."""

_EPSILON = np.float32(1e-12)
_GELU = tuple(
    np.float32(c)
    for c in (7.97828136e-01, 3.64687895e-02, -1.24860624e-04, -3.05812129e-05, 1.11909438e-06)
)
"""p with tanh(x·p(x²)) ≈ erf(x/√2), fitted to 3e-6 for |x| ≤ 5, and 1 beyond: numpy has no erf."""
_GELU_BLOCK = 16_384
"""Values that stay in the processor's cache between the passes over them."""
BATCH_TOKENS = 512
"""Of 1024 the activations take 22 MB more, for 3 % of the time; larger ones are slower too."""
THREADS = 2
"""Two with one BLAS thread each beat one with two (25 to 20 chunks a second)."""


class Tensors(Protocol):
    """Arrays by name, such as a ``TensorFile``."""

    def __getitem__(self, name: str, /) -> Tensor:
        """Return one of them; ``KeyError`` names the one that is missing."""
        ...


class Affine(NamedTuple):
    """A matrix, shape (in, out), or a norm's gain; and its bias."""

    kernel: Tensor
    bias: Tensor


class Layer(NamedTuple):
    """The parameters of one transformer layer."""

    project: tuple[Affine, ...]
    """Queries, keys and values: three, or one that gives all three side by side."""
    merge: Affine
    merge_norm: Affine
    widen: Affine
    narrow: Affine
    norm: Affine


class Encoder:
    """A model's parameters, named as BERT names them, and what it computes with them."""

    def __init__(
        self,
        tensors: Tensors,
        *,
        layers: int,
        heads: int,
        words: ReadRows,
    ) -> None:
        self._words, self._heads = words, heads
        # Every token has type 0, so that belongs to the positions.
        types = tensors["embeddings.token_type_embeddings.weight"]
        self._positions = tensors["embeddings.position_embeddings.weight"] + types[0]
        self._norm = _read_affine(tensors, "embeddings.LayerNorm")
        names = (f"encoder.layer.{n}" for n in range(layers))
        self._layers = [_read_layer(tensors, name) for name in names]

    def embed(self, sequences: Sequence[Sequence[int]]) -> Matrix:
        """Return the unit vector of each sequence of ids, the zero vector of an empty one."""
        width = self._positions.shape[1]
        return _run_batches(sequences, self._embed_batch, width=width)

    def _embed_batch(self, sequences: Sequence[Sequence[int]]) -> Matrix:
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
        states = self._words(np.concatenate([np.asarray(ids) for ids in sequences]))
        states += self._positions[np.concatenate([np.arange(n) for n in lengths])]
        _normalize(states, self._norm)
        for layer in self._layers:
            states = _apply_layer(states, borders, layer, self._heads)
        return states, borders


def _run_batches(
    sequences: Sequence[Sequence[int]],
    run: Callable[[list[Sequence[int]]], Matrix],
    *,
    width: int,
) -> Matrix:
    """Return a row of ``width`` numbers for each sequence, zeros for an empty one.

    Sequences of like length run together, in threads that change no result.
    """
    results: Matrix = np.zeros((len(sequences), width), np.float32)

    def fill(rows: list[int]) -> None:
        results[rows] = run([sequences[row] for row in rows])

    batches = list(_batch_by_length(sequences))
    if len(batches) == 1:
        fill(batches[0])
        return results
    with ThreadPoolExecutor(THREADS) as pool:
        for _ in pool.map(fill, batches):
            pass
    return results


def _batch_by_length(sequences: Sequence[Sequence[int]]) -> Iterator[list[int]]:
    """Yield rows of non-empty sequences, longest first, about ``BATCH_TOKENS`` at a time."""
    rows = [row for row, ids in enumerate(sequences) if ids]
    rows.sort(key=lambda row: -len(sequences[row]))
    batch: list[int] = []
    tokens = 0
    for row in rows:
        if batch and tokens + len(sequences[row]) > BATCH_TOKENS:
            yield batch
            batch, tokens = [], 0
        batch.append(row)
        tokens += len(sequences[row])
    if batch:
        yield batch


def _apply_layer(states: Tensor, borders: NDArray[np.intp], layer: Layer, heads: int) -> Tensor:
    merged = _apply_affine(_attend(states, borders, layer, heads), layer.merge)
    merged += states
    _normalize(merged, layer.merge_norm)
    wide = _apply_affine(merged, layer.widen)
    _gelu(wide)
    narrow = _apply_affine(wide, layer.narrow)
    narrow += merged
    _normalize(narrow, layer.norm)
    return narrow


def _attend(states: Tensor, borders: NDArray[np.intp], layer: Layer, heads: int) -> Tensor:
    tokens, width = states.shape
    queries, keys, values = (
        part.reshape(tokens, heads, -1)
        for affine in layer.project
        for part in np.split(_apply_affine(states, affine), len(affine.bias) // width, axis=1)
    )
    queries *= np.float32((width // heads) ** -0.5)
    context = np.empty((tokens, heads, width // heads), np.float32)
    for first, last in pairwise(borders):
        text = slice(first, last)
        weights = queries[text].transpose(1, 0, 2) @ keys[text].transpose(1, 2, 0)
        weights -= weights.max(axis=-1, keepdims=True)
        np.exp(weights, out=weights)
        read = weights @ values[text].transpose(1, 0, 2)
        read /= weights.sum(axis=-1, keepdims=True)
        context[text] = read.transpose(1, 0, 2)
    return context.reshape(tokens, width)


def _apply_affine(states: Tensor, affine: Affine) -> Tensor:
    """Return states, one a row, times the matrix, plus the bias."""
    result: Tensor = states @ affine.kernel
    result += affine.bias
    return result


def _normalize(states: Tensor, affine: Affine) -> None:
    """Layer normalisation in place (Ba et al., 2016)."""
    states -= states.mean(axis=-1, keepdims=True)
    variance = np.einsum("td,td->t", states, states)[:, None] / np.float32(states.shape[1])
    states /= np.sqrt(variance + _EPSILON)
    states *= affine.kernel
    states += affine.bias


def _gelu(values: Tensor) -> None:
    """Gaussian error linear unit in place (Hendrycks and Gimpel, 2016), exact to 3e-6."""
    flat = values.reshape(-1)
    for start in range(0, flat.size, _GELU_BLOCK):
        block = flat[start : start + _GELU_BLOCK]
        squared = block * block
        gate = squared * _GELU[-1]
        for coefficient in _GELU[-2:0:-1]:
            gate += coefficient
            gate *= squared
        gate += _GELU[0]
        gate *= block
        np.tanh(gate, out=gate)
        gate += np.float32(1)
        gate *= np.float32(0.5)
        block *= gate


def _read_layer(tensors: Tensors, prefix: str) -> Layer:
    attention = f"{prefix}.attention.self"
    try:
        project = [_read_affine(tensors, f"{attention}.query_key_value")]
    except KeyError:
        project = [_read_affine(tensors, f"{attention}.{n}") for n in ("query", "key", "value")]
    return Layer(
        tuple(project),
        _read_affine(tensors, f"{prefix}.attention.output.dense"),
        _read_affine(tensors, f"{prefix}.attention.output.LayerNorm"),
        _read_affine(tensors, f"{prefix}.intermediate.dense"),
        _read_affine(tensors, f"{prefix}.output.dense"),
        _read_affine(tensors, f"{prefix}.output.LayerNorm"),
    )


def _read_affine(tensors: Tensors, name: str) -> Affine:
    """Return a matrix as the file has it: a ``kernel`` (in, out), or a ``weight`` (out, in)."""
    bias = tensors[f"{name}.bias"]
    with suppress(KeyError):
        return Affine(tensors[f"{name}.kernel"], bias)
    return Affine(tensors[f"{name}.weight"].T, bias)
