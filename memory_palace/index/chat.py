"""How far what was said stands above what refers to no note: small talk, and talk on other matters.

Whoever says "good morning" refers to no note, nor does who says much about something else. So what
refers has words that small talk has not, of which passages hold some, and more of them than lines
of our own have (``chat.txt``); and it is nearer to passages of this very palace, and shares more
words with one, than lines on work, home, travel or politics (``talk.txt``). Notes that are talk
themselves ask for more words: there what is said in passing has words that they have. See
references/agents.md for how it was chosen.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memory_palace.index.calibration import sample_rows
from memory_palace.index.postings import UNSEEN, PostingLookup
from memory_palace.index.snapshot import Snapshot
from memory_palace.language.tokens import tokenize
from memory_palace.language.word_lists import STOP_STEMS, drop_stop_stems
from memory_palace.models import Matrix, Scores

ASKED_OF = 4096
"""Passages that each line is compared with, at most."""
_PASSAGES = 3
"""Passages whose mean nearness counts."""
_MOST_WORDS = 20
"""Telling words that count: a page that was pasted has hundreds."""
_MOST_BYTES = 500
"""Of a text that count as long, for the same reason."""
_TALK = 2.0
"""What is added to the bar where the notes are talk."""
_COMMON = (0.06, 0.12)
"""The share of passages that hold a word of our English lines, on average: none are talk up to the
first, all from the second on. It is .02 in a manual, .04 in a garden, .12 to .17 in what friends
say; of words in other languages too many are grammar to tell."""
_REPEATED = 2
"""Lines that have a word which counts for that, at least."""
_QUANTILE = 0.9
"""Of small talk that is not spoken to for its words alone."""
_LEAST_SPREAD = 0.01
_FEW = 14
"""Lines of each language whose words tell which is that of the notes."""
DEFAULT = {"chat_bar": 7.5, "talk_near": 0.06, "talk_share": 0.06, "talk_bar": 8.5}


_WEIGHTS = 3.0, 1.5, 1.0
"""What the parts of ``Telling`` count, by the logarithm of each."""


class Telling(NamedTuple):
    """What the words of a text are worth that small talk has not."""

    known: float = 0.0
    """One that a single passage holds is worth 1, one that all of ``n`` hold ``ln 2 / ln n``, and
    one that none holds nothing."""
    words: int = 0
    """How many they are, known or not."""
    length: int = 0
    """Bytes of the text, up to ``_MOST_BYTES``."""


@cache
def read_parts(name: str) -> tuple[tuple[str, ...], ...]:
    """Return the lines of ours by language: English first, then others, each after ``[code]``."""
    text = Path(__file__).with_name(f"{name}.txt").read_text("utf-8")
    parts = re.split(r"^\[\w+\]$", text, flags=re.MULTILINE)
    return tuple(tuple(filter(None, part.splitlines())) for part in parts)


@cache
def read_lines(name: str) -> tuple[str, ...]:
    """Return the lines of ours in a file: small talk in ``chat``, other matters in ``talk``."""
    return tuple(line for part in read_parts(name) for line in part)


def choose_part(snapshot: Snapshot, name: str) -> slice:
    """Return the places of the lines whose words are the most common ones in the notes."""
    words, parts = PostingLookup(snapshot, "words"), read_parts(name)
    shares = [sum(map(words.document_frequency, terms)) / len(terms) for terms in _list_terms(name)]
    own = shares.index(max(shares))
    start = sum(map(len, parts[:own]))
    return slice(start, start + len(parts[own]))


@cache
def _list_terms(name: str) -> list[tuple[str, ...]]:
    """Return the distinct terms of the first lines of each part."""
    return [tuple(dict.fromkeys(tokenize("\n".join(part[:_FEW])))) for part in read_parts(name)]


@cache
def _count_words(lines: tuple[str, ...], languages: tuple[str, ...] = ()) -> Counter[str]:
    """Return how many lines have each word."""
    return Counter(term for line in lines for term in {*tokenize(line, languages=languages)})


class SmallTalk:
    """Weighs what is said in one palace against small talk."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._words = PostingLookup(snapshot, "words")
        self._rows = int(np.count_nonzero(snapshot.hot_rows))
        self._common = _count_words(read_lines("chat"), tuple(snapshot.languages))
        self._figures = {**DEFAULT, **snapshot.commit.calibration}

    @property
    def bar(self) -> float:
        """What has to be exceeded to refer to a note."""
        return self._figures["chat_bar"]

    def relate(self, share: float, nearness: float = 0.0) -> float:
        """Return how far what is as near, and has that share of words, is above other talk."""
        figures = self._figures
        near = nearness / figures["talk_near"]
        return near + share / figures["talk_share"] - figures["talk_bar"]

    def find_shares(self, text: str, others: Sequence[str]) -> list[float]:
        """Return which share of a text's words each of other texts has, rare ones counting more."""
        weights = self._weigh_terms(text)
        whole = sum(weights.values()) or 1.0
        terms = ({*tokenize(other, languages=self._snapshot.languages)} for other in others)
        return [sum(weights[term] for term in weights if term in held) / whole for held in terms]

    def find_share(self, text: str) -> float:
        """Return which share of a text's words its best passage has, rare ones counting more."""
        weights = self._weigh_terms(text)
        held = np.zeros(len(self._snapshot.row_note))
        for term, weight in weights.items():
            held[self._words.rows(term)] += weight
        best = held[self._snapshot.hot_rows].max(initial=0.0)
        return float(best) / (sum(weights.values()) or 1.0)

    def _weigh_terms(self, text: str) -> dict[str, float]:
        terms = dict.fromkeys(tokenize(text, languages=self._snapshot.languages))
        return {
            term: math.log1p(self._rows / max(self._words.document_frequency(term), UNSEEN))
            for term in drop_stop_stems(tuple(terms))
        }

    def find_nearness(self, cosines: Scores) -> float:
        """Return how near a text is to the passages it has these cosines with."""
        return float(_mean_of_best(cosines[:, None])[0]) if len(cosines) else 0.0

    def weigh(self, text: str) -> float:
        """Return how much there is in a text that small talk has not; ``bar`` is the measure."""
        return _add_up(self.count_telling(text))

    def count_telling(self, text: str, *, is_line: bool = False) -> Telling:
        """Return what the words that small talk has not are worth here.

        Where the text is a line of it, those are the words that no other line has.
        """
        terms = dict.fromkeys(tokenize(text, languages=self._snapshot.languages))
        telling = [t for t in drop_stop_stems(tuple(terms)) if self._common[t] <= is_line]
        telling = telling[:_MOST_WORDS]
        held = (self._words.document_frequency(term) for term in telling)
        known = sum(_weigh_word(having, self._rows) for having in held)
        length = min(len(text.encode(errors="replace")), _MOST_BYTES)
        return Telling(known, len(telling), length)

    def calibrate(self, talk: Matrix | None = None) -> dict[str, float]:
        """Return what refers to nothing reaches in this palace; empty for one without passages.

        ``chat_bar`` is a quantile of what small talk weighs, and more where notes are talk.
        ``talk_near`` and ``talk_share`` are the deviations by which lines on other matters, whose
        vectors are ``talk``, are near to passages and have their words; ``talk_bar`` is one
        deviation above the median of what both come to.
        """
        if not self._rows:
            return {}
        reached = [_add_up(self.count_telling(line, is_line=True)) for line in read_lines("chat")]
        bar = float(np.quantile(reached, _QUANTILE)) + _TALK * self._find_talk()
        return {"chat_bar": round(bar, 4), **self._relate_talk(talk)}

    def _relate_talk(self, talk: Matrix | None) -> dict[str, float]:
        """Return what lines on other matters reach, those in the language of the notes."""
        own = choose_part(self._snapshot, "talk")
        shares = [self.find_share(line) for line in read_lines("talk")[own]]
        found = {"talk_share": np.array(shares)}
        if talk is not None:
            found["talk_near"] = self._find_nearest(talk[own])
        spreads = {name: max(float(each.std()), _LEAST_SPREAD) for name, each in found.items()}
        reached = sum(each / spreads[name] for name, each in found.items())
        bar = float(np.median(reached) + np.std(reached))
        return {name: round(value, 4) for name, value in (*spreads.items(), ("talk_bar", bar))}

    def _find_talk(self) -> float:
        """Return how much of the notes is talk, in [0, 1]."""
        lines = _count_words(read_parts("chat")[0])
        repeated = {t: n for t, n in lines.items() if n >= _REPEATED and t not in STOP_STEMS}
        held = sum(n * self._words.document_frequency(term) for term, n in repeated.items())
        share = held / self._rows / sum(repeated.values())
        least, most = _COMMON
        return min(max((share - least) / (most - least), 0.0), 1.0)

    def _find_nearest(self, lines: Matrix) -> NDArray[np.float64]:
        """Return how near lines are to passages, as many as there are: of more some is nearer."""
        rows = sample_rows(self._snapshot, limit=ASKED_OF)
        cosines = (self._snapshot.rows_of(rows) @ lines.T).astype(np.float64)
        best = _mean_of_best(cosines)
        if (known := int(np.count_nonzero(self._snapshot.embedded_rows))) > len(rows):
            half = _mean_of_best(cosines[: len(rows) // 2])
            best += float(np.median(best - half)) * math.log2(known / len(rows))
        return best


def _mean_of_best(cosines: NDArray[np.floating]) -> NDArray[np.float64]:
    """Return the mean of the ``_PASSAGES`` highest values of each column."""
    best = np.partition(cosines, max(len(cosines) - _PASSAGES, 0), axis=0)[-_PASSAGES:]
    means: NDArray[np.float64] = best.mean(axis=0, dtype=np.float64)
    return means


def _weigh_word(having: int, texts: int) -> float:
    return math.log1p(texts / having) / math.log1p(texts) if having else 0.0


def _add_up(telling: Telling) -> float:
    parts = map(math.log1p, telling)
    return sum(weight * part for weight, part in zip(_WEIGHTS, parts, strict=True))
