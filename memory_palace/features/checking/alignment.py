"""How a claim stands beside a passage, word by word."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from typing import TypeAlias

import numpy as np

from memory_palace.features.checking.wording import Wording, WrittenWord
from memory_palace.models import Matrix, Vector

EmbedTokens: TypeAlias = Callable[[str], tuple[list[str], Matrix]]
"""Gives the pieces of a text and one unit vector for each, as the text around makes it."""
SYNONYMS = 0.75
"""Cosine of two words, each alone, above which one may stand for the other: begin and start .84,
physician and doctor .86, but morning and evening .71, red and blue .73."""
_SHORTEST_ROOT = 5
"""Letters that words of one root begin with alike: extract, extraction."""


@dataclass(frozen=True, slots=True)
class Change:
    """Words that differ between words that are the same, as places in both texts."""

    mine: range
    """Empty where the claim has left words out."""
    theirs: range
    """Empty where the claim has words more."""


@dataclass(frozen=True, slots=True)
class Copying:
    """How far a claim has the words of a sentence in their order."""

    changes: tuple[Change, ...]
    share: float
    """Of all of its words."""
    telling: float
    """Of those that tell something."""


class WordReader:
    """Vectors of words, in their texts and alone; none where no embedder reads tokens.

    Every text is read once. A wording that is made of others has their vectors.
    """

    def __init__(self, embed_tokens: EmbedTokens | None) -> None:
        self._call = embed_tokens or _embed_nothing
        self._read: dict[str, Matrix] = {}
        self._alone: dict[str, Vector] = {}
        self.by_meaning = embed_tokens is not None
        """Whether it has vectors."""

    def embed(self, wording: Wording) -> Matrix:
        """Return one unit vector for each word, in its sentence; 0 beyond the model's limit."""
        if wording.parts:
            return np.concatenate([self.embed(part) for part in wording.parts])
        found = self._read.get(wording.text)
        if found is None:
            found = self._read[wording.text] = self._embed_words(wording)
        return found

    def compare(self, claim: Wording, passage: Wording) -> Matrix:
        """Return how like each word of a claim is to each of a passage: 1 for the same stem."""
        same: Matrix = np.zeros((len(claim.words), len(passage.words)), dtype=np.float32)
        theirs = [word.stem for word in passage.words]
        for at, word in enumerate(claim.words):
            same[at] = [word.stem == stem for stem in theirs]
        for at, other in _pair_values(claim, passage):
            same[at, other] = 1
        if not self.by_meaning or not same.size:
            return same
        cosines = self.embed(claim) @ self.embed(passage).T
        likeness: Matrix = np.maximum(same, np.clip(cosines, 0, 1))
        return likeness

    def compare_whole(self, claim: Wording, passage: Wording) -> float:
        """Return the cosine of two texts, at least 0; 0 without vectors."""
        if not self.by_meaning:
            return 0.0
        return max(0.0, float(pool(self.embed(claim)) @ pool(self.embed(passage))))

    def is_synonym(self, mine: str, theirs: str) -> bool:
        """Return whether two words are of one root, or, by their vectors alone, of one meaning."""
        if share_root(mine, theirs):
            return True
        if not self.by_meaning:
            return False
        return float(self._embed_alone(mine) @ self._embed_alone(theirs)) >= SYNONYMS

    def _embed_alone(self, word: str) -> Vector:
        if word not in self._alone:
            self._alone[word] = pool(self._call(word)[1])
        return self._alone[word]

    def _embed_words(self, wording: Wording) -> Matrix:
        pieces, vectors = self._call(wording.text)
        found: Matrix = np.zeros((len(wording.words), vectors.shape[1]), dtype=np.float32)
        for piece, at in enumerate(_places(wording.words, pieces)):
            if at >= 0:
                found[at] += vectors[piece]
        norms = np.sqrt(np.einsum("wd,wd->w", found, found))
        found /= np.where(norms, norms, 1)[:, None]
        return found


def _embed_nothing(text: str) -> tuple[list[str], Matrix]:
    return [], np.zeros((0, 1), np.float32)


@lru_cache(maxsize=1 << 12)
def share_root(mine: str, theirs: str) -> bool:
    """Return whether two words begin alike for most of their length: extract, extraction."""
    least = max(_SHORTEST_ROOT, round(0.6 * max(len(mine), len(theirs))))
    return mine[:least] == theirs[:least] and min(len(mine), len(theirs)) >= least


def pool(vectors: Matrix) -> Vector:
    """Return the unit vector of a text: the mean of its words' vectors."""
    total: Vector = vectors.sum(axis=0)
    norm = float(np.linalg.norm(total))
    return total / norm if norm else total


def find_copying(claim: Wording, passage: Wording) -> Copying:
    """Return what a claim has of a passage word by word, and what it has put for what.

    A passage may have more before and after; of that only the words next to a change count.
    """
    mine, theirs = claim.words, passage.words
    matcher = SequenceMatcher(None, [w.stem for w in mine], [w.stem for w in theirs], False)
    changes, same = list[Change](), set[int]()
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag == "equal":
            same.update(range(a, b))
        elif tag != "insert" or 0 < a < len(mine):
            first = c if a else max(c, d - (b - a) - 1)
            last = d if b < len(mine) else min(d, first + (b - a) + 1)
            changes.append(Change(range(a, b), range(first, last)))
    telling = [at for at, word in enumerate(mine) if word.is_telling]
    kept = sum(at in same for at in telling)
    return Copying(tuple(changes), len(same) / max(1, len(mine)), kept / max(1, len(telling)))


def _places(words: Sequence[WrittenWord], pieces: Sequence[str]) -> Iterator[int]:
    """Yield for each piece the place of the word that it is a part of, -1 for marks."""
    at, left = -1, 0
    for piece in pieces:
        size = len(piece.removeprefix("##"))
        if not piece.removeprefix("##")[:1].isalnum():
            yield -1
            continue
        while left <= 0 and at + 1 < len(words):
            at += 1
            left = sum(map(str.isalnum, words[at].key))
        yield at
        left -= size


def _pair_values(claim: Wording, passage: Wording) -> Iterator[tuple[int, int]]:
    """Yield places of words of numbers and dates that are the same: 240 cm, 2.4 metres."""
    pairs = [(a, b) for a in claim.numbers for b in passage.numbers if a.agrees(b)]
    dates = [(a, b) for a in claim.dates for b in passage.dates if a.agrees(b)]
    spans = [((a.start, a.stop), (b.start, b.stop)) for a, b in pairs]
    spans += [((a.start, a.stop), (b.start, b.stop)) for a, b in dates]
    for mine, theirs in spans:
        there = _spelled(passage, *theirs)
        yield from ((at, there[0]) for at in _spelled(claim, *mine) if there)


def _spelled(wording: Wording, start: int, stop: int) -> list[int]:
    """Return the places of the words of a number or date, its unit included."""
    return [at for at, word in enumerate(wording.words) if word.start < stop and start < word.end]
