"""How sure it is that a note answers a question, from 0 to 1; a score only orders notes.

Two things are looked at. How far the note's nearest passage stands above the best that a hundred
questions of ours find in this very palace, which answers nearly none of them (``index.chance``);
and how much of the question's words, rare ones counting more, stand in the passage or name the
note. A logistic function joins them. Its slopes were fitted on questions of other people asked
where they are answered and where they are not; its bias is such that questions on the people of a
palace which its notes do not answer seldom count as answered. See references/measurements.md and
``python -m benchmarks confidence``.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memory_palace.index.words import UNSEEN, expect_mean
from memory_palace.language.words import STOPWORDS, TOKEN, tokenize
from memory_palace.models import Hit, NoteRecord
from memory_palace.retrieval.evidence import Evidence, Places, multiply
from memory_palace.retrieval.question import LINKED, MISTYPED, OTHER

ANSWERED = 0.75
"""From this confidence on a question counts as answered."""
LITERAL = 0.9
"""Least confidence in a note that has what was asked for to the letter; see ``Grounds``."""
LITTLE_ELSE = 0.6
"""From this share of time on a question is answered by a note of that time."""
NAMED = 0.97
"""Least confidence of a note of which the question is the name."""
MISQUOTED = 0.7
"""What is left of a confidence where something is quoted that no note holds: who quotes asks to the
letter, and nothing answers that; the nearest may still be what was meant."""
_LEAST = 1e-4
"""The log odds of a confidence are those of one between this and 1 less this."""
_FARTHEST = 8.0
"""Deviations: farther off nothing becomes surer."""


class Weights(NamedTuple):
    """Coefficients of the logistic function."""

    meaning: float
    words: float
    bias: float


WITH_VECTORS = Weights(1.45, 5.9, -6.3)
WORDS_ALONE = Weights(0.0, 8.5, -5.0)


class Grounds(NamedTuple):
    """What speaks for a note."""

    meaning: float | None
    """Deviations by which its nearest passage is above the best that chance gives; ``None`` without
    vectors."""
    words: float
    """Share of the question's words that its passage holds, or a question that it says it answers,
    by weight; all of it for a question that has no stop words, which is a list and no sentence."""
    is_literal: bool
    """Whether it has what was quoted, or every word of a question that is no sentence, or is called
    like the question but for a letter, or is from the time that the question is little but."""
    is_named: bool
    """Whether the question is one of its names."""


class Confidence:
    """How sure it is that notes of one snapshot answer one question."""

    def __init__(self, evidence: Evidence) -> None:
        self._evidence, self._query, self._snapshot = evidence, evidence.query, evidence.snapshot
        written = TOKEN.findall(unicodedata.normalize("NFKC", self._query.text))
        plain = (word.casefold().replace("’", "'") for word in written)
        grammar = sum(word in STOPWORDS for word in plain)
        self._is_plain = bool(written) and not grammar and self._is_english()
        """Whether the question is a list of words, without those that only grammar needs."""
        self._may_be_whole = bool(written) and 2 * grammar <= len(written)
        """Whether half of its words carry meaning."""
        tokens = [tokenize(word, languages=self._snapshot.languages) for word in written]
        # Of a compound its parts are enough: a note may have it joined to more.
        terms = dict.fromkeys(term for found in tokens for term in found[1:] or found)
        self._needed = [(term, np.concatenate(self._find(term))) for term in terms]
        """The terms that a note with every word of the question has, and the notes with each."""
        self._words = [self._look_up(term) for term in evidence.question.content_terms]
        self._spans = self._list_spans()
        chance = self._snapshot.commit.calibration
        sample, self._shift = evidence.meaning.sample, 0.0
        """By how much all cosines of the question are higher, see ``find_best_null``."""
        if (shared := chance.get("best_shared", 0.0)) and len(sample):
            mean = float(sample.mean())
            self._shift = shared * expect_mean(mean, len(sample), chance["best_level"])

    def _is_english(self) -> bool:
        """Say whether stop words would be ours: a sentence in another language is no list."""
        if self._query.text.isascii():
            return True
        from memory_palace.language.words import is_english  # delayed: most questions are ASCII

        return is_english(self._query.text)

    def _find(self, term: str) -> list[Places]:
        """Return the notes that have a term in a passage, and those that have it in a name."""
        fields = self._evidence.words_in, self._evidence.names_in
        return [self._evidence.note_of[field.find_all(term)[0]] for field in fields]

    def _look_up(self, term: str) -> _Word:
        words_in, (noted, named) = self._evidence.words_in, self._find(term)
        weight = math.log1p(self._evidence.count / max(words_in.document_frequency(term), UNSEEN))
        rows = words_in.find_all(term)[0]
        return _Word(term, weight, rows, np.concatenate([noted, named]), named)

    def _list_spans(self) -> list[tuple[int, int]]:
        """Return the spans of days that a question asks for and for little else, by ordinals."""
        question = self._evidence.question
        if not question.times:
            return []
        from memory_palace.retrieval.times import share_of_time  # delayed: few name a time

        if share_of_time(question, self._evidence.words_in, unknown=1) < LITTLE_ELSE:
            return []
        windows = (window for asked in question.times for window in asked.windows)
        return [(window.first.toordinal(), window.last.toordinal()) for window in windows]

    def of(self, note: NoteRecord, place: int, row: int) -> float:
        """Return the confidence in a note, the one at ``place``, with ``row`` as its passage."""
        found = weigh(self.grounds(note, place, row))
        return round(found * MISQUOTED, 4) if self._query.unmatched else found

    def grounds(self, note: NoteRecord, place: int, row: int) -> Grounds:
        """Return what speaks for a note; see ``of``."""
        rows = np.flatnonzero(self._snapshot.row_owner == place)
        dated = _date_words(note)
        held = 0.0
        for word in self._words:
            is_name = place in word.named or word.term in dated
            in_note = is_name or place in word.notes
            if is_name or (in_note if self._is_plain else row in word.rows):
                held += word.weight
        for question in rows[self._snapshot.row_note[rows] < 0]:
            held = max(held, sum(word.weight for word in self._words if question in word.rows))
        whole = sum(word.weight for word in self._words)
        words = held / whole if whole else 0.0
        quoting, called = self._query.rows, self._evidence.called[place]
        is_quoted = quoting is not None and bool(np.isin(rows, quoting).any())
        is_whole = self._may_be_whole and all(
            place in notes or term in dated for term, notes in self._needed
        )
        return Grounds(
            self._meaning(rows),
            words,
            is_literal=is_quoted
            or called >= MISTYPED * OTHER
            or is_whole
            or self._is_from_then(place),
            is_named=bool(called >= LINKED),
        )

    def _is_from_then(self, place: int) -> bool:
        """Say whether a question asks for little but a time that the note says it is from."""
        days = self._snapshot.days[place].tolist()
        return any(
            first and first <= end and begin <= last
            for first, last in (days[:2], days[2:])
            for begin, end in self._spans
        )

    def _meaning(self, rows: NDArray[np.int64]) -> float | None:
        chance, lacking = self._snapshot.commit.calibration, self._snapshot.lacking
        if lacking is not None:  # what words make likely is no evidence of meaning
            rows = rows[~lacking[rows]]
        if self._query.vector is None or "best_null" not in chance or not len(rows):
            return None
        nearest = float(multiply(self._evidence, rows).max())
        return (nearest - self._shift - chance["best_null"]) / chance["best_deviation"]


class _Word(NamedTuple):
    """A word of the question, and where it is."""

    term: str
    weight: float
    rows: Places
    """Passages, and questions of notes, that hold it."""
    notes: Places
    named: Places
    """Notes that it is a name of, or a part of one."""


def agree(hits: Sequence[Hit]) -> list[Hit]:
    """Return ranked hits with confidences that fall with the rank.

    Where a hit is surer than one ranked above it, all from there to there get the mean of their log
    odds: isotonic regression by pooling adjacent violators (Ayer et al. 1955).
    """
    pools: list[tuple[float, int]] = []
    for hit in hits:
        sure = min(max(hit.confidence or 0.0, _LEAST), 1 - _LEAST)
        pools.append((math.log(sure / (1 - sure)), 1))
        while len(pools) > 1 and pools[-2][0] < pools[-1][0]:
            (below, few), (above, many) = pools.pop(), pools.pop()
            pools.append(((below * few + above * many) / (few + many), few + many))
    pooled = [1 / (1 + math.exp(-odds)) for odds, count in pools for _ in range(count)]
    return [replace(h, confidence=round(p, 4)) for h, p in zip(hits, pooled, strict=True)]


def weigh(grounds: Grounds) -> float:
    """Return the confidence that grounds give, rounded to 4 decimals."""
    weights = WORDS_ALONE if grounds.meaning is None else WITH_VECTORS
    found = 1 / (1 + math.exp(-_log_odds(grounds, weights)))
    least = NAMED if grounds.is_named else LITERAL if grounds.is_literal else 0.0
    return round(max(found, least), 4)


def _log_odds(grounds: Grounds, weights: Weights) -> float:
    above = min(max(grounds.meaning or 0.0, -_FARTHEST), _FARTHEST)
    parts = (above, grounds.words, 1.0)
    return sum(weight * part for weight, part in zip(weights, parts, strict=True))


def _date_words(note: NoteRecord) -> frozenset[str]:
    """Return the words of the day that a note says it is from."""
    if note.date.source not in ("front matter", "file name"):
        return frozenset()
    day = datetime.fromtimestamp(note.date.timestamp, UTC)
    return frozenset(tokenize(f"{day.day} {day:%B %Y} {day:%Y-%m-%d}"))
