"""A word that a passage has another one for: its opposite, or another thing of the kind."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from memory_palace.checking.alignment import Alignment
from memory_palace.checking.comparing import (
    FOLLOWS,
    find_closeness,
    longest_run,
    share_content,
    words_beside,
)
from memory_palace.checking.opposites import find_allies, find_opposites
from memory_palace.checking.verdicts import Difference
from memory_palace.checking.wording import UNITS, Wording

QUOTES = 3
"""Words in a row that make a phrase a quotation."""
QUOTED = 0.4
"""Least share of a claim that a quotation makes up."""


def find_opposed_words(
    claim: Wording, passage: Wording, alignment: Alignment
) -> Iterator[Difference]:
    """Yield a word where the passage says its opposite, of the same thing.

    A denied opposite is no contradiction, and neither is one beside which the passage has the word
    in another form.
    """
    for sentence in passage.sentences:
        follows = share_content(claim, sentence) >= FOLLOWS - 0.1
        for clause, other in product(claim.clauses, sentence.clauses):
            found = _opposed(clause, other, claim, sentence)
            if found and (
                follows or words_beside(clause, found[0]) & words_beside(other, found[1])
            ):
                yield _oppose(*found)
                return


def find_mixtures(claim: Wording, passage: Wording, alignment: Alignment) -> Iterator[Difference]:
    """Yield a word of the neighbouring clause, where the clause that is told has its opposite."""
    for clause in claim.clauses:
        for sentence in passage.sentences:
            best = max(sentence.clauses, key=lambda c: find_closeness(clause, c), default=clause)
            if len(set(clause.keys) & set(best.keys)) < 2:
                continue
            for key in clause.keys:
                against = find_opposites(key) & set(best.stems) - set(clause.stems)
                if against and key not in best.stems and key in sentence.stems:
                    yield _oppose(key, min(against))
                    return


def find_substitutions(
    claim: Wording, passage: Wording, alignment: Alignment
) -> Iterator[Difference]:
    """Yield a thing that the passage does not name, in a phrase that is otherwise its own."""
    unknown = [noun for noun in claim.nouns if noun not in alignment.around.stems]
    run = longest_run(claim.stems, passage.stems)
    if unknown and run >= max(QUOTES, QUOTED * len(claim.stems)):
        reason = f"{unknown[0]} is not in the passage, in a phrase taken from it"
        yield Difference("category", reason, unknown[0], "")


def _oppose(mine: str, theirs: str) -> Difference:
    return Difference("category", f"{mine} where the passage says {theirs}", mine, theirs)


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
