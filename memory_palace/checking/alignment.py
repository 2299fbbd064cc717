"""Which word of a passage stands for each word of a claim, and how like they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import cached_property, lru_cache
from typing import TypeAlias

import numpy as np

from memory_palace.checking.numbers import Number
from memory_palace.checking.wording import Wording, WrittenWord
from memory_palace.models import Matrix, Vector

EmbedTokens: TypeAlias = Callable[[str], tuple[list[str], Matrix]]
"""Gives the pieces of a text and one unit vector for each, as the text around makes it."""

SYNONYMS = 0.75
"""Cosine of two words, each alone, above which one may stand for the other: begin and start .84,
physician and doctor .86, but morning and evening .71, red and blue .73."""
_COPIED = 0.6
"""Share of a claim's words in the order of the passage: above, it is nearly its wording."""
_SHORTEST_ROOT = 5
"""Letters that words of one root begin with alike: extract, extraction."""


@dataclass(frozen=True, slots=True)
class WordPair:
    """A content word of the claim and its best counterpart in the passage."""

    mine: int
    """Place in ``claim.words``."""
    theirs: int
    """Place in ``passage.words``; -1 where nothing is like it at all."""
    likeness: float
    """1 for the same stem, else the cosine of both words in their texts, or 0 without vectors."""


@dataclass(frozen=True, slots=True)
class Change:
    """Words that differ between words that are the same, as places in both texts."""

    mine: range
    """Empty where the claim has left words out."""
    theirs: range
    """Empty where the claim has words more; at its start and end only the words that are nearest,
    for a passage goes on there with something else."""


@dataclass(frozen=True, slots=True)
class Alignment:
    """How a claim and a passage stand word by word."""

    pairs: tuple[WordPair, ...]
    """One for each content word of the claim, in order."""
    changes: tuple[Change, ...]
    """What differs in the order of the words; says something where ``copied`` is high."""
    copied: float
    """Share of the claim's words that stand in the passage in the same order."""
    coverage: float
    """Mean likeness of the pairs."""
    weakest: float
    """The same of the third of the pairs that are least like each other."""
    cosine: float
    """Of both as wholes, at least 0; 0 without vectors."""
    around: Wording
    """All of the text that the passage is a part of, with its title."""
    reader: WordReader = field(repr=False, compare=False)

    @property
    def is_copied(self) -> bool:
        """Whether the claim is nearly in the wording of the passage."""
        return self.copied >= _COPIED

    def counterpart(self, place: int) -> WordPair | None:
        """Return the pair of the word at a place of the claim, if it is one of content."""
        return next((pair for pair in self.pairs if pair.mine == place), None)


class WordReader:
    """Vectors of words, in their texts and alone; none where no embedder reads tokens.

    Every text is read once. A wording that is made of others has their vectors.
    """

    def __init__(self, embed_tokens: EmbedTokens | None) -> None:
        self._embed_tokens = embed_tokens
        self._read: dict[str, Matrix] = {}
        self._alone: dict[str, Vector] = {}

    @cached_property
    def by_meaning(self) -> bool:
        """Whether it has vectors."""
        return self._embed_tokens is not None

    def embed(self, wording: Wording) -> Matrix:
        """Return one unit vector for each word, in its sentence; 0 beyond the model's limit."""
        if wording.parts:
            return np.concatenate([self.embed(part) for part in wording.parts])
        found = self._read.get(wording.text)
        if found is None:
            found = self._read[wording.text] = self._embed_words(wording)
        return found

    def compare(self, claim: Wording, passage: Wording) -> Matrix:
        """Return the likeness of each word of a claim to each of a passage, claim by passage."""
        same: Matrix = np.zeros((len(claim.words), len(passage.words)), dtype=np.float32)
        theirs = [word.stem for word in passage.words]
        for at, word in enumerate(claim.words):
            same[at] = [word.stem == stem for stem in theirs]
        for at, other in _pair_numbers(claim, passage):
            same[at, other] = 1
        if self._embed_tokens is None or not same.size:
            return same
        cosines = self.embed(claim) @ self.embed(passage).T
        likeness: Matrix = np.maximum(same, np.clip(cosines, 0, 1))
        return likeness

    def compare_whole(self, claim: Wording, passage: Wording) -> float:
        """Return the cosine of two texts, at least 0; 0 without vectors."""
        if self._embed_tokens is None:
            return 0.0
        return max(0.0, float(pool(self.embed(claim)) @ pool(self.embed(passage))))

    def is_synonym(self, mine: str, theirs: str) -> bool:
        """Say whether two words are of one root, or, by their vectors alone, of one meaning."""
        if share_root(mine, theirs):
            return True
        if self._embed_tokens is None:
            return False
        return float(self._embed_alone(mine) @ self._embed_alone(theirs)) >= SYNONYMS

    def _embed_alone(self, word: str) -> Vector:
        if word not in self._alone:
            self._alone[word] = pool(self._call(word)[1])
        return self._alone[word]

    def _embed_words(self, wording: Wording) -> Matrix:
        pieces, vectors = self._call(wording.text)
        width = vectors.shape[1] if vectors.ndim == 2 else 1
        found: Matrix = np.zeros((len(wording.words), width), dtype=np.float32)
        for piece, at in enumerate(_places(wording.words, pieces)):
            if at >= 0:
                found[at] += vectors[piece]
        norms = np.sqrt(np.einsum("wd,wd->w", found, found))
        found /= np.where(norms, norms, 1)[:, None]
        return found

    def _call(self, text: str) -> tuple[list[str], Matrix]:
        if self._embed_tokens is None:
            raise ValueError("no embedder was given")
        return self._embed_tokens(text)


def align(
    claim: Wording,
    passage: Wording,
    reader: WordReader | EmbedTokens | None = None,
    *,
    around: Wording | None = None,
) -> Alignment:
    """Align a claim with a passage: by vectors where a reader has some, else by stems."""
    words = reader if isinstance(reader, WordReader) else WordReader(reader)
    likeness = words.compare(claim, passage)
    telling = [at for at, word in enumerate(claim.words) if word.is_telling]
    pairs = tuple(_pair(at, likeness) for at in telling)
    changes, same = _find_changes(claim.words, passage.words)
    return Alignment(
        pairs=pairs,
        changes=tuple(changes),
        copied=same / len(claim.words) if claim.words else 0.0,
        coverage=_mean([pair.likeness for pair in pairs]),
        weakest=_mean(sorted(pair.likeness for pair in pairs)[: max(1, len(pairs) // 3)]),
        cosine=words.compare_whole(claim, passage),
        around=around or passage,
        reader=words,
    )


@lru_cache(maxsize=1 << 12)
def share_root(mine: str, theirs: str) -> bool:
    """Say whether two words begin alike for most of their length: extract, extraction."""
    least = max(_SHORTEST_ROOT, round(0.6 * max(len(mine), len(theirs))))
    return mine[:least] == theirs[:least] and min(len(mine), len(theirs)) >= least


def pool(vectors: Matrix) -> Vector:
    """Return the unit vector of a text: the mean of its words' vectors."""
    total: Vector = vectors.sum(axis=0)
    norm = float(np.linalg.norm(total))
    return total / norm if norm else total


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def _pair(at: int, likeness: Matrix) -> WordPair:
    row = likeness[at]
    best = int(row.argmax()) if row.size else -1
    return (
        WordPair(at, best, float(row[best]))
        if best >= 0 and row[best] > 0
        else WordPair(at, -1, 0.0)
    )


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


def _pair_numbers(claim: Wording, passage: Wording) -> Iterator[tuple[int, int]]:
    """Yield places of words of numbers that are the same, units included: 240 cm, 2.4 metres."""
    for number in claim.numbers:
        for other in passage.numbers:
            if number.agrees(other):
                mine, theirs = _spell(claim, number), _spell(passage, other)
                yield from ((at, theirs[0]) for at in mine if theirs)


def _spell(wording: Wording, number: Number) -> list[int]:
    """Return the places of a number's words and of its unit."""
    words = enumerate(wording.words)
    return [at for at, word in words if number.start <= word.start < number.stop]


def _find_changes(
    mine: Sequence[WrittenWord], theirs: Sequence[WrittenWord]
) -> tuple[list[Change], int]:
    """Return what differs, and how many words of the claim are the same in the same order."""
    matcher = SequenceMatcher(
        None, [word.stem for word in mine], [word.stem for word in theirs], autojunk=False
    )
    changes, same = list[Change](), 0
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag == "equal":
            same += b - a
        elif tag != "insert" or 0 < a < len(mine):  # a passage may have more before and after
            first = c if a else max(c, d - (b - a) - 1)
            last = d if b < len(mine) else min(d, first + (b - a) + 1)
            changes.append(Change(range(a, b), range(first, last)))
    return changes, same
