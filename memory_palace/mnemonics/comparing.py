"""How two passages compare: what they share, how near they are, what stands in another order."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from memory_palace.mnemonics.claims import UNITS, Wording

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
