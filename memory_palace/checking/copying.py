"""What differs where a claim copies a passage word by word.

Text that has most words of a sentence in their order, and another word in one place, is almost
never a paraphrase of it. So there whatever carries meaning is a difference: a word that stands for
another one and is no synonym of it, a negation that comes or goes, another preposition of time or
direction, another quantity. A word that is put in, or said elsewhere in the passage, is none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import product

from memory_palace.checking.alignment import Alignment, Change
from memory_palace.checking.numbers import Number
from memory_palace.checking.opposites import find_opposites
from memory_palace.checking.units import NO_UNIT, find_unit
from memory_palace.checking.verdicts import Difference, DifferenceKind, differ
from memory_palace.checking.wording import ABOUT_REMEMBERING, UNITS, Wording, WrittenWord
from memory_palace.language.tokens import tokenize
from memory_palace.language.word_lists import TIME_WORDS, is_negation

_COPIES = 0.7
"""Share of a claim's telling words that stand in the passage in the same order. At .6 twice as many
right answers in a person's own words were called contradicted (.22 of 120, .12 at .7)."""
_ONE_FACT = 3
"""Telling words that one changed fact has at most; what stands for more is said in other words."""
_GROUPS = """
before | after | until till | during
all every each both always | some several sometimes | most mostly usually often | few rarely seldom
all every each both always | no none never neither nobody nothing
some several sometimes | no none never neither nobody nothing
only just solely | also even
must has have shall | may might can could | should
from | to into toward towards
in inside within into | out outside
with | without
above over | below under beneath
more greater | less fewer lower
most | least
and | or
because since | although though despite | unless | if
up | down
he him his himself | she her hers herself
"""
"""Function words in groups that exclude each other, a set of groups a line."""
_EARLIER = frozenset(
    "before until till prior ahead earlier preceded precedes preceding first beforehand initially "
    "previously".split()
)
_LATER = frozenset(
    "after afterwards following followed follows once then later subsequently last lastly finally "
    "next second eventually".split()
)
_MODALS = frozenset({"may", "might", "can"})
_LIGHT = frozenset(tokenize("give get make take have do go come put keep let use"))
"""Verbs that stand for many others: who feeds owls with mice gives them mice."""
_SAYS_LITTLE = _LIGHT | ABOUT_REMEMBERING


def find_copied_changes(
    claim: Wording, passage: Wording, alignment: Alignment
) -> Iterator[Difference]:
    """Yield what differs in a claim, or a part of it, that copies the passage."""
    copies = _share_copied(claim, alignment) >= _COPIES
    reader = _ChangeReader(claim, passage, alignment)
    for change in alignment.changes:
        difference = reader.read(change) if copies else None
        if difference is not None:
            yield difference


def find_other_connections(
    claim: Wording, passage: Wording, alignment: Alignment
) -> Iterator[Difference]:
    """Yield a word of order that stands where a copied sentence has none, or one of another sense.

    "When" and "since" are other senses than "before". A word of order that was left out is none.
    """
    if not alignment.is_copied:
        return
    for change in alignment.changes:
        mine = [claim.words[at].key for at in change.mine]
        theirs = [passage.words[at].key for at in change.theirs]
        senses = _find_senses(mine)
        if senses and theirs and not senses & _find_senses(theirs):
            yield differ("order", claim.cut(change.mine), passage.cut(change.theirs))
            return


def _find_senses(keys: Sequence[str]) -> frozenset[str]:
    lists = {"earlier": _EARLIER, "later": _LATER}
    return frozenset(sense for sense, words in lists.items() if not words.isdisjoint(keys))


def _share_copied(claim: Wording, alignment: Alignment) -> float:
    changed = {place for change in alignment.changes for place in change.mine}
    telling = [place for place, word in enumerate(claim.words) if word.is_telling]
    return sum(place not in changed for place in telling) / len(telling) if telling else 0.0


class _ChangeReader:
    """Says what a change means, if it means anything."""

    def __init__(self, claim: Wording, passage: Wording, alignment: Alignment) -> None:
        self._claim, self._passage, self._alignment = claim, passage, alignment
        changed = {place for change in alignment.changes for place in change.mine}
        kept = (word.stem for at, word in enumerate(claim.words) if at not in changed)
        self._copied = Counter(kept)
        self._digits = {at for number in claim.numbers for at in range(number.start, number.end)}

    def read(self, change: Change) -> Difference | None:
        mine = [self._claim.words[place] for place in change.mine]
        theirs = [self._passage.words[place] for place in change.theirs]
        numbers = _numbers_in(self._claim, mine), _numbers_in(self._passage, theirs)
        if all(numbers) and not any(a.agrees(b) for a, b in product(*numbers)):
            return self._describe("number", change)
        kind = (
            _compare_negations(mine, theirs)
            or _compare_function_words(mine, theirs)
            or self._compare_content(change, mine, theirs, has_numbers=any(numbers))
        )
        return None if kind is None else self._describe(kind, change)

    def _compare_content(
        self,
        change: Change,
        mine: Sequence[WrittenWord],
        theirs: Sequence[WrittenWord],
        *,
        has_numbers: bool,
    ) -> DifferenceKind | None:
        """Compare words that tell something; those of amounts are for other tests."""
        others = [word for word in theirs if _tells(word) and word.key not in _MODALS]
        if not others or max(len(others), sum(map(_tells, mine))) > _ONE_FACT:
            return None
        elsewhere = self._find_elsewhere(change)
        for word in filter(_tells, mine):
            is_amount = has_numbers and (word.stem in UNITS or word.key in TIME_WORDS)
            if is_amount or word.start in self._digits or word.stem in elsewhere:
                continue
            if not any(self._is_same(word, other) for other in others):
                return _kind_of(word, self._claim)
        return None

    def _find_elsewhere(self, change: Change) -> frozenset[str]:
        """Return stems that the sentence has beside what is copied; other tests see trades."""
        start, end = 0, len(self._passage.words)
        is_inside = change.mine.start > 0 and change.mine.stop < len(self._claim.words)
        if is_inside and self._passage.parts:
            start = end = 0
            for part in self._passage.parts:
                start, end = end, end + len(part.words)
                if change.theirs.start < end:
                    break
        left = Counter(word.stem for word in self._passage.words[start:end])
        return frozenset(left - self._copied)

    def _is_same(self, mine: WrittenWord, theirs: WrittenWord) -> bool:
        if mine.stem == theirs.stem:
            return True
        if theirs.stem in find_opposites(mine.stem):
            return False
        if mine.stem in UNITS or theirs.stem in UNITS:
            return find_unit(mine.key, 0)[0] == find_unit(theirs.key, 0)[0] != NO_UNIT
        return self._alignment.reader.is_synonym(mine.key, theirs.key)

    def _describe(self, kind: DifferenceKind, change: Change) -> Difference:
        return differ(kind, self._claim.cut(change.mine), self._passage.cut(change.theirs))


def _tells(word: WrittenWord) -> bool:
    return word.is_telling and word.stem not in _SAYS_LITTLE


def _compare_negations(
    mine: Sequence[WrittenWord], theirs: Sequence[WrittenWord]
) -> DifferenceKind | None:
    if any(word.is_telling for word in mine) and any(word.is_telling for word in theirs):
        return None  # a whole phrase stands for another
    denied = [sum(is_negation(word.key) for word in words) % 2 for words in (mine, theirs)]
    if denied[0] == denied[1]:
        return None
    stems = {word.stem for word in theirs}
    return None if any(find_opposites(word.stem) & stems for word in mine) else "negation"


def _compare_function_words(
    mine: Sequence[WrittenWord], theirs: Sequence[WrittenWord]
) -> DifferenceKind | None:
    for line in _read_groups():
        one, other = ({line[w.key] for w in words if w.key in line} for words in (mine, theirs))
        if one and other and not one & other:
            return "time" if "before" in line else "category"
    return None


def _kind_of(word: WrittenWord, claim: Wording) -> DifferenceKind:
    if word.key in TIME_WORDS:
        return "time"
    is_capital = claim.text[word.start].isupper() and word.start > 0
    return "name" if is_capital else "category"


def _numbers_in(wording: Wording, words: Sequence[WrittenWord]) -> list[Number]:
    if not words:
        return []
    start, end = words[0].start, words[-1].end
    return [number for number in wording.numbers if start <= number.start < end]


@cache
def _read_groups() -> tuple[dict[str, int], ...]:
    lines = [line.split("|") for line in _GROUPS.strip().split("\n")]
    return tuple(
        {word: place for place, group in enumerate(line) for word in group.split()}
        for line in lines
    )
