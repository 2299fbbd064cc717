"""How two passages compare: what they share, how near they are, what they exchange.

For exchanges a sentence is read as statements that stand side by side: ``quiet sleep, in which it
is pale, and active sleep, in which colours run`` are two. What only one of them has is its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

from memory_palace.checking.wording import UNITS, Wording

FOLLOWS = 0.65
"""Share of a claim's content words in one sentence: above, it follows the wording."""
_MUTUAL = 0.4
"""Share that both of two clauses must have in the other to say the same thing."""


def share_content(claim: Wording, other: Wording) -> float:
    """Return the share of a claim's content words, units aside, that another passage has too."""
    mine = [stem for stem in claim.content if stem not in UNITS]
    theirs = set(other.content)
    return sum(stem in theirs for stem in mine) / len(mine) if mine else 0.0


def find_likeness(one: Wording, other: Wording) -> float:
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


def words_beside(passage: Wording, stem: str) -> set[str]:
    """Return the content words within two places of a word."""
    stems = [s for s in passage.stems if s == stem or (s in passage.content and s not in UNITS)]
    places = [at for at, found in enumerate(stems) if found == stem]
    return {s for at in places for s in stems[max(0, at - 2) : at + 3]} - {stem}


def find_closeness(one: Wording, other: Wording) -> tuple[int, float]:
    """Return how much two passages have in common, by count, then by share."""
    return len(set(one.keys) & set(other.keys)), find_likeness(one, other)


def longest_run(one: Sequence[str], other: Sequence[str]) -> int:
    """Return how many words in a row two texts have in common."""
    longest = 0
    ends: dict[int, int] = {}
    for word in one:
        ends = {at: ends.get(at - 1, 0) + 1 for at, found in enumerate(other) if found == word}
        longest = max(longest, *ends.values(), 0)
    return longest


def find_exchanged(mine: Sequence[str], theirs: Sequence[str]) -> tuple[str, str] | None:
    """Return two keys in reverse order that have the same word between them in both."""
    place = {key: at for at, key in enumerate(theirs)}
    common = [key for key in mine if key in place]
    for first, second in combinations(range(len(common)), 2):
        if place[common[first]] < place[common[second]] or not _is_alike(common, first, second):
            continue
        between = {key for key in common[first + 1 : second] if not key.startswith("=")}
        if between & set(theirs[place[common[second]] + 1 : place[common[first]]]):
            return common[first], common[second]
    return None


def _is_alike(keys: Sequence[str], first: int, second: int) -> bool:
    """Say whether two keys may change places: both words, or both numbers but not years."""
    one, other = keys[first], keys[second]
    numbers = [key for key in (one, other) if key.startswith("=")]
    return not numbers or (len(numbers) == 2 and all(len(key) < 5 for key in numbers))


_MARK = re.compile(r"[,;:()–—]\s+|(?<!\s)\s+(?:and|but|while|whereas)\s+")
_DEPENDENT = re.compile(
    r"(?:(?:in|of|by|to|on|at|for|with|from|during)\s+)?(?:which|who|whom|whose|that)\b"
    r"|(?:because|since|so|as)\b",
    re.IGNORECASE,
)
"""What begins like this belongs to the statement before it."""
_CHANGE = re.compile(r"\bfrom (?P<start>[^,.;]{1,40}?) to (?P<end>[^,.;]{1,40})", re.IGNORECASE)
_LEAST_SHARE = 0.6
"""Share of a statement's keys that a passage must have. No right sentence of the development cases
exchanges anything then."""


@dataclass(frozen=True, slots=True)
class _StatementMatch:
    """One statement of a claim beside the statements of a passage."""

    text: str
    share: float
    """Of its keys, in any statement of the passage."""
    homes: frozenset[int]
    """Places of the statements of which it has a key that no other has."""


def find_crossings(claim: Wording, sentences: Sequence[Wording]) -> Iterator[str]:
    """Yield the first exchange: two statements that have words of their own of the same two."""
    for passage in _passages(sentences):
        matches = list(_compare(claim, passage))
        for one, other in combinations(matches, 2):
            if min(one.share, other.share) >= _LEAST_SHARE and len(one.homes & other.homes) > 1:
                yield f"“{one.text}” and “{other.text}” swap what the passage says"
                return


def _passages(sentences: Sequence[Wording]) -> Iterator[list[Wording]]:
    """Yield sentences as statements: each alone, with the next one, and both as one each."""
    split = [split_statements(sentence) for sentence in sentences]
    yield from split
    for one, following in pairwise(split):
        yield [*one, *following]
    for pair in pairwise(sentences):
        yield list(pair)


def split_statements(sentence: Wording) -> list[Wording]:
    """Return the statements of a sentence, with the clauses that depend on them."""
    parts: list[str] = []
    for part in _MARK.split(sentence.text):
        if parts and _DEPENDENT.match(part):
            parts[-1] += f", {part}"
        elif part.strip():
            parts.append(part)
    return [Wording(part) for part in parts]


def _compare(claim: Wording, passage: Sequence[Wording]) -> Iterator[_StatementMatch]:
    own, known = _own_keys(passage), {key for part in passage for key in part.keys}
    for statement in split_statements(claim):
        keys = frozenset(statement.keys)
        if len(keys) > 1:
            homes = frozenset(at for at, mine in enumerate(own) if keys & mine)
            yield _StatementMatch(statement.text, len(keys & known) / len(keys), homes)


def _own_keys(passage: Sequence[Wording]) -> list[frozenset[str]]:
    keys = [frozenset(part.keys) for part in passage]
    return [
        mine.difference(*(other for at, other in enumerate(keys) if at != place))
        for place, mine in enumerate(keys)
    ]


def find_reversals(claim: Wording, sentences: Sequence[Wording]) -> Iterator[str]:
    """Yield a change told backwards: ``from 480 to 200`` where it was ``from 200 to 480``."""
    known = [ends for sentence in sentences for ends in _find_changes(sentence)]
    for start, end in _find_changes(claim):
        if any(start & last and end & first and not start & first for first, last in known):
            yield "the change runs the other way in the passage"
            return


def _find_changes(passage: Wording) -> Iterator[tuple[frozenset[str], frozenset[str]]]:
    for match in _CHANGE.finditer(passage.text):
        yield frozenset(Wording(match["start"]).keys), frozenset(Wording(match["end"]).keys)
