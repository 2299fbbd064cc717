"""Which words of a passage the words of a claim stand for, and what stands beside them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from memory_palace.checking.alignment import Alignment
from memory_palace.checking.numerals import NUMBER_WORDS
from memory_palace.checking.polarity import Stance, find_stances
from memory_palace.checking.wording import Wording

LIKE = 0.75
"""Likeness of two words from which on they stand for the same."""


@dataclass(frozen=True)
class Text:
    """A wording with the stance of each of its words."""

    wording: Wording

    @cached_property
    def stances(self) -> tuple[Stance, ...]:
        """Clause and denial of each word."""
        return find_stances(self.wording)

    @cached_property
    def telling(self) -> tuple[int, ...]:
        """Places of the words that say something; numbers are others' business."""
        return tuple(
            at
            for at, word in enumerate(self.wording.words)
            if word.is_telling and not word.key[0].isdigit() and word.key not in NUMBER_WORDS
        )

    @cached_property
    def stems(self) -> frozenset[str]:
        """Stems of all words."""
        return frozenset(word.stem for word in self.wording.words)

    @cached_property
    def _sentences(self) -> Mapping[int, frozenset[str]]:
        return self._gather(lambda stance: stance.sentence)

    @cached_property
    def _clause_stems(self) -> Mapping[int, frozenset[str]]:
        return self._gather(lambda stance: stance.clause)

    @cached_property
    def _clauses(self) -> Mapping[int, list[int]]:
        found = defaultdict[int, list[int]](list)
        for place in self.telling:
            found[self.stances[place].clause].append(place)
        return found

    def _gather(self, number: Callable[[Stance], int]) -> Mapping[int, frozenset[str]]:
        found = defaultdict[int, set[str]](set)
        for word, stance in zip(self.wording.words, self.stances, strict=True):
            found[number(stance)].add(word.stem)
        return {part: frozenset(stems) for part, stems in found.items()}

    def sentence(self, at: int) -> frozenset[str]:
        """Return the stems of the sentence that a word stands in."""
        return self._sentences[self.stances[at].sentence]

    def clause(self, at: int) -> list[int]:
        """Return the places of the telling words in the clause of a word."""
        return self._clauses.get(self.stances[at].clause, [])

    def clause_stems(self, at: int) -> frozenset[str]:
        """Return the stems of all words in the clause of a word."""
        return self._clause_stems[self.stances[at].clause]

    def beside(self, at: int, width: int) -> list[int]:
        """Return the telling words next to a place, ``width`` of them on either side."""
        start, end = bisect_left(self.telling, at), bisect_right(self.telling, at)
        return [*self.telling[max(0, start - width) : start], *self.telling[end : end + width]]

    def phrase(self, places: Iterable[int]) -> str:
        """Return some words in order, as they are written."""
        return " ".join(self.wording.cut([at]) for at in sorted(places))

    def quote(self, at: int) -> str:
        """Return the clause of a word as it is written."""
        clause = self.stances[at].clause
        return self.wording.cut([p for p, each in enumerate(self.stances) if each.clause == clause])


class Partners:
    """A claim and a passage, and for each word of either where the other has it."""

    def __init__(self, claim: Wording, passage: Wording, alignment: Alignment) -> None:
        self.mine, self.theirs = Text(claim), Text(passage)
        places: dict[str, list[int]] = {}
        for at, word in enumerate(passage.words):
            places.setdefault(word.stem, []).append(at)
        self.of_mine: dict[int, tuple[int, ...]] = {}
        for pair in alignment.pairs:
            same = places.get(claim.words[pair.mine].stem)
            if same:
                self.of_mine[pair.mine] = tuple(same)
            elif pair.likeness >= LIKE:
                self.of_mine[pair.mine] = (pair.theirs,)

    def find(self, at: int) -> tuple[int, ...]:
        """Return where the passage has a word of the claim; nowhere, in most cases of a change."""
        return self.of_mine.get(at, ())

    def share(self, mine: Sequence[int], theirs: Sequence[int]) -> float:
        """Return the share of some words of the claim that some words of the passage are."""
        others = frozenset(theirs)
        shared = sum(not others.isdisjoint(self.find(at)) for at in mine)
        return shared / len(mine) if mine else 0.0
