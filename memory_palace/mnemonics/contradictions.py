"""Where a claim follows the wording of a memory and says something else.

Every test is one function ``(claim, memory) -> reasons``. A claim in its own words is tested for
numbers alone: whoever says a thing otherwise uses other negations and other orders too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, groupby, pairwise, product

from memory_palace.language.numbers import Number
from memory_palace.language.opposites import find_allies, find_opposites
from memory_palace.language.tokens import tokenize
from memory_palace.mnemonics.claims import DENIALS, UNITS, Passage, split_sentences

FOLLOWS = 0.65
"""Share of a claim's content words in one sentence of the memory: above, it follows the wording."""
COPIES = 0.8
"""Share above which the order of words is compared too."""
_MUTUAL = 0.4
"""Share that both of two clauses must have in the other to say the same thing."""
QUOTES = 5
"""Words in a row that make a phrase a quotation."""


_NAME = re.compile(r"(?<=[a-z,;] )[A-Z][^\W\d_A-Z]{2,}")


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
        return max(
            self.sentences,
            key=lambda other: (share_content(claim, other), share_content(other, claim)),
        )


def find_contradictions(claim: Passage, source: Source) -> list[str]:
    """Return what of a claim disagrees with a memory, in words; empty where nothing does."""
    return [reason for test in _TESTS for reason in test(claim, source)]


def _numbers(claim: Passage, source: Source) -> Iterator[str]:
    """Yield numbers that the memory does not have; one is too common a word to count."""
    for readings in _readings(claim.numbers):
        known = source.whole.numbers
        if all(number.value == 1 for number in readings) or _is_relative(claim, readings, source):
            continue
        if not any(reading.agrees(other) for reading in readings for other in known):
            yield f"{readings[0].text} is no number of the memory"


def _bindings(claim: Passage, source: Source) -> Iterator[str]:
    """Yield numbers of which every sentence that has them says something else."""
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
    """Yield a clause that is denied where the memory says it, or said where it is denied."""
    for clause in claim.clauses:
        best = max(source.clauses, key=lambda other: _closeness(clause, other), default=clause)
        is_near = _likeness(clause, best) >= FOLLOWS
        differs = (clause.negations + best.negations) % 2 == 1
        if is_near and differs and not _is_made_up_for(clause, best):
            yield f"“{clause.text}” against “{best.text}”"


def _opposites(claim: Passage, source: Source) -> Iterator[str]:
    """Yield a word where the memory has its opposite, of the same thing.

    A denied opposite is no contradiction, and neither is one beside which the memory has the word
    in another form.
    """
    near = source.nearest(claim)
    follows = share_content(claim, near) >= FOLLOWS - 0.1
    for sentence in source.sentences:
        known = claim.stems, sentence.stems
        for clause, other in product(claim.clauses, sentence.clauses):
            found = _opposed(clause, other, known)
            is_told = follows and sentence is near
            if found and (is_told or _beside(clause, found[0]) & _beside(other, found[1])):
                yield f"{found[0]} where the memory has {found[1]}"
                return


def _order(claim: Passage, source: Source) -> Iterator[str]:
    """Yield two things that have changed places in a clause: who does what to whom."""
    for clause in claim.clauses:
        near = max(source.clauses, key=lambda other: _closeness(clause, other), default=clause)
        pair = _exchanged(clause.keys, near.keys) if _follows(clause, near) else None
        if pair:
            yield f"{pair[0]} and {pair[1]} have changed places"


def _crossings(claim: Passage, source: Source) -> Iterator[str]:
    """Yield two clauses that exchange what two of the memory say: half of each is the other's."""
    pairs = (Passage(f"{one.text} {next.text}") for one, next in pairwise(source.sentences))
    for passage in (*source.sentences, *pairs):
        seen: dict[frozenset[int], Passage] = {}
        for clause in claim.clauses:
            places = _places(clause, passage, source)
            if len(places) == 2 and places in seen:
                yield f"“{seen[places].text}” and “{clause.text}” exchange what the memory says"
                return
            seen[places] = clause


def _places(clause: Passage, passage: Passage, source: Source) -> frozenset[int]:
    """Return which clauses of a passage have the words that only one of them has."""
    is_told = share_content(clause, passage) >= FOLLOWS
    if not is_told or share_content(clause, source.whole) < COPIES:
        return frozenset()
    homes = [
        [at for at, other in enumerate(passage.clauses) if key in other.keys] for key in clause.keys
    ]
    return frozenset(found[0] for found in homes if len(found) == 1)


def _names(claim: Passage, source: Source) -> Iterator[str]:
    """Yield names that the memory does not have: capitalised where no sentence begins."""
    for match in _NAME.finditer(claim.text):
        stems = tokenize(match[0])
        if stems and not set(stems) <= {*source.whole.stems, *UNITS}:
            yield f"{match[0]} is no name of the memory"


def _substitutions(claim: Passage, source: Source) -> Iterator[str]:
    """Yield a thing that the memory does not name, in a phrase that is otherwise the memory's."""
    strangers = [noun for noun in claim.nouns if noun not in source.whole.stems]
    if strangers and _longest_run(claim.stems, source.whole.stems) >= QUOTES:
        yield f"{strangers[0]} in a phrase of the memory"


_TESTS: Sequence[Callable[[Passage, Source], Iterator[str]]] = (
    _numbers, _bindings, _negations, _opposites, _order, _crossings, _names, _substitutions,
)  # fmt: skip


def share_content(claim: Passage, other: Passage) -> float:
    """Return the share of a claim's content words, units aside, that another passage has too."""
    mine = [stem for stem in claim.content if stem not in UNITS]
    theirs = set(other.content)
    return sum(stem in theirs for stem in mine) / len(mine) if mine else 0.0


def _likeness(one: Passage, other: Passage) -> float:
    """Return the larger share of either in the other; 0 where they have too little in common."""
    mine, theirs = set(one.keys), set(other.keys)
    common = len(mine & theirs)
    if not common:
        return 0.0
    shares = (common / len(mine), common / len(theirs))
    is_denied_word = common == 1 and any(
        len(passage.keys) == 1 and passage.stems[0] in ("not", "never") for passage in (one, other)
    )
    return max(shares) if (common > 1 and min(shares) >= _MUTUAL) or is_denied_word else 0.0


def _opposed(
    one: Passage, other: Passage, known: tuple[Sequence[str], Sequence[str]]
) -> tuple[str, str] | None:
    """Return a word of a clause and its opposite in another, if neither stands on both sides.

    Clauses that differ in what they deny, or in a condition that turns them, are not comparable.
    """
    if (one.negations + other.negations) % 2 or one.turns != other.turns:
        return None
    mine, theirs = set(known[0]), set(known[1])
    for stem in one.stems:
        against = sorted(find_opposites(stem) & set(other.stems) - mine)
        if against and not find_allies(stem) & theirs:
            return stem, against[0]
    return None


def _is_made_up_for(one: Passage, other: Passage) -> bool:
    """Say whether an opposite or a denying word makes up for a negation: not open, so shut."""
    theirs = set(other.stems) - DENIALS
    is_opposed = any(find_opposites(stem) & theirs for stem in one.stems if stem not in DENIALS)
    return is_opposed or one.denying != other.denying or one.turns != other.turns


def _beside(passage: Passage, stem: str) -> set[str]:
    """Return the content words within two places of a word."""
    stems = [s for s in passage.stems if s == stem or (s in passage.content and s not in UNITS)]
    places = [at for at, found in enumerate(stems) if found == stem]
    return {s for at in places for s in stems[max(0, at - 2) : at + 3]} - {stem}


def _closeness(one: Passage, other: Passage) -> tuple[int, float]:
    return len(set(one.keys) & set(other.keys)), _likeness(one, other)


def _is_relative(claim: Passage, readings: Sequence[Number], source: Source) -> bool:
    """Say whether a number counts times, or is a ``second`` that the memory has as a time."""
    after = claim.text[readings[0].end :].split()[:1]
    word = readings[0].text.casefold()
    return after == ["times"] or (word == "second" and word in source.whole.stems)


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


def _follows(clause: Passage, near: Passage) -> bool:
    return share_content(clause, near) >= COPIES


def _exchanged(mine: Sequence[str], theirs: Sequence[str]) -> tuple[str, str] | None:
    """Return two keys in reverse order that have the same word between them in both."""
    place = {key: at for at, key in enumerate(theirs)}
    common = [key for key in mine if key in place]
    for first, second in combinations(range(len(common)), 2):
        if place[common[first]] < place[common[second]] or not _is_alike(common, first, second):
            continue
        between = set(common[first + 1 : second])
        if between & set(theirs[place[common[second]] + 1 : place[common[first]]]) - _figures(
            between
        ):
            return common[first], common[second]
    return None


def _is_alike(keys: Sequence[str], first: int, second: int) -> bool:
    """Say whether two keys may change places: both words, or both numbers but not years."""
    one, other = keys[first], keys[second]
    numbers = [key for key in (one, other) if key.startswith("=")]
    return not numbers or (len(numbers) == 2 and all(len(key) < 5 for key in numbers))


def _figures(keys: set[str]) -> set[str]:
    return {key for key in keys if key.startswith("=")}
