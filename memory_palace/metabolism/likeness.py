"""Pairs of assets that say the same, or the opposite. They are proposed, never decided."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from memory_palace.engine import Engine
from memory_palace.language.tokens import plain_words
from memory_palace.language.vocabulary import word_set
from memory_palace.language.word_lists import FOREIGN_NEGATIONS, is_negation
from memory_palace.metabolism.assets import kind_of
from memory_palace.models import Vector
from memory_palace.notes.document import Document

Cosine: TypeAlias = Callable[[str, str], float | None]
"""How alike two notes are by their vectors; ``None`` where one has none."""

DUPLICATE_COSINE = 0.92
DUPLICATE_JACCARD = 0.7
"""Both must be exceeded (SPEC of the rules; the same figures as the source's author uses)."""
CONTRADICTION_JACCARD = 0.6
_AVOIDING = FOREIGN_NEGATIONS | {"avoid"}
_FILLERS = word_set(
    """the an and or of to in on is are be it its always must should do does that this for with
    as at by you we immer muss der die das toujours le la les siempre el los"""
)


@dataclass(frozen=True, slots=True)
class AssetPair:
    """Two assets and what was measured; the older one comes first."""

    older: str
    newer: str
    kind: str
    """``duplicate`` or ``contradiction``."""
    evidence: tuple[str, ...]


def find_pairs(
    assets: Sequence[Document],
    *,
    cosine: Cosine | None,
    settled: Collection[frozenset[str]] = (),
) -> list[AssetPair]:
    """Compare assets of one kind with one another; each asset is in one pair at most.

    ``settled`` are pairs that a person has looked at: they are not proposed again.
    """
    ordered = sorted(assets, key=lambda d: (d.text("date"), d.path))
    words = {d.path: _words(d.body) for d in ordered}
    rules = {d.path: _words(_rule_of(d)) for d in ordered}
    negated = {d.path: _is_negated(_rule_of(d)) for d in ordered}
    pairs: list[AssetPair] = []
    taken: set[str] = set()
    for number, newer in enumerate(ordered):
        for older in ordered[:number]:
            both = frozenset((older.path, newer.path))
            if both & taken or both in settled or kind_of(older) is not kind_of(newer):
                continue
            rule = jaccard(rules[older.path], rules[newer.path])
            evidence: tuple[str, ...] | None = None
            if negated[older.path] != negated[newer.path] and rule >= CONTRADICTION_JACCARD:
                evidence = (
                    f"the rules share {rule:.2f} of their words, and one negates the other",
                )
                kind = "contradiction"
            elif negated[older.path] == negated[newer.path]:
                evidence = _duplicate(older.path, newer.path, words, cosine)
                kind = "duplicate"
            if evidence:
                pairs.append(AssetPair(older.path, newer.path, kind, evidence))
                taken |= both
    return pairs


def is_duplicate(cosine: float, overlap: float) -> bool:
    """Whether two figures speak for one asset written twice."""
    return cosine > DUPLICATE_COSINE and overlap > DUPLICATE_JACCARD


def jaccard(first: frozenset[str], second: frozenset[str]) -> float:
    """Return the share of words that two sets have in common; 0 where both are empty."""
    union = first | second
    return len(first & second) / len(union) if union else 0.0


def _duplicate(
    older: str, newer: str, words: dict[str, frozenset[str]], cosine: Cosine | None
) -> tuple[str, ...] | None:
    overlap = jaccard(words[older], words[newer])
    if cosine is None or overlap <= DUPLICATE_JACCARD:  # cheap, and most pairs end here
        return None
    alike = cosine(older, newer)
    if alike is None or not is_duplicate(alike, overlap):
        return None
    return (
        f"cosine {alike:.3f}, above {DUPLICATE_COSINE}",
        f"shared words {overlap:.3f}, above {DUPLICATE_JACCARD}",
    )


def _rule_of(document: Document) -> str:
    kind = kind_of(document)
    return document.section(kind.sections[0]) if kind else ""


def _words(text: str) -> frozenset[str]:
    return frozenset(
        word
        for word in plain_words(text)
        if (len(word) > 1 or word.isdigit()) and not _denies(word) and word not in _FILLERS
    )


def _denies(word: str) -> bool:
    return is_negation(word) or word in _AVOIDING


def _is_negated(text: str) -> bool:
    """Whether a rule is turned round: two negations are none."""
    return sum(map(_denies, plain_words(text))) % 2 == 1


def open_cosine(engine: Engine) -> Cosine | None:
    """Return what compares two notes, by the means of their vectors; ``None`` without vectors."""
    if not engine.paths.commit.exists() or not engine.snapshot().commit.dimension:
        return None
    snapshot = engine.snapshot()
    places = {path: place for place, path in enumerate(snapshot.paths)}
    means: dict[str, Vector | None] = {}

    def mean(path: str) -> Vector | None:
        if path not in means:
            rows = np.flatnonzero(snapshot.row_note == places.get(path, -1))
            total = snapshot.rows_of(rows).sum(axis=0) if len(rows) else np.zeros(1, np.float32)
            length = float(np.linalg.norm(total))
            means[path] = total / length if length else None
        return means[path]

    def cosine(first: str, second: str) -> float | None:
        one, two = mean(first), mean(second)
        return None if one is None or two is None else float(one @ two)

    return cosine
