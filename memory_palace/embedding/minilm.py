"""all-MiniLM-L6-v2 in numpy: 384 dimensions, English, 0.2 s from a cold process to a vector.

From the top down: the embedder; ``WordPiece``, which makes ids of a text; ``Encoder``, the forward
pass of BERT, e5's too; and ``TensorFile``, which maps the weights of a safetensors file.
"""

from __future__ import annotations

import json
import mmap
import re
import struct
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cached_property, lru_cache
from itertools import chain, pairwise
from math import prod
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from memory_palace.embedding.registry import MINILM, MODEL, cache_folder, read_vocabulary
from memory_palace.models import Matrix

Tensor: TypeAlias = NDArray[np.float32]
ReadRows: TypeAlias = Callable[[NDArray[np.intp]], Tensor]
"""Returns the embeddings of ids, one row each, in a new array."""

_EPSILON = np.float32(1e-12)
_GELU = tuple(
    np.float32(c)
    for c in (7.97828136e-01, 3.64687895e-02, -1.24860624e-04, -3.05812129e-05, 1.11909438e-06)
)
"""p with tanh(x·p(x²)) ≈ erf(x/√2), fitted to 3e-6 for |x| ≤ 5, and 1 beyond: numpy has no erf."""
_GELU_BLOCK = 16_384
"""Values that stay in the processor's cache between the passes over them."""
BATCH_TOKENS = 512
"""1024 tokens take 22 MB more for activations and save 3 % of the time; more are slower too."""
THREADS = 2
"""Two with one BLAS thread each beat one with two (25 to 20 chunks a second)."""
KINDS = {"F32": "<f4", "I32": "<i4", "U8": "u1"}
"""numpy's types by safetensors' names, of the types that are read."""

DIMENSION = 384
LAYERS, HEADS = 6, 12
TOKEN_LIMIT = 254
"""The model was made for 256 tokens; start and end take two of them."""
MAX_WORD_CHARS = 100
"""A longer word is one unknown token, as in BERT."""
CACHED_WORDS = 100_000

_ASCII_PUNCTUATION = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
_IDEOGRAPH = re.compile(
    "[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002a6df\U0002a700-\U0002b81f"
    "\U0002b920-\U0002ceaf\U0002f800-\U0002fa1f]"
)


def load(model: str, environ: Mapping[str, str]) -> MiniLMEmbedder:
    """Return the embedder for the weights in the cache, which are read on first use."""
    return MiniLMEmbedder(cache_folder(environ))


class MiniLMEmbedder:
    """An embedder with the weights in ``cache``, which are mapped on first use."""

    name = "minilm"
    dimension = DIMENSION
    token_limit = TOKEN_LIMIT
    fingerprint = f"minilm:{MODEL.sha256[:16]}:mean:{TOKEN_LIMIT}:fp32"

    def __init__(self, cache: Path) -> None:
        self._cache = cache

    def count_tokens(self, text: str) -> int:
        """Count tokens without special ones and without a limit."""
        return len(self._tokenizer.encode(text))

    def embed_queries(self, texts: Sequence[str]) -> Matrix:
        """Return one unit vector per question; MiniLM uses no query prefix."""
        return self.embed_passages(texts)

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        """Return one unit vector per passage, the zero vector for one without a token."""
        return self._model.embed([self._encode(text) for text in texts])

    def embed_tokens(self, text: str) -> tuple[list[str], Matrix]:
        """Return the pieces of a text, and a contextual unit vector for each."""
        ids = self._encode(text)
        return self._tokenizer.spell(ids[1:-1]), self._model.embed_tokens(ids)[1:-1]

    def find_share(self, text: str) -> float:
        """Return the share of a text's letters and digits that stand in pieces with a meaning.

        Unknown pieces, and those of a single character outside ASCII, have none.
        """
        whole = sum(map(str.isalnum, text))
        pieces = (p.removeprefix("##") for p in self._tokenizer.spell(self._tokenizer.encode(text)))
        known = (p for p in pieces if p.isalnum() and (len(p) > 1 or p.isascii()))
        return min(sum(map(len, known)) / whole, 1.0) if whole else 1.0

    def _encode(self, text: str) -> list[int]:
        """Return the ids that the model reads; empty for a text without a token."""
        ids = self._tokenizer.encode(text)[:TOKEN_LIMIT]
        return [self._tokenizer.start, *ids, self._tokenizer.end] if ids else []

    @cached_property
    def _folder(self) -> Path:
        return MINILM.find(self._cache)

    @cached_property
    def _tokenizer(self) -> WordPiece:
        return WordPiece(read_vocabulary(self._folder))

    @cached_property
    def _model(self) -> Encoder:
        tensors = TensorFile(self._folder / MODEL.name)
        words = tensors["embeddings.word_embeddings.weight"]
        return Encoder(tensors, layers=LAYERS, heads=HEADS, words=words.__getitem__)


class WordPiece:
    """Splits text into the ids of a vocabulary, given in order of id, as BERT's models do.

    In plain Python: three times as fast as calling ``tokenizers`` once per text, and 45 ms quicker
    to start.
    """

    def __init__(self, vocabulary: Sequence[str]) -> None:
        self._vocabulary = vocabulary
        self._ids = dict(zip(vocabulary, range(len(vocabulary)), strict=True))
        self.start = self._ids["[CLS]"]
        self.end = self._ids["[SEP]"]
        self._unknown = self._ids["[UNK]"]
        self._encode_word = lru_cache(CACHED_WORDS)(self._split_word)
        self._cleaned = _Translation(_clean)
        self._folded = _Translation(_fold)

    def encode(self, text: str) -> list[int]:
        """Return all ids of a text, without start, end and limit. ``[SEP]`` in it is text."""
        return list(chain.from_iterable(map(self._encode_word, self._split(text))))

    def spell(self, ids: Sequence[int]) -> list[str]:
        """Return the pieces of ids; a piece that continues a word begins with ``##``."""
        return [self._vocabulary[number] for number in ids]

    def _split(self, text: str) -> list[str]:
        cleaned = text.translate(self._cleaned)
        if not cleaned.isascii():
            cleaned = unicodedata.normalize("NFD", cleaned)
        return cleaned.translate(self._folded).split()

    def _split_word(self, word: str) -> tuple[int, ...]:
        """Return the ids of a word's pieces, by longest match first."""
        if len(word) > MAX_WORD_CHARS:
            return (self._unknown,)
        pieces: list[int] = []
        start, prefix = 0, ""
        while start < len(word):
            for end in range(len(word), start, -1):
                piece = self._ids.get(prefix + word[start:end])
                if piece is not None:
                    break
            else:
                return (self._unknown,)
            pieces.append(piece)
            start, prefix = end, "##"
        return tuple(pieces)


class _Translation(dict[int, str]):
    """A table for ``str.translate``, filled by ``rule`` as characters occur."""

    def __init__(self, rule: Callable[[str], str]) -> None:
        super().__init__()
        self._rule = rule

    def __missing__(self, code: int) -> str:
        self[code] = self._rule(chr(code))
        return self[code]


def _clean(char: str) -> str:
    """Drop control characters, make white space a blank, and set ideographs apart."""
    if char in "\t\n\r":
        return " "
    if char in "\0\ufffd" or unicodedata.category(char) in ("Cc", "Cf", "Co"):
        return ""
    if char.isspace():
        return " "
    return f" {char} " if _IDEOGRAPH.match(char) else char


def _fold(char: str) -> str:
    """Drop accents (of decomposed text), lower the case, and set punctuation apart."""
    category = unicodedata.category(char)
    is_mark = char in _ASCII_PUNCTUATION or category[0] == "P"
    return "" if category == "Mn" else f" {char} " if is_mark else char.lower()


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
    """A BERT model's parameters, and its forward pass."""

    def __init__(self, tensors: TensorFile, *, layers: int, heads: int, words: ReadRows) -> None:
        self._words, self._heads = words, heads
        # Every token has type 0, so its vector is added to the positions.
        types = tensors["embeddings.token_type_embeddings.weight"]
        self._positions = tensors["embeddings.position_embeddings.weight"] + types[0]
        self._norm = _read_affine(tensors, "embeddings.LayerNorm")
        names = (f"encoder.layer.{n}" for n in range(layers))
        self._layers = [_read_layer(tensors, name) for name in names]

    def embed(self, sequences: Sequence[Sequence[int]]) -> Matrix:
        """Return the unit vector of each sequence of ids, the zero vector of an empty one.

        Sequences of similar length run together; the number of threads changes no result.
        """
        vectors: Matrix = np.zeros((len(sequences), self._positions.shape[1]), np.float32)

        def fill(rows: list[int]) -> None:
            states, borders = self._read([sequences[row] for row in rows])
            found: Matrix = np.add.reduceat(states, borders[:-1])
            vectors[rows] = found / np.sqrt(np.einsum("td,td->t", found, found))[:, None]

        batches = list(_batch_by_length(sequences))
        if len(batches) == 1:
            fill(batches[0])
            return vectors
        with ThreadPoolExecutor(THREADS) as pool:
            for _ in pool.map(fill, batches):
                pass
        return vectors

    def embed_tokens(self, sequence: Sequence[int]) -> Matrix:
        """Return the contextual unit vector of each id of one sequence."""
        states, _ = self._read([sequence])
        vectors: Matrix = states / np.sqrt(np.einsum("td,td->t", states, states))[:, None]
        return vectors

    def _read(self, sequences: Sequence[Sequence[int]]) -> tuple[Tensor, NDArray[np.intp]]:
        """Return the last layer's states, one row per id, and the bounds of each sequence."""
        lengths = [len(ids) for ids in sequences]
        borders = np.cumsum([0, *lengths])
        states = self._words(np.concatenate([np.asarray(ids) for ids in sequences]))
        states += self._positions[np.concatenate([np.arange(n) for n in lengths])]
        _normalize(states, self._norm)
        for layer in self._layers:
            states = _apply_layer(states, borders, layer, self._heads)
        return states, borders


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


def _read_layer(tensors: TensorFile, prefix: str) -> Layer:
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


def _read_affine(tensors: TensorFile, name: str) -> Affine:
    """Return a matrix (in, out), of a ``kernel`` or of a ``weight`` (out, in), and its bias."""
    bias = tensors[f"{name}.bias"]
    with suppress(KeyError):
        return Affine(tensors[f"{name}.kernel"], bias)
    return Affine(tensors[f"{name}.weight"].T, bias)


def map_file(path: Path) -> mmap.mmap:
    """Return a read-only memory map of a file."""
    with path.open("rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


class TensorFile:
    """Tensors of a mapped file, or of a file's bytes: read-only, and loaded on access."""

    def __init__(self, path: Path, data: bytes | None = None) -> None:
        self._bytes = map_file(path) if data is None else data
        (length,) = struct.unpack("<Q", self._bytes[:8])
        self._start = 8 + length
        self._entries: dict[str, Any] = json.loads(self._bytes[8 : self._start])

    def __getitem__(self, name: str) -> Tensor:
        """Return a tensor of float32; ``KeyError`` names the one that is missing."""
        return self.read(name, "F32")

    def read(self, name: str, kind: str) -> NDArray[Any]:
        """Return a tensor of a type in ``KINDS``; raise ``ValueError`` if it has another type."""
        entry = self._entries[name]
        if entry["dtype"] != kind:
            raise ValueError(f"tensor {name} is {entry['dtype']}, not {kind}")
        first, shape = self._start + int(entry["data_offsets"][0]), entry["shape"]
        flat = np.frombuffer(self._bytes, dtype=KINDS[kind], count=prod(shape), offset=first)
        return flat.reshape(shape)
