"""Splits text into the pieces of a unigram model, as XLM-RoBERTa's tokenizer does.

Of 250,000 pieces only the groups that a text touches are ever read: making a dictionary of all of
them takes a quarter of a second, which every question would wait for.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from itertools import pairwise

from memory_palace.embedding.e5_file import MARK, group_of
from memory_palace.embedding.tensor_file import TensorFile

CACHED_WORDS = 100_000
LONGEST_CACHED = 100
"""Characters; what has no blanks is a word as long as its line, and does not come again."""
UNKNOWN_PENALTY = 10.0
"""An unknown character costs this much more than the rarest piece (SentencePiece)."""


class Unigram:
    """A tokenizer over pieces that are read a group at a time."""

    def __init__(
        self,
        *,
        special: Sequence[int],
        scores: Sequence[float],
        lowest: float,
        read_group: Callable[[str], dict[str, int]],
        normalize: Callable[[str], str],
    ) -> None:
        """Take the ids of start, end and unknown, the score of each id, and the lowest of them.

        ``read_group`` gives the pieces that begin as ``group_of`` says, with their ids, and
        ``normalize`` what is split at its blanks.
        """
        self.start, self.end, self._unknown = special
        self._scores = scores
        self._read_group, self._normalize = read_group, normalize
        self._unknown_score = lowest - UNKNOWN_PENALTY
        self._groups: dict[str, tuple[dict[str, int], int]] = {}
        self._words: dict[str, tuple[int, ...]] = {}

    def encode(self, text: str) -> list[int]:
        """Return all ids of a text, without start, end and limit. ``<s>`` in it is text."""
        words = self._words
        ids: list[int] = []
        for word in self._normalize(text).split(" "):
            if word:
                known = words.get(word)
                ids.extend(self._encode_word(word) if known is None else known)
        return ids

    def _encode_word(self, word: str) -> Sequence[int]:
        ids = self._split_word(MARK + word)
        if len(self._words) < CACHED_WORDS and len(word) <= LONGEST_CACHED:
            self._words[word] = ids
        return ids

    def _split_word(self, word: str) -> tuple[int, ...]:
        """Choose the pieces whose scores have the largest sum (Viterbi; Kudo, 2018)."""
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

    def _find_group(self, name: str) -> tuple[dict[str, int], int]:
        """Return the pieces that begin so, with their ids, and the length of the longest."""
        found = self._groups.get(name)
        if found is None:
            pieces = self._read_group(name)
            if name[0] == MARK:
                pieces |= self._read_group(MARK)
            found = pieces, max(map(len, pieces), default=0)
            self._groups[name] = found
        return found


def open_unigram(tables: TensorFile) -> Unigram:
    """Return the tokenizer over the tables that ``E5File.unpack`` gives."""
    groups = tables.read("pieces.groups", "U8").tobytes().decode().split("\n")
    rows, borders = (
        pairwise(tables.read(f"pieces.{name}", "I32").tolist()) for name in ("rows", "places")
    )
    places = dict(zip(groups, zip(rows, borders, strict=True), strict=True))
    text, ids = tables.read("pieces.text", "U8"), tables.read("pieces.ids", "I32")
    characters, replacements = (
        tables.read(f"rules.{part}", "U8").tobytes().decode().split("\n") for part in ("from", "to")
    )
    rules = dict(zip(map(ord, characters), replacements, strict=True)) | {0: "", ord("\n"): " "}

    def read_group(name: str) -> dict[str, int]:
        if name not in places:
            return {}
        (first, last), (start, stop) = places[name]
        pieces = text[start:stop].tobytes().decode().split("\n")
        return dict(zip(pieces, ids[first:last].tolist(), strict=True))

    def normalize(text: str) -> str:
        # Its own rules replace one character at a time, so they need the composed ones.
        composed = text if text.isascii() else unicodedata.normalize("NFC", text)
        return composed.translate(rules)

    scores = tables["pieces.scores"]
    return Unigram(
        special=tables.read("pieces.special", "I32").tolist(),
        scores=scores.data,
        lowest=float(scores.min()),
        read_group=read_group,
        normalize=normalize,
    )
