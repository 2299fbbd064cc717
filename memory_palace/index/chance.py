"""Calibrate on chance: the null distribution of cosines, the best cosine by chance, and small talk.

Cosines of passages of different notes are the null of a question's. Questions of many kinds, which
hardly any palace answers (``questions.txt``), give the best cosine by chance; the confidence in a
note is measured from there, see ``retrieval.search``. They are asked in the language of the notes
if it is one of eight: an embedder of many languages puts a question in another one farther off.
Other callers measure a null sample of their own with ``find_tail``.

Small talk refers to no note, nor does talk on other matters. A text that refers to a note has words
that small talk lacks, some of them in passages, and more of them than the lines of ``chat.txt``;
and it is nearer to passages of this palace, and shares more words with one, than lines on work,
home, travel or politics (``talk.txt``). Where notes are conversations themselves, more words are
needed, as those have words of small talk. See references/agents.md for how it was chosen.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memory_palace.embedding.registry import Embedder
from memory_palace.index.segment import map_arrays
from memory_palace.index.snapshot import SAMPLE, Snapshot
from memory_palace.index.words import (
    LEAST_DEVIATION,
    UNSEEN,
    PostingLookup,
    expect_mean,
    find_moments,
)
from memory_palace.language.words import STOP_STEMS, drop_stop_stems, tokenize
from memory_palace.models import Matrix, Scores
from memory_palace.storage import is_named_by_content, remove_files, write_content

ASKED_OF = 4096
"""Most passages that each line or question is compared with."""
_PASSAGES = 3
"""Number of nearest passages whose mean cosine counts."""
_MOST_WORDS = 20
"""Most telling words that count: a pasted page has hundreds."""
_MOST_BYTES = 500
"""Most bytes of a text that count as its length, for the same reason."""
_TALK = 2.0
"""Added to ``chat_bar`` where the notes are conversations."""
_COMMON = (0.06, 0.12)
"""Bounds of the mean share of passages with a word of the English chat lines: notes are no talk up
to the first, all talk from the second. It is .02 in a manual, .04 in a garden, .12 to .17 in
conversations of friends; in other languages too many of the words are grammar to tell."""
_REPEATED = 2
"""Least number of chat lines with a word that counts for that share."""
_QUANTILE = 0.9
"""Quantile of the weights of small talk that sets ``chat_bar``."""
_LEAST_SPREAD = 0.01
_FEW = 14
"""First lines of each language, whose words identify the language of the notes."""
DEFAULT = {"chat_bar": 7.5, "talk_near": 0.06, "talk_share": 0.06, "talk_bar": 8.5}
_FEW_PAIRS = 500
"""Pairs of passages below which the null sample also has the cosines of ``UNRELATED`` texts."""
_BYTE, _TINY = 127, 1e-9
_SLICE = 64
"""Lines embedded at a time; they have ten words, a passage a hundred."""
_MAD = 1.4826
"""Median absolute deviations in a standard deviation of a normal distribution."""


UNRELATED = (
    "The train to the coast leaves at seven and stops at every village.",
    "Knead the dough for ten minutes, then let it rise under a cloth.",
    "The court decided that the contract was void from the beginning.",
    "Our goalkeeper saved two penalties in the second half.",
    "Mitochondria turn sugar and oxygen into energy for the cell.",
    "The sonata is in three movements, the last of them a rondo.",
    "Interest rates rose by a quarter of a percent in March.",
    "She pruned the apple trees before the first frost.",
    "The function returns an empty list when no file matches.",
    "Glaciers carve valleys into the shape of the letter U.",
    "The novel is told by a sailor who does not trust his captain.",
    "Children under twelve need a ticket but pay half the price.",
)
"""Pairwise unrelated texts, for a sample of an embedder's null cosines."""


def cross_cosines(vectors: Matrix, owners: NDArray[np.integer]) -> NDArray[np.float64]:
    """Return the cosine of each pair of unit vectors of different owners."""
    different = np.triu(owners[:, None] != owners[None, :], 1)
    cosines: NDArray[np.float64] = (vectors @ vectors.T)[different].astype(np.float64)
    return cosines


def find_tail(cosines: NDArray[np.float64], share: float) -> tuple[float, float]:
    """Return the cosine that a share of a sample exceeds, and the mean excess of those above it."""
    start = float(np.quantile(cosines, 1 - share))
    beyond = cosines[cosines > start] - start
    return start, float(beyond.mean()) if len(beyond) else 0.0


def measure_null(embed: Callable[[Sequence[str]], Matrix]) -> tuple[float, float]:
    """Return mean and standard deviation of an embedder's cosines of ``UNRELATED`` texts."""
    return find_moments(cross_cosines(embed(UNRELATED), np.arange(len(UNRELATED))))


def measure_chance(
    snapshot: Snapshot, folder: Path, embedder: Embedder, *, may_embed: bool
) -> dict[str, float]:
    """Return the calibration that a commit record keeps.

    Without ``may_embed`` only the cached vectors of lines in ``folder`` are used.
    """
    lines = embed_null_lines(folder, embedder, may_embed=may_embed)
    chance = calibrate(snapshot, embedder.embed_passages if may_embed else None)
    if lines is None or not (snapshot.commit.dimension and snapshot.embedded_rows.any()):
        return chance | SmallTalk(snapshot).calibrate()
    best = find_best_null(snapshot, lines.questions)
    return chance | best | SmallTalk(snapshot).calibrate(lines.talk)


@cache
def read_parts(name: str) -> tuple[tuple[str, ...], ...]:
    """Return the lines of a file by language: English first, then others, each after ``[code]``."""
    text = Path(__file__).with_name(f"{name}.txt").read_text("utf-8")
    parts = re.split(r"^\[\w+\]$", text, flags=re.MULTILINE)
    return tuple(tuple(filter(None, part.splitlines())) for part in parts)


@cache
def read_lines(name: str) -> tuple[str, ...]:
    """Return the lines of a file: ``chat`` is small talk, ``talk`` is off topic."""
    return tuple(line for part in read_parts(name) for line in part)


def choose_part(snapshot: Snapshot, name: str) -> slice:
    """Return the slice of a file's lines in the language of the notes, judged by their words."""
    words, parts, listed = PostingLookup(snapshot, "words"), read_parts(name), _list_terms(name)
    words.look_up(tuple(chain(*listed)))
    shares = [sum(map(words.document_frequency, terms)) / len(terms) for terms in listed]
    own = shares.index(max(shares))
    start = sum(map(len, parts[:own]))
    return slice(start, start + len(parts[own]))


@cache
def _list_terms(name: str) -> list[tuple[str, ...]]:
    """Return the distinct terms of the first lines of each part."""
    return [tuple(dict.fromkeys(tokenize("\n".join(part[:_FEW])))) for part in read_parts(name)]


def _list_words(text: str, languages: tuple[str, ...]) -> tuple[str, ...]:
    """Return the distinct words of a text but for stop words."""
    return drop_stop_stems([*tokenize(text, languages=languages)])


_list_words_of_line = lru_cache(maxsize=4096)(_list_words)
"""Of the lines of our own, of which every build asks; what people say is not kept."""


@cache
def _count_words(lines: tuple[str, ...], languages: tuple[str, ...] = ()) -> Counter[str]:
    """Return the number of lines that have each word."""
    return Counter(term for line in lines for term in {*tokenize(line, languages=languages)})


def calibrate(
    snapshot: Snapshot, embed: Callable[[Sequence[str]], Matrix] | None
) -> dict[str, float]:
    """Return mean and standard deviation of the null: the cosines of unrelated texts.

    The texts are chunks of different notes, and in a small palace also ``UNRELATED``, embedded by
    ``embed``. Empty without vectors.
    """
    if not snapshot.commit.dimension:
        return {}
    chosen = snapshot.sample
    cosines = cross_cosines(snapshot.rows_of(chosen), snapshot.row_note[chosen])
    if len(cosines) < _FEW_PAIRS and embed is not None:
        chance = cross_cosines(embed(UNRELATED), np.arange(len(UNRELATED)))
        cosines = np.concatenate([cosines, chance])
    if not len(cosines):
        return {}
    mean, deviation = find_moments(cosines)
    return {"null_mean": round(mean, 4), "null_std": round(deviation, 4)}


def find_best_null(snapshot: Snapshot, questions: Matrix) -> dict[str, float]:
    """Return the median best cosine of questions that are not answered here, and its deviation.

    Median and median absolute deviation are robust to a few questions that are answered. The median
    is that of the questions in the language of the notes; the deviation is averaged with that of
    the English questions. Among more than ``ASKED_OF`` passages the best is extrapolated: each
    doubling adds the difference between half of the sample and all of it. Empty without vectors.

    Where all cosines are high, as e5's are, those of one question are higher than those of another
    as a whole. So a share of each question's mean is subtracted from its best, ``best_shared``: the
    least mean of a question, which is 0 where unrelated texts have a cosine of 0.
    """
    rows = snapshot.sample_rows(ASKED_OF)
    if not len(rows) or not snapshot.commit.dimension:
        return {}
    growing = math.log2(max(int(np.count_nonzero(snapshot.embedded_rows)) / len(rows), 1))
    own, english = choose_part(snapshot, "questions"), slice(len(read_parts("questions")[0]))
    cosines = (snapshot.rows_of(rows) @ questions.T).astype(np.float64)
    sample = cosines[:SAMPLE]
    means = sample.mean(axis=0)
    level, shared = float(means[own].mean()), max(float(means[own].min()), 0.0)
    off = shared * expect_mean(means, len(sample), level)
    best = cosines.max(axis=0) - off
    median, spread = _find_middle(best[own])
    deviation = (spread + _find_middle(best[english])[1]) / 2
    if growing:
        half = cosines[: len(rows) // 2].max(axis=0) - off
        median += (median - _find_middle(half[own])[0]) * growing
    least = LEAST_DEVIATION * (1 - shared)
    found = {"best_null": median, "best_deviation": max(deviation, least)}
    if shared:
        found |= {"best_shared": shared, "best_level": level}
    return {name: round(value, 4) for name, value in found.items()}


def _find_middle(best: NDArray[np.float64]) -> tuple[float, float]:
    """Return the median, and the standard deviation estimated from the median absolute one."""
    median = float(np.median(best))
    return median, _MAD * float(np.median(np.abs(best - median)))


class NullVectors(NamedTuple):
    """Vectors of ``questions.txt`` and ``talk.txt``."""

    questions: Matrix
    talk: Matrix


def embed_null_lines(
    folder: Path, embedder: Embedder, *, may_embed: bool = True
) -> NullVectors | None:
    """Return the vectors of questions and talk; ``None`` for an embedder without vectors.

    They are cached in ``folder``, one byte per component, in a file named by recipe and content,
    since a build would embed hundreds of lines otherwise. Without ``may_embed``, ``None`` if there
    is no cached file.
    """
    from memory_palace.index.writing import write_arrays  # delayed: recall writes nothing

    if not embedder.dimension:
        return None
    questions, talk = read_lines("questions"), read_lines("talk")
    recipe = sha256("\n".join([embedder.fingerprint, *questions, *talk]).encode()).hexdigest()[:16]
    kept = sorted(filter(is_named_by_content, folder.glob(f"null-{recipe}-*.npz")))
    if kept:
        members = map_arrays(kept[0])
    elif may_embed:
        exact = embed_lines(embedder)
        steps = np.maximum(np.abs(exact).max(axis=1, keepdims=True) / _BYTE, _TINY)
        members = {"lines": np.rint(exact / steps).astype(np.int8), "steps": steps}
        parts = {member: [values] for member, values in members.items()}
        name = f"null-{recipe}-{{}}.npz"
        kept = [write_content(folder, lambda file: write_arrays(file, parts), name)]
    else:
        return None
    if may_embed:
        remove_files(path for path in sorted(folder.glob("null-*.npz")) if path != kept[0])
    vectors: Matrix = members["lines"].astype(np.float32) * members["steps"]
    return NullVectors(vectors[: len(questions)], vectors[len(questions) :])


def embed_lines(embedder: Embedder) -> Matrix:
    """Return the vectors of the questions, then of talk."""
    lines = [*read_lines("questions"), *read_lines("talk")]
    parts = [lines[start : start + _SLICE] for start in range(0, len(lines), _SLICE)]
    return np.concatenate([embedder.embed_queries(part) for part in parts])


_WEIGHTS = 3.0, 1.5, 1.0
"""Weights of the fields of ``Telling``, each as log1p."""


class Telling(NamedTuple):
    """Counts of the telling words of a text: words that small talk lacks."""

    known: float = 0.0
    """Sum over the words of log1p(n / df) / log1p(n), with n passages: 1 for a word of one passage,
    0 for a word of none."""
    words: int = 0
    """Number of telling words, in passages or not."""
    length: int = 0
    """Bytes of the text, up to ``_MOST_BYTES``."""


class SmallTalk:
    """Weighs a text against small talk, for one palace."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._words = PostingLookup(snapshot, "words")
        self._common = _count_words(read_lines("chat"), tuple(snapshot.languages))
        self._figures = {**DEFAULT, **snapshot.commit.calibration}
        self.bar = self._figures["chat_bar"]
        """Weight above which a text refers to a note."""

    def relate(self, share: float, nearness: float = 0.0) -> float:
        """Return how far a text exceeds off-topic talk, by its share of words and its nearness."""
        figures = self._figures
        near = nearness / figures["talk_near"]
        return near + share / figures["talk_share"] - figures["talk_bar"]

    def find_shares(self, text: str, others: Sequence[str]) -> list[float]:
        """Return the idf-weighted share of a text's words in each other text."""
        weights = self._weigh_terms(text)
        whole = sum(weights.values()) or 1.0
        terms = ({*tokenize(other, languages=self._snapshot.languages)} for other in others)
        return [sum(weights[term] for term in weights if term in held) / whole for held in terms]

    def find_share(self, text: str, *, is_line: bool = False) -> float:
        """Return the idf-weighted share of a text's words in its best passage."""
        weights = self._weigh_terms(text, is_line=is_line)
        held = np.zeros(len(self._snapshot.row_note))
        for term, weight in weights.items():
            held[self._words.rows(term)] += weight
        best = held[self._snapshot.hot_rows].max(initial=0.0)
        return float(best) / (sum(weights.values()) or 1.0)

    def _weigh_terms(self, text: str, *, is_line: bool = False) -> dict[str, float]:
        list_words = _list_words_of_line if is_line else _list_words
        words = list_words(text, tuple(self._snapshot.languages))
        held = ((word, max(self._words.document_frequency(word), UNSEEN)) for word in words)
        return {word: math.log1p(self._snapshot.passages / having) for word, having in held}

    def find_nearness(self, cosines: Scores) -> float:
        """Return the mean of a text's ``_PASSAGES`` highest cosines with passages; 0 if none."""
        return float(_mean_of_best(cosines[:, None])[0]) if len(cosines) else 0.0

    def weigh(self, text: str) -> float:
        """Return the weight of a text beyond small talk, to be compared with ``bar``."""
        return _add_up(self.count_telling(text))

    def count_telling(self, text: str, *, is_line: bool = False) -> Telling:
        """Return the counts of the words that no line of small talk has.

        With ``is_line`` the text is such a line, and counts the words that no other line has.
        """
        list_words = _list_words_of_line if is_line else _list_words
        words = list_words(text, tuple(self._snapshot.languages))
        telling = [word for word in words if self._common[word] <= is_line][:_MOST_WORDS]
        held = filter(None, map(self._words.document_frequency, telling))
        passages = self._snapshot.passages
        known = sum(math.log1p(passages / having) / math.log1p(passages) for having in held)
        length = min(len(text.encode(errors="replace")), _MOST_BYTES)
        return Telling(known, len(telling), length)

    def calibrate(self, talk: Matrix | None = None) -> dict[str, float]:
        """Return the thresholds for small talk in this palace; empty without passages.

        ``chat_bar`` is a quantile of the weights of small talk, raised if notes are conversations.
        ``talk_near`` and ``talk_share`` are the deviations of nearness and of shared words of
        off-topic lines, whose vectors are ``talk``; ``talk_bar`` is one deviation above the median
        of the sum of both in these units.
        """
        if not self._snapshot.passages:
            return {}
        self._words.look_up(self._common)
        said = [_add_up(self.count_telling(line, is_line=True)) for line in read_lines("chat")]
        chat_bar = float(np.quantile(said, _QUANTILE)) + _TALK * self._find_talk()
        own = choose_part(self._snapshot, "talk")
        lines = read_lines("talk")[own]
        self._words.look_up(_count_words(lines, tuple(self._snapshot.languages)))
        found = {"talk_share": np.array([self.find_share(line, is_line=True) for line in lines])}
        if talk is not None:
            found["talk_near"] = self._find_nearest(talk[own])
        spreads = {name: max(float(each.std()), _LEAST_SPREAD) for name, each in found.items()}
        reached = sum(each / spreads[name] for name, each in found.items())
        talk_bar = float(np.median(reached) + np.std(reached))
        found_bars = {"chat_bar": chat_bar, **spreads, "talk_bar": talk_bar}
        return {name: round(value, 4) for name, value in found_bars.items()}

    def _find_talk(self) -> float:
        """Return the share of the notes that is talk, in [0, 1]."""
        lines = _count_words(read_parts("chat")[0])
        repeated = {t: n for t, n in lines.items() if n >= _REPEATED and t not in STOP_STEMS}
        held = sum(n * self._words.document_frequency(term) for term, n in repeated.items())
        share = held / self._snapshot.passages / sum(repeated.values())
        least, most = _COMMON
        return min(max((share - least) / (most - least), 0.0), 1.0)

    def _find_nearest(self, lines: Matrix) -> NDArray[np.float64]:
        """Return the nearness of lines to all passages, estimated from a sample of them."""
        rows = self._snapshot.sample_rows(ASKED_OF)
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


def _add_up(telling: Telling) -> float:
    parts = map(math.log1p, telling)
    return sum(weight * part for weight, part in zip(_WEIGHTS, parts, strict=True))
