"""Every telling word of a palace is an anchor too, and so are two of them in a row.

A word leads where the segments' posting lists say. A phrase of two common words is in nobody's
vocabulary, and either word alone leads everywhere: pairs have lists of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from memory_palace.anchors.book import Book
from memory_palace.anchors.corpus import TermedPassage
from memory_palace.anchors.terms import SHORTEST, words_of
from memory_palace.anchors.tier import Keys, PairLists
from memory_palace.index.postings import NO_ROWS, find_sorted, hash_key
from memory_palace.language.tokens import tokenize
from memory_palace.language.word_lists import STOP_STEMS, share_idf
from memory_palace.models import Scores

LEAST_HELD = 2
"""Passages that hold a pair which a nightly build keeps: one passage repeats no phrase."""
MOST_HELD = 50
"""A pair in more passages than this says little; it also bounds the cost of a lookup."""


def pairs_of(words: Sequence[str]) -> Iterator[str]:
    """Yield each two words of ``words_of`` that follow each other but for stop words."""
    telling = [w for w in words if len(w) >= SHORTEST and not w.isdigit() and w not in STOP_STEMS]
    for first, second in pairwise(telling):
        yield f"{first} {second}"


def collect_pairs(passages: Iterable[TermedPassage]) -> tuple[Keys, Keys]:
    """Return pair and passage of every entry, in no order."""
    pairs: list[int] = []
    held: list[int] = []
    for passage in passages:
        found = {hash_key(pair) for pair in pairs_of(passage.words)}
        pairs += found
        held += [passage.key] * len(found)
    return np.array(pairs, np.uint64), np.array(held, np.uint64)


def list_pairs(pairs: Keys, passages: Keys, *, least: int = 1) -> PairLists:
    """Sort entries by pair, without pairs of fewer than ``least`` passages or too many."""
    order = np.lexsort((passages, pairs))
    pairs, passages = pairs[order], passages[order]
    is_first = np.ones(len(pairs), np.bool_)
    is_first[1:] = pairs[1:] != pairs[:-1]
    firsts = np.flatnonzero(is_first)
    counts = np.diff(np.append(firsts, len(pairs)))
    is_kept = (counts >= least) & (counts <= MOST_HELD)
    starts = np.append(0, np.cumsum(counts[is_kept])).astype(np.int64)
    return PairLists(pairs[firsts[is_kept]], starts, passages[np.repeat(is_kept, counts)])


COMMON = 500
"""A word in more passages than this leads nowhere, which also bounds the cost of a lookup: 1000
finds no more on CORF dev, 300 less (.710, .710, .687)."""


@dataclass(frozen=True, slots=True)
class WordMatch:
    """How much of a question's telling words each of some passages holds."""

    rows: NDArray[np.int64]
    """Ascending, each once."""
    shares: Scores
    """Of the summed weights of the question's words, in (0, 1]."""
    weights: dict[str, float]
    """Of every word and pair of the question that stands anywhere: its idf, squared, so that
    telling ones count more."""
    lists: dict[str, NDArray[np.int64]]
    """The rows, ascending, of every word and pair that leads anywhere."""

    def parts(self) -> dict[str, float]:
        """Return the words and pairs that lead anywhere, each with its share of the whole."""
        whole = sum(self.weights.values())
        return {term: self.weights[term] / whole for term in self.lists}

    def weigh(self, key: str) -> float:
        """Return the share of an anchor's words in what the question's words tell."""
        whole = sum(self.weights.values())
        words = set(key.split())
        own = sum(w for term, w in self.weights.items() if words.issuperset(term.split()))
        return min(own / whole, 1.0) if whole else 1.0

    def beyond(self, rows: NDArray[np.int64], key: str) -> Scores:
        """Return the weight of what each of some rows holds besides the words of an anchor."""
        words = set(key.split())
        gains: Scores = np.zeros(len(rows), np.float32)
        for term, held in self.lists.items():
            if not words.issuperset(term.split()):
                gains += np.float32(self.weights[term]) * np.isin(rows, held)
        return gains

    def shares_of(self, rows: NDArray[np.int64]) -> Scores:
        """Return the share of each of some rows, 0 where a row holds none of the words."""
        places, is_there = find_sorted(self.rows, rows)
        shares: Scores = np.zeros(len(rows), np.float32)
        shares[is_there] = self.shares[places[is_there]]
        return shares


def match_words(book: Book, text: str) -> WordMatch:
    """Look the words of a question up in the posting lists of the segments.

    Words of more than ``COMMON`` passages lead nowhere, words of none do not count, nor does what
    the settings deny. The cost depends on the lengths of the other lists, not on how many passages
    or words there are. Two words in a row count like a word.
    """
    stems = tokenize(text, languages=book.snapshot.languages)
    written = dict(zip(stems, tokenize(text, stems=False), strict=True))

    def is_allowed(term: str) -> bool:
        shown = " ".join(written.get(word, word) for word in term.split())
        return book.is_denied is None or not book.is_denied(shown, term)

    total = len(book.snapshot.row_note)
    lists: dict[str, NDArray[np.int64]] = {}
    weights: dict[str, float] = {}
    for term in dict.fromkeys(stems):
        if term not in STOP_STEMS and is_allowed(term):
            count, rows = book.postings.find_rows(term, most=COMMON)
            if count:
                weights[term] = share_idf(count, total) ** 2
            if len(rows):
                lists[term] = rows
    for pair in dict.fromkeys(pairs_of(words_of(text))):
        rows = book.rows_of_pair(pair) if is_allowed(pair) else NO_ROWS
        if len(rows):
            weights[pair] = share_idf(len(rows), total) ** 2
            lists[pair] = rows
    whole = sum(weights.values())
    rows = np.concatenate([NO_ROWS, *lists.values()])
    gains = np.repeat([weights[term] for term in lists], [len(rows) for rows in lists.values()])
    distinct, places = np.unique(rows, return_inverse=True)
    sums = np.bincount(places, weights=gains, minlength=len(distinct))
    shares: Scores = (sums / (whole or 1.0)).astype(np.float32)
    return WordMatch(distinct, shares, weights, lists)
