"""multilingual-e5-small in numpy: 384 dimensions, a hundred languages, weights of 4 bits.

From the top down: the embedder; ``Unigram``, the tokenizer; and ``E5File``, which reads
``e5-small-q4.bin`` (format E5S1: numbers of 4 bits). Unpacking it takes two seconds and gives 91
MB, so it is done once and stored beside the file: layers as float32 matrices, and the tokenizer's
pieces in groups.
"""

from __future__ import annotations

import json
import struct
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, cached_property, lru_cache
from io import BytesIO
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

import numpy as np
from numpy.typing import NDArray

from memory_palace.embedding.minilm import Encoder, Tensor, TensorFile, map_file
from memory_palace.embedding.registry import E5, UNPACKED, cache_folder, digest_weights, has_size
from memory_palace.models import Matrix
from memory_palace.storage import write_atomic

Array: TypeAlias = NDArray[Any]

DIMENSION = 384
TOKEN_LIMIT = 254
"""Passages are cut as for MiniLM: longer ones blur into their average."""
READ_TOKENS = 510
"""Most tokens read of a text, prefix included; start and end make 512."""
QUERY, PASSAGE = "query:", "passage:"
"""The model was trained with one of them before every text (Wang et al., 2024)."""

CACHED_WORDS = 100_000
LONGEST_CACHED = 100
"""Most characters of a cached word: a line without blanks is one word, and does not recur."""
UNKNOWN_PENALTY = 10.0
"""An unknown character costs this much more than the rarest piece (SentencePiece)."""

MAGIC = b"E5S1\x01\0\0\0"
BLOCK = 32
"""Numbers that share a scale."""
BLOCK_BYTES = 2 + BLOCK // 2
"""A float16, and two numbers in each byte: the first half of the block in the low four bits."""
FLOAT, QUANTISED = 0, 1
MARK = "\u2581"
"""Marks the start of a word, in place of its blank (SentencePiece)."""


def load(model: str, environ: Mapping[str, str]) -> E5Embedder:
    """Return the embedder for the weights in the cache, which are read on first use."""
    return E5Embedder(cache_folder(environ))


class E5Embedder:
    """An embedder with the weights in ``cache``, which are mapped on first use."""

    name = "e5"
    dimension = DIMENSION
    token_limit = TOKEN_LIMIT
    fingerprint = f"e5:{E5.files[-1].sha256[:16]}:mean:prefixes:{TOKEN_LIMIT}-{READ_TOKENS}:fp32"

    def __init__(self, cache: Path) -> None:
        self._cache = cache

    def count_tokens(self, text: str) -> int:
        """Count tokens without the prefix, without special ones and without a limit."""
        return len(self._tokenizer.encode(text))

    def embed_queries(self, texts: Sequence[str]) -> Matrix:
        """Return one unit vector per question."""
        return self._embed(QUERY, texts)

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        """Return one unit vector per passage, the zero vector for one without a token."""
        return self._embed(PASSAGE, texts)

    def _embed(self, prefix: str, texts: Sequence[str]) -> Matrix:
        tokenizer = self._tokenizer
        begin = tokenizer.encode(prefix)
        room = READ_TOKENS - len(begin)
        encoded = [tokenizer.encode(text)[:room] for text in texts]
        return self._model.embed(
            [[tokenizer.start, *begin, *ids, tokenizer.end] if ids else [] for ids in encoded]
        )

    @cached_property
    def _folder(self) -> Path:
        return E5.find(self._cache)

    @cached_property
    def _tables(self) -> TensorFile:
        return open_unpacked(self._folder, cache=self._cache)

    @cached_property
    def _tokenizer(self) -> Unigram:
        return Unigram(self._tables)

    @cached_property
    def _model(self) -> Encoder:
        file = E5File(self._folder / E5.files[-1].name)
        return Encoder(self._tables, layers=file.layers, heads=file.heads, words=file.read_words)


class Unigram:
    """Splits text into the pieces of a unigram model, as XLM-RoBERTa's tokenizer does.

    ``tables`` are those of ``E5File.unpack``. Of 250,000 pieces only the groups that a text touches
    are ever read: a dictionary of all takes a quarter of a second, which every question would wait
    for.
    """

    def __init__(self, tables: TensorFile) -> None:
        def lines(name: str) -> list[str]:
            return tables.read(name, "U8").tobytes().decode().split("\n")

        rows, borders = (
            pairwise(tables.read(f"pieces.{name}", "I32").tolist()) for name in ("rows", "places")
        )
        groups = zip(lines("pieces.groups"), zip(rows, borders, strict=True), strict=True)
        self._places, self._tables = dict(groups), tables
        rules = zip(map(ord, lines("rules.from")), lines("rules.to"), strict=True)
        self._rules = dict(rules) | {0: "", ord("\n"): " "}
        self.start, self.end, self._unknown = tables.read("pieces.special", "I32").tolist()
        scores = tables["pieces.scores"]
        self._scores, self._unknown_score = scores.data, float(scores.min()) - UNKNOWN_PENALTY
        self._find_group = cache(self._read_group)
        self._encode_word = lru_cache(CACHED_WORDS)(self._split_word)

    def encode(self, text: str) -> list[int]:
        """Return all ids of a text, without start, end and limit. ``<s>`` in it is text."""
        # Its own rules replace one character at a time, so they need the composed ones.
        composed = text if text.isascii() else unicodedata.normalize("NFC", text)
        ids: list[int] = []
        for word in filter(None, composed.translate(self._rules).split(" ")):
            is_brief = len(word) <= LONGEST_CACHED
            ids.extend((self._encode_word if is_brief else self._split_word)(MARK + word))
        return ids

    def _split_word(self, word: str) -> tuple[int, ...]:
        """Return the ids of the pieces with the largest sum of scores (Viterbi; Kudo, 2018)."""
        size, scores = len(word), self._scores
        best = [0.0] + [float("-inf")] * size
        last: list[tuple[int, int]] = [(0, 0)] * (size + 1)
        for first in range(size):
            so_far = best[first]
            pieces, longest = self._find_group(group_of(word[first : first + 2]))
            for end in range(first + 1, min(first + longest, size) + 1):
                number = pieces.get(word[first:end])
                if number is not None and so_far + scores[number] > best[end]:
                    best[end] = so_far + scores[number]
                    last[end] = first, number
            if so_far + self._unknown_score > best[first + 1]:
                best[first + 1] = so_far + self._unknown_score
                last[first + 1] = first, self._unknown
        ids: list[int] = []
        while size:
            size, number = last[size]
            ids.append(number)
        return tuple(reversed(ids))

    def _read_group(self, name: str) -> tuple[dict[str, int], int]:
        """Return the ids of a group's pieces by text, and the length of the longest piece."""
        pieces: dict[str, int] = {}
        for group in dict.fromkeys((name, name[0])) if name[0] == MARK else (name,):
            if group in self._places:
                (first, last), (start, stop) = self._places[group]
                text = self._tables.read("pieces.text", "U8")[start:stop].tobytes().decode()
                ids = self._tables.read("pieces.ids", "I32")[first:last].tolist()
                pieces |= zip(text.split("\n"), ids, strict=True)
        return pieces, max(map(len, pieces), default=0)


def open_unpacked(folder: Path, *, cache: Path) -> TensorFile:
    """Return the unpacked weights in ``folder``; they are made again if they do not verify.

    If the cache cannot be written, each start takes the time of unpacking.
    """
    path = folder / UNPACKED.name
    if has_size(path, UNPACKED) and digest_weights(path, cache=cache) == UNPACKED.sha256:
        return TensorFile(path)
    packed = BytesIO()
    write_tensors(packed, E5File(folder / E5.files[-1].name).unpack())
    try:
        write_atomic(path, packed.getvalue())
    except OSError:
        return TensorFile(path, packed.getvalue())
    digest_weights(path, cache=cache)
    return TensorFile(path)


class E5File:
    """The weights and the tokenizer of a mapped file with a verified digest."""

    def __init__(self, path: Path) -> None:
        self._bytes = map_file(path)
        at = len(MAGIC)
        self.width, self.layers, self.heads, self._wide, words = self._unpack("<5i", at)
        at += 36  # with positions, token types, epsilon and four bytes of padding
        pieces, self._start, self._end, _, self._unknown = self._unpack("<5i", at)
        (text_bytes,) = self._unpack("<Q", at + 20)
        at += 28
        self._places = np.frombuffer(self._bytes, "<u4", pieces + 1, at)
        at += 4 * (pieces + 1)
        self._scores = np.frombuffer(self._bytes, "<f4", pieces, at)
        at += 4 * pieces
        self._text = slice(at, at + text_bytes)
        at += text_bytes
        self._rules, rule_bytes = self._unpack("<iI", at)
        self._rules_at = at + 8
        at = self._rules_at + rule_bytes
        (entries,) = self._unpack("<i", at)
        self._entries = dict(self._read_entries(at + 4, entries))
        self._words = self._find("emb.word", QUANTISED).reshape(words, -1, BLOCK_BYTES)

    def _unpack(self, form: str, at: int) -> tuple[Any, ...]:
        return struct.unpack_from(form, self._bytes, at)

    def _read_entries(self, at: int, count: int) -> Iterator[tuple[str, tuple[int, int, int]]]:
        for _ in range(count):
            (length,) = self._unpack("<H", at)
            name = self._bytes[at + 2 : at + 2 + length].decode()
            kind, _, first, size = self._unpack("<BIQQ", at + 2 + length)
            yield name, (kind, first, size)
            at += 23 + length

    def _find(self, name: str, kind: int) -> Array:
        _, first, size = self._entries[name]
        dtype, width = ("<f4", 4) if kind == FLOAT else ("u1", 1)
        return np.frombuffer(self._bytes, dtype, size // width, first)

    def read_words(self, ids: NDArray[np.intp]) -> Tensor:
        """Return the embeddings of ids, one row each."""
        return _dequantise(self._words[ids])

    def unpack(self) -> dict[str, Array]:
        """Return the layers, named as BERT names them, and the tables of the tokenizer."""
        named: dict[str, Array] = {}
        for name, ours in (("emb.pos", "position"), ("emb.type", "token_type")):
            rows = self._find(name, FLOAT).reshape(-1, self.width)
            named[f"embeddings.{ours}_embeddings.weight"] = rows
        self._add_norm(named, "embeddings.LayerNorm", "emb.ln")
        for number in range(self.layers):
            here, there = f"encoder.layer.{number}", f"l{number}"
            self._add(named, f"{here}.attention.self.query_key_value", there, ["q", "k", "v"])
            self._add(named, f"{here}.attention.output.dense", there, ["ao"])
            self._add_norm(named, f"{here}.attention.output.LayerNorm", f"{there}.aln")
            self._add(named, f"{here}.intermediate.dense", there, ["fi"])
            self._add(named, f"{here}.output.dense", there, ["fo"])
            self._add_norm(named, f"{here}.output.LayerNorm", f"{there}.oln")
        return named | self._group_pieces() | self._list_rules()

    def _add(self, named: dict[str, Array], name: str, layer: str, parts: list[str]) -> None:
        """Add matrices side by side, shape (in, out), and their biases."""
        biases = [self._find(f"{layer}.{part}.b", FLOAT) for part in parts]
        matrices = [
            _dequantise(
                self._find(f"{layer}.{part}.w", QUANTISED).reshape(len(bias), -1, BLOCK_BYTES)
            )
            for part, bias in zip(parts, biases, strict=True)
        ]
        named[f"{name}.kernel"] = np.ascontiguousarray(np.concatenate(matrices).T)
        named[f"{name}.bias"] = np.concatenate(biases)

    def _add_norm(self, named: dict[str, Array], name: str, ours: str) -> None:
        named[f"{name}.weight"] = self._find(f"{ours}.w", FLOAT)
        named[f"{name}.bias"] = self._find(f"{ours}.b", FLOAT)

    def _group_pieces(self) -> dict[str, Array]:
        """Return the pieces in groups of equal beginning, so that a text reads few of them.

        Control pieces such as ``<s>`` are left out: in a note they are text.
        """
        text = self._bytes[self._text]
        listed = enumerate(text[a:b].decode() for a, b in pairwise(self._places.tolist()))
        control = {self._start, self._end, self._unknown}
        known = [(n, p) for n, p in listed if n not in control and p not in ("<pad>", "<mask>")]
        known.sort(key=lambda entry: (group_of(entry[1]), entry[1]))
        groups = [(key, list(members)) for key, members in groupby(known, lambda e: group_of(e[1]))]
        texts = ["\n".join(piece for _, piece in members).encode() for _, members in groups]
        return {
            "pieces.groups": _as_bytes("\n".join(key for key, _ in groups)),
            "pieces.rows": _add_up(len(members) for _, members in groups),
            "pieces.places": _add_up(map(len, texts)),
            "pieces.ids": np.array([number for number, _ in known], "<i4"),
            "pieces.scores": self._scores,
            "pieces.special": np.array([self._start, self._end, self._unknown], "<i4"),
            "pieces.text": np.frombuffer(b"".join(texts), "u1"),
        }

    def _list_rules(self) -> dict[str, Array]:
        """Return the characters replaced before a text is split, and their replacements."""
        at, rules = self._rules_at, []
        for _ in range(self._rules):
            code, length = self._unpack("<IB", at)
            at += 5
            rules.append((chr(code), "".join(map(chr, self._unpack(f"<{length}I", at)))))
            at += 4 * length
        return {
            "rules.from": _as_bytes("\n".join(char for char, _ in rules if char != "\n")),
            "rules.to": _as_bytes("\n".join(to for char, to in rules if char != "\n")),
        }


def group_of(piece: str) -> str:
    """Return the group of a piece: its first character, and one more after the mark of a word."""
    return piece[:2] if piece[0] == MARK else piece[0]


def _dequantise(blocks: Array) -> Tensor:
    """Return the numbers of Q4_0 blocks, shape (rows, blocks, bytes), as (rows, numbers).

    Scale times an integer of 4 bits is exact in float32: every machine gets the same bytes.
    """
    scales = np.ascontiguousarray(blocks[..., :2]).view("<f2").astype(np.float32)
    packed = blocks[..., 2:]
    numbers = np.concatenate([packed & 15, packed >> 4], axis=-1).astype(np.float32)
    numbers -= np.float32(8)
    numbers *= scales
    return numbers.reshape(len(blocks), -1)


def _as_bytes(text: str) -> Array:
    return np.frombuffer(text.encode(), "u1")


def _add_up(sizes: Any) -> Array:
    return np.cumsum([0, *sizes]).astype("<i4")


_NAMES = {"f": "F32", "i": "I32", "u": "U8"}


def write_tensors(out: BinaryIO, tensors: Mapping[str, Array]) -> None:
    """Write arrays as a safetensors file, those of bytes last, so that all others are aligned."""
    ordered = sorted(tensors.items(), key=lambda item: -item[1].itemsize)
    places = np.cumsum([0, *(array.nbytes for _, array in ordered)]).tolist()
    header = {
        name: {
            "dtype": _NAMES[array.dtype.kind],
            "shape": list(array.shape),
            "data_offsets": [first, first + array.nbytes],
        }
        for (name, array), first in zip(ordered, places, strict=False)
    }
    encoded = json.dumps(header, separators=(",", ":")).encode()
    encoded += b" " * (-(8 + len(encoded)) % 64)
    out.write(struct.pack("<Q", len(encoded)) + encoded)
    for _, array in ordered:
        out.write(array.tobytes())
