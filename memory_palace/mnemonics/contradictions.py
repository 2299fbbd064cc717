"""Where a claim follows the wording of a memory and says something else.

Every test is one function ``(claim, memory) -> reasons``. A claim in its own words is tested for
numbers alone: whoever says a thing otherwise uses other negations and other orders too.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby, product

from memory_palace.language.sentences import split_sentences
from memory_palace.language.tokens import tokenize
from memory_palace.mnemonics.claims import DENIALS, UNITS, Wording
from memory_palace.mnemonics.comparing import (
    find_closeness,
    find_crossings,
    find_exchanged,
    find_likeness,
    find_reversals,
    longest_run,
    share_content,
    words_beside,
)
from memory_palace.mnemonics.numbers import Number, find_clock_times, find_implied
from memory_palace.mnemonics.opposites import find_allies, find_opposites

FOLLOWS = 0.65
"""Share of a claim's content words in one sentence of the memory: above, it follows the wording."""
COPIES = 0.8
"""Share above which the order of words is compared too."""
_SHORT = 5
"""Words of a clause that does nothing but deny one thing."""
QUOTES = 3
"""Words in a row that make a phrase a quotation."""
QUOTED = 0.4
"""Least share of a claim that a quotation makes up."""


_NAME = re.compile(r"(?<=[a-z,;] )[A-Z][^\W\d_A-Z]{2,}")


@dataclass(frozen=True)
class MemoryText:
    """The text that claims are compared with."""

    subject: str
    content: str

    @cached_property
    def whole(self) -> Wording:
        """Subject and content."""
        return Wording(f"{self.subject}. {self.content}")

    @cached_property
    def sentences(self) -> tuple[Wording, ...]:
        """Sentences of the content, or the subject where there are none."""
        found = tuple(Wording(text) for text in split_sentences(self.content))
        return found or (Wording(self.subject),)

    @cached_property
    def clauses(self) -> tuple[Wording, ...]:
        """Clauses of all sentences."""
        return tuple(clause for sentence in self.sentences for clause in sentence.clauses)

    @cached_property
    def denied(self) -> Mapping[str, Wording]:
        """Words that a clause of its own denies: ``never shake``, ``coffee is not``."""
        return {
            clause.keys[0]: clause
            for clause in self.clauses
            if len(clause.keys) == 1 and clause.negations % 2 and len(clause.stems) <= _SHORT
        }

    def nearest(self, claim: Wording) -> Wording:
        """Return the sentence that shares most with a claim, of equals the one it covers best."""
        return max(
            self.sentences,
            key=lambda other: (share_content(claim, other), share_content(other, claim)),
        )


def find_contradictions(claim: Wording, source: MemoryText) -> list[str]:
    """Return what of a claim disagrees with a memory, in words; empty where nothing does."""
    return [reason for test in _TESTS for reason in test(claim, source)]


def _numbers(claim: Wording, source: MemoryText) -> Iterator[str]:
    """Yield numbers that the memory does not have; one without a unit is too common to count."""
    known_times = {time.minutes for time in find_clock_times(source.content)}
    times = [time for time in find_clock_times(claim.text) if time.minutes in known_times]
    starts = [time.start for time in times]
    for _, group in groupby(claim.numbers, key=lambda number: number.start):
        readings = list(group)
        place = bisect_right(starts, readings[0].start) - 1
        if place >= 0 and readings[0].start < times[place].end:
            continue
        if not _is_known(claim, readings, source):
            yield f"{readings[0].text} is not a number the memory gives"


def _is_known(claim: Wording, readings: Sequence[Number], source: MemoryText) -> bool:
    if all(number.value == 1 and not number.family for number in readings):
        return True
    known = (*source.whole.numbers, *find_implied(source.content))
    return _is_relative(claim, readings, source) or any(
        reading.agrees(other) for reading in readings for other in known
    )


def _negations(claim: Wording, source: MemoryText) -> Iterator[str]:
    """Yield a clause that is denied where the memory says it, or said where it is denied."""
    for clause in claim.clauses:
        best = max(source.clauses, key=lambda other: find_closeness(clause, other), default=clause)
        is_near = find_likeness(clause, best) >= FOLLOWS
        is_exception = clause.negations and any(key in source.denied for key in clause.keys)
        differs = (clause.negations + best.negations) % 2 == 1 and not is_exception
        if is_near and differs and not _is_made_up_for(clause, best):
            yield f"“{clause.text}” against “{best.text}”"


def _opposites(claim: Wording, source: MemoryText) -> Iterator[str]:
    """Yield a word where the memory says its opposite, of the same thing.

    A denied opposite is no contradiction, and neither is one beside which the memory has the word
    in another form.
    """
    near = source.nearest(claim)
    follows = share_content(claim, near) >= FOLLOWS - 0.1
    for sentence in source.sentences:
        for clause, other in product(claim.clauses, sentence.clauses):
            found = _opposed(clause, other, claim, sentence)
            is_in_nearest = follows and sentence is near
            if found and (
                is_in_nearest or words_beside(clause, found[0]) & words_beside(other, found[1])
            ):
                yield f"{found[0]} where the memory says {found[1]}"
                return


def _exceptions(claim: Wording, source: MemoryText) -> Iterator[str]:
    """Yield a word that a short clause of the memory denies: ``never shake``, ``coffee is not``."""
    for clause in claim.clauses:
        if clause.negations or clause.denying or len(clause.keys) < 2:
            continue
        for key in clause.keys:
            if key in source.denied and share_content(clause, source.whole) >= FOLLOWS:
                yield f"{key} against “{source.denied[key].text}”"
                return


def _mixtures(claim: Wording, source: MemoryText) -> Iterator[str]:
    """Yield a word of the neighbouring clause, where the clause that is told has its opposite."""
    for clause in claim.clauses:
        for sentence in source.sentences:
            best = max(sentence.clauses, key=lambda c: find_closeness(clause, c), default=clause)
            if len(set(clause.keys) & set(best.keys)) < 2:
                continue
            for key in clause.keys:
                against = find_opposites(key) & set(best.stems) - set(clause.stems)
                if against and key not in best.stems and key in sentence.stems:
                    yield f"{key} where the memory says {min(against)}"
                    return


def _order(claim: Wording, source: MemoryText) -> Iterator[str]:
    """Yield two things that are swapped in a clause: who does what to whom."""
    for clause in claim.clauses:
        near = max(source.clauses, key=lambda other: find_closeness(clause, other), default=clause)
        pair = find_exchanged(clause.keys, near.keys)
        if pair and share_content(clause, near) >= COPIES:
            yield f"{pair[0]} and {pair[1]} are swapped"


def _crossings(claim: Wording, source: MemoryText) -> Iterator[str]:
    """Yield an exchange between the statements of a memory, or a change told backwards."""
    yield from find_crossings(claim, source.sentences)
    yield from find_reversals(claim, source.sentences)


def _names(claim: Wording, source: MemoryText) -> Iterator[str]:
    """Yield names that the memory does not have: capitalised where no sentence begins."""
    for match in _NAME.finditer(claim.text):
        stems = tokenize(match[0])
        if stems and not set(stems) <= {*source.whole.stems, *UNITS}:
            yield f"{match[0]} is not a name the memory gives"


def _substitutions(claim: Wording, source: MemoryText) -> Iterator[str]:
    """Yield a thing that the memory does not name, in a phrase that is otherwise the memory's."""
    unknown_nouns = [noun for noun in claim.nouns if noun not in source.whole.stems]
    run = max(longest_run(claim.stems, sentence.stems) for sentence in source.sentences)
    if unknown_nouns and run >= max(QUOTES, QUOTED * len(claim.stems)):
        yield f"{unknown_nouns[0]} is not in the memory, in a phrase taken from it"


_TESTS: Sequence[Callable[[Wording, MemoryText], Iterator[str]]] = (
    _numbers,
    _negations,
    _exceptions,
    _opposites,
    _mixtures,
    _order,
    _crossings,
    _names,
    _substitutions,
)


def _opposed(
    one: Wording, other: Wording, claim: Wording, sentence: Wording
) -> tuple[str, str] | None:
    """Return a word of a clause and its opposite in another, if neither stands on both sides.

    A word that the whole sentence has too is borne out, unless it stands there beside other words.

    Clauses that differ in what they deny, or in a condition that turns them, are not comparable.
    """
    if (one.negations + other.negations) % 2 or one.turns != other.turns:
        return None
    mine, theirs = set(claim.stems), set(sentence.stems)
    for stem in one.stems:
        against = sorted(find_opposites(stem) & set(other.stems) - mine)
        allies = find_allies(stem) & theirs
        if not against or (one.denying ^ other.denying) - {stem, *against}:
            continue
        if stem in UNITS and any(
            a.family and a.agrees(b) for a, b in product(one.numbers, other.numbers)
        ):
            continue  # half a year, six months
        if allies and not _is_elsewhere(one, stem, other, sentence, against[0]):
            continue
        return stem, against[0]
    return None


def _is_elsewhere(one: Wording, stem: str, other: Wording, sentence: Wording, against: str) -> bool:
    """Say whether a word stands where a clause has its opposite, and not where the word itself is.

    It has neighbours of the opposite and none of its own, and that clause is the nearest.
    """
    near, allies = words_beside(one, stem), find_allies(stem)
    own = {found for ally in allies for found in words_beside(sentence, ally)}
    homes = [clause for clause in sentence.clauses if not allies.isdisjoint(clause.stems)]
    is_nearest = all(find_closeness(one, other) > find_closeness(one, home) for home in homes)
    return is_nearest and bool(near & words_beside(sentence, against)) and not near & own


def _is_made_up_for(one: Wording, other: Wording) -> bool:
    """Say whether an opposite or a denying word makes up for a negation: not open, so shut."""
    theirs = set(other.stems) - DENIALS
    is_opposed = any(find_opposites(stem) & theirs for stem in one.stems if stem not in DENIALS)
    return is_opposed or one.denying != other.denying or one.turns != other.turns


def _is_relative(claim: Wording, readings: Sequence[Number], source: MemoryText) -> bool:
    """Say whether a number counts times, or is a ``second`` that the memory has as a time."""
    end = readings[0].end
    after = claim.text[end : end + len(" times ")].split()[:1]
    word = readings[0].text.casefold()
    return after == ["times"] or (word == "second" and word in source.whole.stems)
