"""The words that tell a group of notes from the others around it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from memory_palace.view.words import do_overlap, find_words, is_part

MOST_WORDS = 3
"""Of a label."""
_READ_CHARACTERS = 600
"""Of a note's text: what it is about stands in its beginning."""
_IN_TITLE = 2
"""What a word counts for a note that has it in its title; 1 where it is in tags or text alone."""
_LEAST_SHARE = 0.06
"""Of the notes of a group, that have a word of its label."""
_NEXT_BEST = 0.4
"""A word with less than this share of the first one's weight is not worth its space."""
_PHRASE = 0.5
"""Two words stand for one of them where the weight is at least this share of its own."""


class LabelText(NamedTuple):
    """What a note offers for the label of its group."""

    title: str
    tags: tuple[str, ...]
    text: str


def label_groups(texts: Sequence[LabelText], groups: Sequence[int], count: int) -> list[str]:
    """Return a label of one to three words for each of ``count`` groups, or nothing.

    ``groups`` has the group of each text, or -1 for a text that only counts as one of the others.
    """
    members: list[list[LabelText]] = [[] for _ in range(count + 1)]
    for text, group in zip(texts, groups, strict=True):
        members[group].append(text)
    counted = [_count_words(group) for group in members]
    whole = Counter[str]()
    for words in counted:
        whole.update(words.weights)
    labels: list[str] = []
    for words in counted[:count]:
        scores = _score(words, whole, len(texts))
        labels.append(" · ".join(words.spell(key) for key in _choose(scores)))
    return labels


class _GroupWords(NamedTuple):
    """The words of a group of notes."""

    notes: int
    weights: Mapping[str, int]
    common: Sequence[str]
    """Those that enough of the notes have."""
    forms: Mapping[str, Counter[str]]
    """How many notes write a common word in which form."""

    def spell(self, key: str) -> str:
        """Return a common word in the form in which most notes write it."""
        return min(self.forms[key], key=lambda form: (-self.forms[key][form], form))


def _count_words(group: Sequence[LabelText]) -> _GroupWords:
    having, weights = Counter[str](), Counter[str]()
    written: list[dict[str, str]] = []
    for text in group:
        tags = ". ".join(tag.replace("/", " ") for tag in text.tags)
        found = dict(find_words(f"{tags}. {text.text[:_READ_CHARACTERS]}"))
        titled = dict(find_words(text.title))
        found.update(titled)
        having.update(found.keys())
        weights.update(titled.keys())
        written.append(found)
    least = max(2, math.ceil(len(group) * _LEAST_SHARE))
    common = [key for key, notes in having.items() if notes >= least]
    forms = {key: Counter(found[key] for found in written if key in found) for key in common}
    having.update(weights)  # a word in a title counts twice
    return _GroupWords(len(group), having, common, forms)


def _score(words: _GroupWords, whole: Mapping[str, int], notes: int) -> dict[str, float]:
    """Return how much more usual each word is in a group than outside: p · log(p / q)².

    The square is for what is rare elsewhere: without it every group of essays is about life.
    """
    scores: dict[str, float] = {}
    for key in words.common:
        weight = words.weights[key]
        here = weight / (_IN_TITLE * words.notes)
        elsewhere = (whole[key] - weight + 0.5) / (_IN_TITLE * (notes - words.notes) + 1)
        if here > elsewhere:
            scores[key] = here * math.log(here / elsewhere) ** 2
    return scores


def _choose(scores: Mapping[str, float]) -> list[str]:
    """Return the words with the highest scores that do not say the same."""
    order = sorted(scores, key=lambda key: (-round(scores[key], 6), key))
    chosen: list[str] = []
    for key in order:
        if chosen and scores[key] < _NEXT_BEST * scores[chosen[0]]:
            break
        least = _PHRASE * scores[key]
        longer = [o for o in order if o != key and scores[o] >= least and is_part(key, o)]
        best = max(longer, key=_length, default=key)
        if not any(do_overlap(best, other) for other in chosen):
            chosen.append(best)
        if len(chosen) == MOST_WORDS:
            break
    return chosen


def _length(key: str) -> int:
    """Return how long a word without spaces is; of phrases the first of a list is the longest."""
    return 0 if " " in key else len(key)
