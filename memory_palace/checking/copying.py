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

from memory_palace.checking.alignment import Alignment, Change
from memory_palace.checking.numbers import Number
from memory_palace.checking.opposites import find_opposites
from memory_palace.checking.verdicts import Difference, DifferenceKind
from memory_palace.checking.wording import ABOUT_REMEMBERING, UNITS, Wording, WrittenWord
from memory_palace.language.tokens import tokenize
from memory_palace.language.word_lists import TIME_WORDS, is_negation

COPIES = 0.6
"""Share of a claim's telling words that stand in the passage in the same order."""
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
_MODALS = frozenset({"may", "might", "can"})
_LIGHT = frozenset(tokenize("give get make take have do go come put keep let use"))
"""Verbs that stand for many others: who feeds owls with mice gives them mice."""
_SAYS_LITTLE = _LIGHT | UNITS | ABOUT_REMEMBERING


def find_copied_changes(
    claim: Wording, passage: Wording, alignment: Alignment
) -> Iterator[Difference]:
    """Yield what differs in a claim, or a part of it, that copies the passage."""
    copies = _share_copied(claim, alignment) >= COPIES
    reader = _ChangeReader(claim, passage, alignment)
    for change in alignment.changes:
        difference = reader.read(change) if copies else None
        if difference is not None:
            yield difference


def _share_copied(claim: Wording, alignment: Alignment) -> float:
    changed = {place for change in alignment.changes for place in change.mine}
    telling = [place for place, word in enumerate(claim.words) if word.is_telling]
    return sum(place not in changed for place in telling) / len(telling) if telling else 0.0


class _ChangeReader:
    """Says what a change means, if it means anything."""

    def __init__(self, claim: Wording, passage: Wording, alignment: Alignment) -> None:
        self._claim, self._passage, self._alignment = claim, passage, alignment
        self._elsewhere = _find_elsewhere(claim, passage, alignment)

    def read(self, change: Change) -> Difference | None:
        mine = [self._claim.words[place] for place in change.mine]
        theirs = [self._passage.words[place] for place in change.theirs]
        kind = (
            self._compare_numbers(mine, theirs)
            or _compare_negations(mine, theirs)
            or _compare_function_words(mine, theirs)
            or self._compare_content(mine, theirs)
        )
        return None if kind is None else self._describe(kind, change)

    def _compare_numbers(
        self, mine: Sequence[WrittenWord], theirs: Sequence[WrittenWord]
    ) -> DifferenceKind | None:
        one, other = _numbers_in(self._claim, mine), _numbers_in(self._passage, theirs)
        if one and other and not any(a.agrees(b) for a in one for b in other):
            return "number"
        return None

    def _compare_content(
        self, mine: Sequence[WrittenWord], theirs: Sequence[WrittenWord]
    ) -> DifferenceKind | None:
        numbers = {place for n in self._claim.numbers for place in range(n.start, n.end)}
        telling = [w for w in mine if w.is_telling and w.start not in numbers]
        telling = [w for w in telling if w.stem not in _SAYS_LITTLE]
        others = [word for word in theirs if word.is_telling and word.key not in _MODALS]
        if any(word.key in TIME_WORDS for word in others):
            telling = [word for word in telling if word.key not in TIME_WORDS]  # see times.py
        for word in telling if others else ():
            is_said = any(self._is_same(word, other) for other in others)
            if not is_said and word.stem not in self._elsewhere:
                return _kind_of(word, self._claim)
        return None

    def _is_same(self, mine: WrittenWord, theirs: WrittenWord) -> bool:
        if theirs.stem in find_opposites(mine.stem):
            return False
        return mine.stem == theirs.stem or self._alignment.reader.is_synonym(mine.key, theirs.key)

    def _describe(self, kind: DifferenceKind, change: Change) -> Difference:
        mine = _write(self._claim, change.mine)
        theirs = _write(self._passage, change.theirs)
        if mine and theirs:
            reason = f"“{mine}” against “{theirs}”"
        else:
            reason = f"“{mine}” is added" if mine else f"“{theirs}” is left out"
        return Difference(kind, reason, mine, theirs)


def _find_elsewhere(claim: Wording, passage: Wording, alignment: Alignment) -> frozenset[str]:
    """Return stems that the passage has beside what is copied; what they trade, others look at."""
    changed = {place for change in alignment.changes for place in change.mine}
    left = Counter(word.stem for word in passage.words)
    left -= Counter(word.stem for at, word in enumerate(claim.words) if at not in changed)
    return frozenset(left)


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


def _write(wording: Wording, places: range) -> str:
    if not places:
        return ""
    return wording.text[wording.words[places[0]].start : wording.words[places[-1]].end]


@cache
def _read_groups() -> tuple[dict[str, int], ...]:
    lines = [line.split("|") for line in _GROUPS.strip().split("\n")]
    return tuple(
        {word: place for place, group in enumerate(line) for word in group.split()}
        for line in lines
    )
