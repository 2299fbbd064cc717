"""Which words of a text are denied, and which stand in a clause where something is.

A negation is bound to the word that it governs, its head: the first telling word behind "not", the
noun phrase behind "no" and "without". The rest of its clause says neither yes nor no.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from enum import IntEnum
from typing import NamedTuple

from memory_palace.checking.numerals import NUMBER_WORDS
from memory_palace.checking.wording import UNITS, Wording, WrittenWord
from memory_palace.language.tokens import tokenize
from memory_palace.language.word_lists import TIME_WORDS, is_negation


class Denial(IntEnum):
    """How a negation bears on a word."""

    FREE = 0
    BESIDE = 1
    """In the clause of a negation that governs another word, or one that cancels another."""
    HEAD = 2


class Stance(NamedTuple):
    """Where a word stands."""

    sentence: int
    clause: int
    denial: Denial


_BEFORE_NOUNS = frozenset(
    "no none nobody nothing neither nor without non lacks lack lacking".split()
)
_ENDING_CLAUSES = frozenset("without non lacks lack lacking instead rather except unlike".split())
"""What stands before them in the clause is not denied."""
_TWO_WORDS = frozenset(
    (("instead", "of"), ("rather", "than"), ("except", "for"), ("except", "in"), ("free", "of"))
)
_TO = frozenset(
    "fail fails failed failing refuse refuses refused decline declines declined unable".split()
)
"""Deny the verb behind "to"."""
_CONJUNCTIONS = frozenset(
    "and but while whereas because although though which who if when unless until then after "
    "before since once as".split()
)
_ENDS = frozenset(".!?")
_BREAKS = _ENDS | frozenset(",;:()–—•|")
DENYING = frozenset(
    tokenize(
        "prevent avoid forbid prohibit ban refuse deny exclude block stop cease miss skip ignore "
        "impossible absence absent missing reject disable omit drop forget neglect except fail "
        "unlikely rarely seldom few little hide lose protect resist free only otherwise"
    )
)
"""Words that deny by their meaning: beside them nothing is said plainly."""
TURNING = frozenset(("until", "unless", "except"))
"""Before a condition under which the opposite holds."""
_LIMITS = frozenset("only just merely least until more less fewer later earlier sooner".split())
"""Behind a negation they say at most, at least or also, and deny nothing."""
_IDIOMS = frozenset(
    (("no", "matter"), ("no", "doubt"), ("nothing", "but"), ("no", "one"), ("why", "not"))
)
_LIGHT = frozenset(tokenize("make do take have get keep leave use need want try go come let put"))
"""Verbs that say little: what is denied stands behind them."""
_MEASURES = NUMBER_WORDS | TIME_WORDS
_HEAD_WORDS = 3
"""Longest noun phrase that is denied as a whole."""


def find_stances(wording: Wording) -> tuple[Stance, ...]:
    """Return clause and denial of each of ``wording.words``."""
    words = wording.words
    sentences, clauses = _number_parts(wording)
    denial = [Denial.FREE] * len(words)
    for at in range(len(words)):
        clause = range(bisect_left(clauses, clauses[at]), bisect_right(clauses, clauses[at]))
        heads, start = _govern(words, clause, at)
        if not heads:
            continue
        for place in clause:
            if place >= start:
                denial[place] = max(denial[place], Denial.BESIDE)
        is_cancelled = at != start and denial[at] == Denial.HEAD
        for head in heads:
            twice = is_cancelled or denial[head] == Denial.HEAD
            denial[head] = Denial.BESIDE if twice else Denial.HEAD
    return tuple(map(Stance, sentences, clauses, denial))


def _number_parts(wording: Wording) -> tuple[list[int], list[int]]:
    """Return the number of the sentence, and of the clause, of each word."""
    sentences, clauses, end = list[int](), list[int](), 0
    sentence = clause = 0
    for word in wording.words:
        gap = wording.text[end : word.start]
        sentence += not _ENDS.isdisjoint(gap)
        clause += word.key in _CONJUNCTIONS or not _BREAKS.isdisjoint(gap)
        sentences.append(sentence)
        clauses.append(clause)
        end = word.end
    return sentences, clauses


def _govern(words: Sequence[WrittenWord], clause: range, at: int) -> tuple[list[int], int]:
    """Return the heads of a negation at a place, and where what it denies begins; or no heads."""
    key = words[at].key
    following = words[at + 1].key if at + 1 < len(words) else ""
    is_idiom = following in _LIMITS or (key, following) in _IDIOMS
    if is_idiom or (at and words[at - 1].key in ("or", "if")):
        return [], 0
    if (key, following) in _TWO_WORDS or key in _ENDING_CLAUSES:
        return list(_next_phrase(words, range(at + 1, clause.stop))), at
    if (key, following) == ("no", "longer") or (key in _TO and following == "to"):
        return _next_verb(words, at + 2, clause), clause.start
    if key in _BEFORE_NOUNS:
        heads = list(_next_phrase(words, range(at + 1, clause.stop)))
        return heads or _next_verb(words, at + 1, clause), clause.start
    if is_negation(key):
        return _next_verb(words, at + 1, clause), clause.start
    return [], 0


def _next_phrase(words: Sequence[WrittenWord], places: range) -> Iterator[int]:
    """Yield the telling words that follow side by side, once the first has come."""
    found = 0
    for place in places:
        if _can_be_head(words[place]) and found < _HEAD_WORDS:
            found += 1
            yield place
        elif found:
            return


def _next_verb(words: Sequence[WrittenWord], start: int, clause: range) -> list[int]:
    """Return the first telling word, adverbs aside, behind a negation, else the last before it."""
    telling = [at for at in clause if _can_be_head(words[at])]
    behind = [at for at in telling if at >= start]
    heavy = [at for at in behind if words[at].stem not in _LIGHT]
    return heavy[:1] or behind[:1] or telling[-1:]


def _can_be_head(word: WrittenWord) -> bool:
    is_measure = word.key[0].isdigit() or word.key in _MEASURES or word.stem in UNITS
    return word.is_telling and not is_measure and not word.key.endswith("ly")
