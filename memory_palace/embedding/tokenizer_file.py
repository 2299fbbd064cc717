"""Reads a ``tokenizer.json``: the WordPiece of BERT, and the unigram model of XLM-RoBERTa."""

from __future__ import annotations

import json
import unicodedata
from base64 import b64decode
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from memory_palace.embedding.charsmap import CharacterMap
from memory_palace.embedding.e5_file import MARK, group_of
from memory_palace.embedding.minilm import MAX_WORD_CHARS, WordPiece
from memory_palace.embedding.unigram import Unigram
from memory_palace.errors import MissingPartError

MOST_BYTES = 100_000_000
"""The published ones have 17 MB at most."""
_FORMS: Mapping[str, Callable[[str], str]] = {
    "NFC": partial(unicodedata.normalize, "NFC"),
    "NFD": partial(unicodedata.normalize, "NFD"),
    "NFKC": partial(unicodedata.normalize, "NFKC"),
    "NFKD": partial(unicodedata.normalize, "NFKD"),
    "Lowercase": str.lower,
}
_OF_BLANKS = (("Replace", {"Regex": " {2,}"}), ("Replace", {"String": " "}))
"""Steps that only change blanks, at which words are split anyway."""
_ADDED = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")


class PairTokenizer(Protocol):
    """Splits a text into ids, which begin and end with ids of its own."""

    start: int
    end: int

    def encode(self, text: str) -> list[int]:
        """Return all ids of a text, without start, end and limit."""
        ...


def read_tokenizer(path: Path) -> tuple[PairTokenizer, int]:
    """Return the tokenizer of a file, and how many ids it has.

    Raise ``MissingPartError`` where it is of another kind, or no tokenizer at all.
    """
    try:
        if path.stat().st_size > MOST_BYTES:
            raise ValueError(f"it has more than {MOST_BYTES // 1_000_000} MB")
        content = json.loads(path.read_bytes())
        model = content["model"]
        kind = model.get("type") or ("WordPiece" if isinstance(model["vocab"], dict) else "Unigram")
        if kind == "WordPiece":
            return _read_wordpiece(content), len(model["vocab"])
        if kind == "Unigram":
            return _read_unigram(content), len(model["vocab"])
        raise ValueError(f"its model is {kind!r:.40}; WordPiece and Unigram are read")
    except (OSError, ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
        raise MissingPartError(f"{path} is no tokenizer that can be used: {_say(error)}") from error
    except RecursionError as error:
        raise MissingPartError(f"{path} is no tokenizer that can be used: too deep") from error


def _say(error: Exception) -> str:
    if isinstance(error, KeyError):
        return f"it has no {error}"
    return str(error) if isinstance(error, OSError | ValueError) else "it is of another shape"


def _read_wordpiece(content: Mapping[str, Any]) -> WordPiece:
    model, normalizer = content["model"], content["normalizer"]
    if normalizer["type"] != "BertNormalizer" or content["pre_tokenizer"]["type"] != (
        "BertPreTokenizer"
    ):
        raise ValueError("it does not split as BERT does")
    is_cased = not normalizer["lowercase"]
    strips = normalizer.get("strip_accents")
    usual = ("##", MAX_WORD_CHARS, "[UNK]")
    rules = ("continuing_subword_prefix", "max_input_chars_per_word", "unk_token")
    if tuple(map(model.get, rules)) != usual or strips not in (None, not is_cased):
        raise ValueError("it has other rules than BERT's")
    if not normalizer["clean_text"] or not normalizer["handle_chinese_chars"]:
        raise ValueError("it keeps what BERT cleans away")
    ids: dict[str, int] = model["vocab"]
    pieces = sorted(ids, key=ids.__getitem__)
    if [ids[piece] for piece in pieces] != list(range(len(pieces))):
        raise ValueError("its ids do not run from 0 on")
    return WordPiece(pieces, is_cased=is_cased)


def _read_unigram(content: Mapping[str, Any]) -> Unigram:
    model = content["model"]
    if model.get("byte_fallback"):
        raise ValueError("it falls back on bytes, which XLM-RoBERTa does not")
    _check_blanks(content["pre_tokenizer"])
    steps = list(_list_steps(content["normalizer"]))
    pieces = [str(piece) for piece, _ in model["vocab"]]
    scores = [float(score) for _, score in model["vocab"]]
    unknown = model["unk_id"]
    control = {unknown, *(number for number, piece in enumerate(pieces) if piece in _ADDED)}
    groups: dict[str, dict[str, int]] = defaultdict(dict)
    for number, piece in enumerate(pieces):
        if piece and number not in control:
            groups[group_of(piece)][piece] = number
    special = [pieces.index("<s>"), pieces.index("</s>"), range(len(pieces))[unknown]]

    def normalize(text: str) -> str:
        for step in steps:
            text = step(text)
        return " ".join(text.split())

    return Unigram(
        special=special,
        scores=scores,
        lowest=min(scores),
        read_group=lambda name: dict(groups.get(name, ())),
        normalize=normalize,
        joins_unknown=True,
    )


def _check_blanks(given: Mapping[str, Any]) -> None:
    """Raise ``ValueError`` unless words are what stands between blanks, each after a mark."""
    steps: Sequence[Mapping[str, Any]]
    steps = given["pretokenizers"] if given["type"] == "Sequence" else [given]
    *before, last = steps
    if any(step["type"] != "WhitespaceSplit" for step in before) or last["type"] != "Metaspace":
        raise ValueError("it does not split at blanks as XLM-RoBERTa does")
    always = last.get("prepend_scheme", "always" if last.get("add_prefix_space") else "never")
    if last["replacement"] != MARK or always != "always":
        raise ValueError("it marks words in another way than XLM-RoBERTa")


def _list_steps(given: Mapping[str, Any] | None) -> Iterator[Callable[[str], str]]:
    """Yield what is done to a text before it is split."""
    kind = given["type"] if given else ""
    if given is None:
        return
    if kind == "Sequence":
        for step in given["normalizers"]:
            yield from _list_steps(step)
    elif kind == "Precompiled":
        yield CharacterMap(b64decode(given["precompiled_charsmap"])).normalize
    elif kind in _FORMS:
        yield _FORMS[kind]
    elif kind != "Strip" and (kind, given.get("pattern")) not in _OF_BLANKS:
        raise ValueError(f"it changes text by {kind!r:.40}, which is not known here")
