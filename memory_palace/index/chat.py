"""How far what was said stands above small talk: what some hundred lines of it reach in a palace.

Whoever says "good morning" refers to no note. Two things tell what refers from what does not: it is
nearer to some passages than to small talk, and it has words that small talk has not, of which
passages hold some. Lines of our own (``chat.txt``, in ten languages and more) are weighed like
anything that is said, each beside the others, so that what counts is how far something stands above
them in this very palace. Notes that are talk themselves ask for more: there what is said in passing
is near to passages, and has words that they have. See references/recall.md for how it was chosen.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memory_palace.index.calibration import sample_rows
from memory_palace.index.postings import PostingLookup
from memory_palace.index.snapshot import Snapshot
from memory_palace.language.tokens import tokenize
from memory_palace.language.word_lists import STOP_STEMS, drop_stop_stems
from memory_palace.models import Matrix, Scores, Vector

ASKED_OF = 4096
"""Passages that each line is compared with, at most."""
_NEAREST = 5
"""Lines of small talk whose mean nearness counts: one alone may be near by chance."""
_PASSAGES = 3
"""Passages whose mean nearness counts."""
_MOST_WORDS = 20
"""Telling words that count: a page that was pasted has hundreds."""
_MOST_BYTES = 500
"""Of a text that count as long, for the same reason."""
_TALK = 1.25
"""What is added to the bar where the notes are talk."""
_COMMON = (0.06, 0.12)
"""The share of passages that hold a word of our English lines, on average: none are talk up to the
first, all from the second on. It is .02 in a manual, .04 in a garden, .12 to .17 in what friends
say; of words in other languages too many are grammar to tell."""
_REPEATED = 2
"""Lines that have a word which counts for that, at least."""
_QUANTILE = 0.99
"""Of small talk that is not spoken to, at least."""
_LEAST_SPREAD = 0.01
DEFAULT = {"chat_middle": -0.25, "chat_spread": 0.19, "chat_bar": 7.5}


class ChatWeights(NamedTuple):
    """What the parts count."""

    nearness: float
    known: float
    telling: float
    named: float
    length: float


WITH_VECTORS = ChatWeights(1.2, 2.0, 1.2, 0.8, 0.5)
WORDS_ALONE = ChatWeights(0.0, 3.0, 1.5, 1.5, 1.0)


class Telling(NamedTuple):
    """What the words of a text are worth that small talk has not."""

    known: float = 0.0
    """One that a single passage holds is worth 1, one that all of ``n`` hold ``ln 2 / ln n``, and
    one that none holds nothing."""
    words: int = 0
    """How many they are, known or not."""
    named: float = 0.0
    """The same of the two that are worth most as names of notes."""
    length: int = 0
    """Bytes of the text, up to ``_MOST_BYTES``."""


@cache
def read_chat() -> tuple[str, ...]:
    """Return the lines of small talk: English first, then others, each after a line ``[code]``."""
    return tuple(line for part in _read_parts() for line in part.splitlines() if line)


@cache
def _read_parts() -> tuple[str, ...]:
    text = Path(__file__).with_name("chat.txt").read_text("utf-8")
    return tuple(re.split(r"^\[\w+\]$", text, flags=re.MULTILINE))


@cache
def _count_words(lines: tuple[str, ...], languages: tuple[str, ...] = ()) -> Counter[str]:
    """Return how many lines have each word."""
    return Counter(term for line in lines for term in {*tokenize(line, languages=languages)})


class SmallTalk:
    """Weighs what is said in one palace against small talk."""

    def __init__(self, snapshot: Snapshot, lines: Matrix | None) -> None:
        """``lines`` are the vectors of ``read_chat``, ``None`` without any."""
        self._snapshot, self._lines = snapshot, lines
        self._words = PostingLookup(snapshot, "words")
        self._names = PostingLookup(snapshot, "names")
        self._rows = int(np.count_nonzero(snapshot.hot_rows))
        self._common = _count_words(read_chat(), tuple(snapshot.languages))
        self._figures = {**DEFAULT, **snapshot.commit.calibration}

    @property
    def bar(self) -> float:
        """What has to be exceeded to refer to a note."""
        return self._figures["chat_bar"]

    def find_nearness(self, cosines: Scores) -> float:
        """Return how near a text is to the passages it has these cosines with."""
        return float(_mean_of_best(cosines[:, None])[0]) if len(cosines) else 0.0

    def weigh(self, text: str, *, vector: Vector | None = None, nearness: float = 0.0) -> float:
        """Return how much a text is about something the palace has; ``bar`` is the measure.

        ``nearness`` is what ``find_nearness`` says of its vector.
        """
        telling = self.count_telling(text)
        if self._lines is None or vector is None:
            return _add_up(telling, 0.0, WORDS_ALONE)
        near = float(np.sort(self._lines @ vector)[-_NEAREST:].mean())
        above = (nearness - near - self._figures["chat_middle"]) / self._figures["chat_spread"]
        return _add_up(telling, above, WITH_VECTORS)

    def count_telling(self, text: str, *, is_line: bool = False) -> Telling:
        """Return what the words that small talk has not are worth here.

        Where the text is a line of it, those are the words that no other line has.
        """
        terms = dict.fromkeys(tokenize(text, languages=self._snapshot.languages))
        telling = [t for t in drop_stop_stems(tuple(terms)) if self._common[t] <= is_line]
        telling = telling[:_MOST_WORDS]
        notes = self._snapshot.row_note
        held = (self._words.document_frequency(term) for term in telling)
        bearing = (len(np.unique(notes[self._names.rows(term)])) for term in telling)
        known = sum(_weigh_word(having, self._rows) for having in held)
        names = sorted(_weigh_word(having, len(self._snapshot.paths)) for having in bearing)
        length = min(len(text.encode(errors="replace")), _MOST_BYTES)
        return Telling(known, len(telling), sum(names[-2:]), length)

    def calibrate(self) -> dict[str, float]:
        """Return what small talk reaches in this palace; empty for one without passages.

        ``chat_bar`` is a quantile of what the lines weigh, and more where notes are talk;
        ``chat_middle`` and ``chat_spread`` are the median by which lines are nearer to passages
        than to each other, and its deviation.
        """
        if not self._rows:
            return {}
        lines, figures = read_chat(), {}
        above: NDArray[np.float64] = np.zeros(len(lines))
        if self._lines is not None:
            above, middle, spread = self._compare_lines(self._lines)
            figures = {"chat_middle": round(middle, 4), "chat_spread": round(spread, 4)}
        weights = WORDS_ALONE if self._lines is None else WITH_VECTORS
        words = [self.count_telling(line, is_line=True) for line in lines]
        pairs = zip(words, above.tolist(), strict=True)
        reached = [_add_up(found, far, weights) for found, far in pairs]
        bar = float(np.quantile(reached, _QUANTILE)) + _TALK * self._find_talk()
        return {**figures, "chat_bar": round(bar, 4)}

    def _find_talk(self) -> float:
        """Return how much of the notes is talk, in [0, 1]."""
        lines = _count_words(tuple(_read_parts()[0].splitlines()))
        repeated = {t: n for t, n in lines.items() if n >= _REPEATED and t not in STOP_STEMS}
        held = sum(n * self._words.document_frequency(term) for term, n in repeated.items())
        share = held / self._rows / sum(repeated.values())
        least, most = _COMMON
        return min(max((share - least) / (most - least), 0.0), 1.0)

    def _compare_lines(self, lines: Matrix) -> tuple[NDArray[np.float64], float, float]:
        rows = sample_rows(self._snapshot, limit=ASKED_OF)
        cosines = (self._snapshot.rows_of(rows) @ lines.T).astype(np.float64)
        among = (lines @ lines.T).astype(np.float64)
        np.fill_diagonal(among, -1)
        near = np.sort(among, axis=1)[:, -_NEAREST:].mean(axis=1)
        apart = _mean_of_best(cosines) - near
        middle, spread = float(np.median(apart)), max(float(apart.std()), _LEAST_SPREAD)
        above = (apart - middle) / spread
        known = int(np.count_nonzero(self._snapshot.embedded_rows))
        if known > len(rows):  # among more passages the nearest is nearer
            half = _mean_of_best(cosines[: len(rows) // 2]) - near
            middle += (middle - float(np.median(half))) * math.log2(known / len(rows))
        return above, middle, spread


def _mean_of_best(cosines: NDArray[np.floating]) -> NDArray[np.float64]:
    """Return the mean of the ``_PASSAGES`` highest values of each column."""
    best = np.partition(cosines, max(len(cosines) - _PASSAGES, 0), axis=0)[-_PASSAGES:]
    means: NDArray[np.float64] = best.mean(axis=0, dtype=np.float64)
    return means


def _weigh_word(having: int, texts: int) -> float:
    return math.log1p(texts / having) / math.log1p(texts) if having else 0.0


def _add_up(telling: Telling, above: float, weights: ChatWeights) -> float:
    parts = (above, *map(math.log1p, telling))
    return sum(weight * part for weight, part in zip(weights, parts, strict=True))
