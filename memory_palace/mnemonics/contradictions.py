"""Where a claim follows the wording of a memory and says something else.

Every test is one function ``(claim, memory) -> reasons``. A claim in its own words is tested for
numbers alone: whoever says a thing otherwise uses other negations and other orders too.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

from memory_palace.language.numbers import UNIT_WORDS, Number
from memory_palace.language.opposites import find_opposites
from memory_palace.language.tokens import tokenize
from memory_palace.mnemonics.claims import Passage, split_sentences

FOLLOWS = 0.65
"""Share of a claim's content words in one sentence of the memory: above, it follows the wording."""
COPIES = 0.8
"""Share above which the order of words is compared too."""
_MUTUAL = 0.4
"""Share that both of two clauses must have in the other to say the same thing."""
QUOTES = 6
"""Words in a row that make a phrase a quotation."""
_ORDERED = 0.65
"""Share of common words that must stand in the same order."""
_LEAST_ORDERED = 3
UNITS = frozenset(tokenize(" ".join(UNIT_WORDS)))
"""Stems of units, which tell nothing about what a number is said of."""


@dataclass(frozen=True)
class Source:
    """The text that claims are compared with."""

    subject: str
    content: str

    @cached_property
    def whole(self) -> Passage:
        """Subject and content."""
        return Passage(f"{self.subject}. {self.content}")

    @cached_property
    def sentences(self) -> tuple[Passage, ...]:
        """Sentences of the content, or the subject where there are none."""
        found = tuple(Passage(text) for text in split_sentences(self.content))
        return found or (Passage(self.subject),)

    @cached_property
    def clauses(self) -> tuple[Passage, ...]:
        """Clauses of all sentences."""
        return tuple(clause for sentence in self.sentences for clause in sentence.clauses)

    def nearest(self, claim: Passage) -> Passage:
        """Return the sentence that shares most with a claim, of equals the one it covers best."""
        return max(self.sentences, key=lambda other: (share_content(claim, other), share_content(other, claim)))


def find_contradictions(claim: Passage, source: Source) -> list[str]:
    """Return what of a claim disagrees with a memory, in words; empty where nothing does."""
    return [reason for test in _TESTS for reason in test(claim, source)]


def _numbers(claim: Passage, source: Source) -> Iterator[str]:
    """Numbers that the memory does not have; one is too common a word to count."""
    for readings in _readings(claim.numbers):
        known = source.whole.numbers
        if all(number.value == 1 for number in readings):
            continue
        if not any(reading.agrees(other) for reading in readings for other in known):
            yield f"{readings[0].text} is no number of the memory"


def _bindings(claim: Passage, source: Source) -> Iterator[str]:
    """Numbers that the memory has, but in every sentence that has them says of something else."""
    for clause in claim.clauses:
        if not clause.numbers or share_content(clause, source.whole) < COPIES:
            continue
        wrong = [_misplaced(clause, s) for s in source.sentences if _shares_number(clause, s)]
        if wrong and all(wrong):
            yield f"{clause.numbers[0].text} is not said of {wrong[0]}"


def _misplaced(clause: Passage, sentence: Passage) -> str:
    """Return a thing of which a sentence says other numbers than a clause; empty where none is."""
    homes = [other for other in sentence.clauses if _shares_number(clause, other)]
    here, there = _nouns(homes), _nouns([c for c in sentence.clauses if c not in homes])
    own = here - there
    wrong = [noun for noun in clause.nouns if noun in there - here]
    return wrong[0] if wrong and own and len(own & set(clause.nouns)) <= len(own) / 2 else ""


def _negations(claim: Passage, source: Source) -> Iterator[str]:
    """A clause that is denied where the memory says it, or said where it is denied."""
    for clause in claim.clauses:
        best = max(source.clauses, key=lambda other: _closeness(clause, other), default=clause)
        is_near = _likeness(clause, best) >= FOLLOWS
        differs = (clause.negations + best.negations) % 2 == 1
        if is_near and differs and not _opposed(clause, best):
            yield f"“{clause.text}” against “{best.text}”"


def _opposites(claim: Passage, source: Source) -> Iterator[str]:
    """A word where the memory has its opposite; a denied opposite is no contradiction."""
    near = source.nearest(claim)
    if share_content(claim, near) < FOLLOWS - 0.1 or (claim.negations + near.negations) % 2:
        return
    found = _opposed(claim, near)
    if found:
        yield f"{found[0]} where the memory has {found[1]}"


def _order(claim: Passage, source: Source) -> Iterator[str]:
    """The words of a sentence in another order: who does what to whom."""
    near = source.nearest(claim)
    if share_content(claim, near) < COPIES:
        return
    place = {stem: at for at, stem in reversed(list(enumerate(near.content)))}
    places = [place[stem] for stem in claim.content if stem in place]
    if len(places) >= _LEAST_ORDERED and _in_order(places) / len(places) < _ORDERED:
        yield "has the words of the memory in another order"


def _substitutions(claim: Passage, source: Source) -> Iterator[str]:
    """A thing that the memory does not name, in a phrase that is otherwise the memory's."""
    strangers = [noun for noun in claim.nouns if noun not in source.whole.stems]
    if strangers and _longest_run(claim.stems, source.whole.stems) >= QUOTES:
        yield f"{strangers[0]} in a phrase of the memory"


_TESTS: Sequence[Callable[[Passage, Source], Iterator[str]]] = (
    _numbers, _bindings, _negations, _opposites, _order, _substitutions,
)  # fmt: skip


def share_content(claim: Passage, other: Passage) -> float:
    """Return the share of a claim's content words that another passage has too."""
    if not claim.content:
        return 0.0
    theirs = set(other.content)
    return sum(stem in theirs for stem in claim.content) / len(claim.content)


def _likeness(one: Passage, other: Passage) -> float:
    """Return the larger share of either in the other; 0 where they have too little in common."""
    common = len(set(one.content) & set(other.content))
    shares = (share_content(one, other), share_content(other, one))
    is_denied_word = common == 1 == len(one.content) and one.stems[0] == "not"
    return max(shares) if (common > 1 and min(shares) >= _MUTUAL) or is_denied_word else 0.0


def _opposed(one: Passage, other: Passage) -> tuple[str, str] | None:
    """Return the first word of a passage whose opposite the other has, and that opposite."""
    mine, theirs = set(one.stems), set(other.stems)
    for stem in one.stems:
        against = sorted(find_opposites(stem) & theirs - mine)
        if stem not in theirs and against:
            return stem, against[0]
    return None


def _closeness(one: Passage, other: Passage) -> tuple[int, float]:
    return len(set(one.content) & set(other.content)), _likeness(one, other)


def _readings(numbers: Sequence[Number]) -> list[list[Number]]:
    return [list(group) for _, group in groupby(numbers, key=lambda number: number.start)]


def _shares_number(one: Passage, other: Passage) -> bool:
    return any(a.agrees(b) for a in one.numbers for b in other.numbers if a.value != 1)


def _nouns(clauses: Sequence[Passage]) -> set[str]:
    return {noun for clause in clauses for noun in clause.nouns} - UNITS


def _longest_run(one: Sequence[str], other: Sequence[str]) -> int:
    """Return how many words in a row two texts have in common."""
    longest = 0
    ends: dict[int, int] = {}
    for word in one:
        ends = {at: ends.get(at - 1, 0) + 1 for at, found in enumerate(other) if found == word}
        longest = max(longest, *ends.values(), 0)
    return longest


def _in_order(places: Sequence[int]) -> int:
    """Return the length of the longest ascending run, gaps allowed."""
    tails: list[int] = []
    for place in places:
        at = bisect_left(tails, place)
        tails[at : at + 1] = [place]
    return len(tails)
