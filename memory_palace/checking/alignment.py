"""Which word of a passage stands for each word of a claim, and how like they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TypeAlias

import numpy as np

from memory_palace.checking.wording import Wording, WrittenWord
from memory_palace.models import Matrix

EmbedTokens: TypeAlias = Callable[[str], tuple[list[str], Matrix]]
"""Gives the pieces of a text and one unit vector for each, as the text around makes it."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A content word of the claim and its best counterpart in the passage."""

    mine: int
    """Place in ``claim.words``."""
    theirs: int
    """Place in ``passage.words``; -1 where nothing is like it at all."""
    likeness: float
    """1 for the same stem, else the cosine of both words in their texts, or 0 without vectors."""


@dataclass(frozen=True, slots=True)
class Change:
    """Words that differ where the words around them are the same, as places in both texts."""

    mine: range
    """Empty where the claim has left words out."""
    theirs: range
    """Empty where the claim has words more."""


@dataclass(frozen=True, slots=True)
class Alignment:
    """How a claim and a passage stand word by word."""

    pairs: tuple[Pair, ...]
    """One for each content word of the claim, in order."""
    changes: tuple[Change, ...]
    """What differs in the order of the words; says something where ``copied`` is high."""
    copied: float
    """Share of the claim's words that stand in the passage in the same order."""
    coverage: float
    """Mean likeness of the pairs."""
    around: Wording
    """All of the text that the passage is a part of, with its title."""

    def counterpart(self, place: int) -> Pair | None:
        """Return the pair of the word at a place of the claim, if it is one of content."""
        return next((pair for pair in self.pairs if pair.mine == place), None)


def align(
    claim: Wording,
    passage: Wording,
    embed_tokens: EmbedTokens | None = None,
    *,
    around: Wording | None = None,
) -> Alignment:
    """Align a claim with a passage: by vectors where ``embed_tokens`` is given, else by stems."""
    likeness = _compare(claim, passage, embed_tokens)
    telling = [at for at, word in enumerate(claim.words) if word.is_telling]
    pairs = tuple(_pair(at, likeness) for at in telling)
    changes, same = _find_changes(claim.words, passage.words)
    return Alignment(
        pairs=pairs,
        changes=tuple(changes),
        copied=same / len(claim.words) if claim.words else 0.0,
        coverage=sum(pair.likeness for pair in pairs) / len(pairs) if pairs else 0.0,
        around=around or passage,
    )


def _pair(at: int, likeness: Matrix) -> Pair:
    row = likeness[at]
    best = int(row.argmax()) if row.size else -1
    return Pair(at, best, float(row[best])) if best >= 0 and row[best] > 0 else Pair(at, -1, 0.0)


def _compare(claim: Wording, passage: Wording, embed_tokens: EmbedTokens | None) -> Matrix:
    """Return the likeness of each word of a claim to each of a passage, claim by passage."""
    mine, theirs = claim.words, passage.words
    same: Matrix = np.zeros((len(mine), len(theirs)), dtype=np.float32)
    for at, word in enumerate(mine):
        same[at] = [word.stem == other.stem for other in theirs]
    if embed_tokens is None or not same.size:
        return same
    cosines = embed_words(claim, embed_tokens) @ embed_words(passage, embed_tokens).T
    likeness: Matrix = np.maximum(same, np.clip(cosines, 0, 1))
    return likeness


def embed_words(wording: Wording, embed_tokens: EmbedTokens) -> Matrix:
    """Return one unit vector for each word: the mean of its pieces, 0 beyond the model's limit."""
    pieces, vectors = embed_tokens(wording.text)
    width = vectors.shape[1] if vectors.ndim == 2 else 1
    found: Matrix = np.zeros((len(wording.words), width), dtype=np.float32)
    for piece, at in zip(range(len(pieces)), _places(wording.words, pieces), strict=False):
        if at >= 0:
            found[at] += vectors[piece]
    norms = np.sqrt(np.einsum("wd,wd->w", found, found))
    found /= np.where(norms, norms, 1)[:, None]
    return found


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
        elif tag == "insert" and a in (0, len(mine)):
            continue  # the passage has more before or after
        else:
            changes.append(Change(range(a, b), range(c, d)))
    return changes, same
