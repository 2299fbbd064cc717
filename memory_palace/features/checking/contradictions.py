"""Find sentences of different texts that contradict each other, by the tests of answer checking.

A pair contradicts if each sentence, checked as an answer against the other, is contradicted, and no
sign of two subjects is found: two seasons, two people, a plan and its outcome.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memory_palace.features.checking.checker import Passage, PassageLibrary, Verdict, check_answer
from memory_palace.features.checking.differences import Difference, WordReader
from memory_palace.features.checking.wording import Wording
from memory_palace.language.tagged_words import Part, split_words
from memory_palace.language.words import tokenize

LEAST_SHARED = 0.3
"""Least share of the shorter sentence's content stems that the other one has too."""
BESIDES = 2
"""``besides`` for texts that a person marks as contradicting: content words that one sentence may
have beyond the difference. Unmarked, one such word already suggests another season or place."""
_OPINIONS = frozenset(
    tokenize(
        "expect plan hope want guess believe think aim estimate forecast propose suggest wish fear "
        "erwarten planen hoffen wollen glauben schätzen "
        "attendre prévoir espérer vouloir croire penser"
    )
)
"""Stems that turn a statement into a plan, wish or opinion."""
_ACTIONS = (Part.VERB, Part.PARTICIPLE)


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Two contradicting sentences with their lines, and the difference between them."""

    first: Passage
    second: Passage
    difference: Difference

    @property
    def reason(self) -> str:
        mine, theirs = self.difference.mine, self.difference.theirs
        if mine and theirs:
            return f"“{mine}” / “{theirs}”"
        return f"“{mine or theirs}” is said by one alone"


def find_contradictions(passages: Sequence[Passage], *, besides: int = 0) -> list[Contradiction]:
    """Return the pairs of contradicting sentences from different passages.

    ``besides``: content words that one sentence may have beyond the difference. A sentence is in
    one pair at most. No embedder is used, so equal notes give equal results with every index. Time
    grows with the sentences, not with the pairs of texts.
    """
    library = PassageLibrary(passages, WordReader(None))
    found: list[Contradiction] = []
    tried: set[frozenset[int]] = set()
    taken: set[int] = set()
    for at, mine in enumerate(library.sentences):
        for place in library.find_near(mine.wording):
            theirs, both = library.sentences[place], frozenset((at, place))
            if theirs.source == mine.source or both in tried or both & taken:
                continue
            tried.add(both)
            first, second = sorted(both)
            one, other = (library.sentences[each].wording for each in (first, second))
            if difference := find_difference(one, other, besides=besides):
                ends = [library.locate(range(each, each + 1)) for each in (first, second)]
                found.append(Contradiction(ends[0], ends[1], difference))
                taken |= both
    return found


def find_difference(first: Wording, second: Wording, *, besides: int = 0) -> Difference | None:
    """Return the difference by which two sentences contradict each other, or ``None``."""
    if not (first.says_something and second.says_something):
        return None
    shorter, longer = sorted((first, second), key=lambda each: len(each.matter))
    if shorter.share_matter(longer) < LEAST_SHARED:
        return None
    back = {(_stems(d.theirs), _stems(d.mine)) for d in _compare(second, first)}
    both = [d for d in _compare(first, second) if (_stems(d.mine), _stems(d.theirs)) in back]
    return both[0] if both and not _speak_of_two(first, second, both, besides) else None


def _compare(claim: Wording, other: Wording) -> Sequence[Difference]:
    passage = Passage("", 1, 1, other.text)
    checked = check_answer(claim.text, [passage])
    return [d for each in checked if each.verdict == Verdict.CONTRADICTED for d in each.differences]


def _speak_of_two(
    first: Wording, second: Wording, differences: Sequence[Difference], besides: int
) -> bool:
    """Whether two sentences differ in subject, time or opinion, and not in one value alone."""
    if bool(_OPINIONS & set(first.stems)) != bool(_OPINIONS & set(second.stems)):
        return True
    told = [_stems(d.mine) | _stems(d.theirs) for d in differences]
    if any(told[0].isdisjoint(other) for other in told[1:]):
        return True
    every = frozenset[str]().union(*told)
    if not (first.matter & second.matter) - told[0]:
        return True
    pairs = ((first, second), (second, first))
    alone = [len(set(_things(one)) - set(other.stems) - every) for one, other in pairs]
    return min(alone) > 0 or max(alone) > besides


def _stems(text: str) -> frozenset[str]:
    return frozenset(tokenize(text))


def _things(text: Wording) -> Iterator[str]:
    """Yield the content stems of a sentence without its verbs, which may be paraphrased."""
    for word in split_words(text.text):
        if word.part not in _ACTIONS:
            yield from (stem for stem in tokenize(word.written) if stem in text.content)
