"""Pairs of assets that say the same, or the opposite. They are proposed, never decided."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, zip_longest
from typing import TypeAlias

import numpy as np

from memory_palace.checking.contradictions import find_contradictions
from memory_palace.checking.verdicts import Passage, write_place
from memory_palace.engine import Engine
from memory_palace.language.tokens import plain_words
from memory_palace.language.vocabulary import word_set
from memory_palace.language.word_lists import FOREIGN_NEGATIONS, is_negation
from memory_palace.markdown.markup import Markup
from memory_palace.metabolism.assets import kind_of
from memory_palace.models import Vector
from memory_palace.notes.document import Document
from memory_palace.workflow.losing import read_statements

LineRange: TypeAlias = tuple[int, int]
Cosine: TypeAlias = Callable[[str, str], float | None]
"""How alike two notes are by their vectors; ``None`` where one has none."""

DUPLICATE_COSINE = 0.92
DUPLICATE_JACCARD = 0.7
"""Both must be exceeded (SPEC of the rules; the same figures as the source's author uses)."""
_NO_RULE = frozenset({"evidence", "decision", "the four tests", "seen in", "tested on"})
"""Sections that say where a rule comes from: dates and names in them differ."""
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
    lines: tuple[LineRange, LineRange] | None = None
    """Of a contradiction, first and last line in either."""


def find_pairs(
    assets: Sequence[Document],
    *,
    cosine: Cosine | None,
    settled: Collection[frozenset[str]] = (),
) -> list[AssetPair]:
    """Compare assets with one another; each is in one pair at most, duplicates are of one kind.

    ``settled`` are pairs that a person has looked at: they are not proposed again.
    """
    ordered = sorted(assets, key=lambda d: (d.text("date"), d.path))
    pairs: list[AssetPair] = []
    taken: set[str] = set()
    for pair in chain(_contradictions(ordered), _duplicates(ordered, cosine)):
        both = frozenset((pair.older, pair.newer))
        if not both & taken and both not in settled:
            pairs.append(pair)
            taken |= both
    return pairs


def _contradictions(ordered: Sequence[Document]) -> Iterator[AssetPair]:
    """Yield the rules that cannot both be followed, by the tests of ``palace verify``."""
    for found in find_contradictions([_rules_of(document) for document in ordered]):
        ends = found.first, found.second
        said = (f"{write_place(end)} says “{end.text}”" for end in ends)
        lines = ((ends[0].first_line, ends[0].last_line), (ends[1].first_line, ends[1].last_line))
        evidence = (*said, f"they differ: {found.reason}")
        yield AssetPair(ends[0].note, ends[1].note, "contradiction", evidence, lines)


def _rules_of(document: Document) -> Passage:
    """Return what an asset says, its evidence left out."""
    said = read_statements(document)
    rows = said.text.split("\n")
    headings = [h for h in Markup(document.body).headings if h.level <= 2]
    for heading, end in zip_longest(headings, (h.first for h in headings[1:])):
        if heading.text.casefold() in _NO_RULE:
            stop = len(rows) if end is None else end
            rows[heading.first : stop] = [""] * (stop - heading.first)
    return replace(said, text="\n".join(rows))


def _duplicates(ordered: Sequence[Document], cosine: Cosine | None) -> Iterator[AssetPair]:
    words = {d.path: _words(d.body) for d in ordered}
    for number, newer in enumerate(ordered):
        for older in ordered[:number]:
            evidence = None
            is_turned = _is_negated(older.body) != _is_negated(newer.body)
            if kind_of(older) is kind_of(newer) and not is_turned:
                evidence = _duplicate(older.path, newer.path, words, cosine)
            if evidence:
                yield AssetPair(older.path, newer.path, "duplicate", evidence)


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


def _words(text: str) -> frozenset[str]:
    return frozenset(
        word
        for word in plain_words(text)
        if (len(word) > 1 or word.isdigit()) and not _denies(word) and word not in _FILLERS
    )


def _denies(word: str) -> bool:
    return is_negation(word) or word in FOREIGN_NEGATIONS or word == "avoid"


def _is_negated(text: str) -> bool:
    """Whether a rule is turned round: two negations are none."""
    return sum(map(_denies, plain_words(text))) % 2 == 1


def has_vectors(engine: Engine) -> bool:
    """Whether there is an index with vectors to compare notes by."""
    return engine.paths.commit.exists() and bool(engine.snapshot().commit.dimension)


def open_cosine(engine: Engine) -> Cosine | None:
    """Return what compares two notes, by the means of their vectors; ``None`` without vectors."""
    if not has_vectors(engine):
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
