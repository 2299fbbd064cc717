"""The words that tell a group of notes from the others around it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from memory_palace.view.words import do_overlap, find_words, is_part

MOST_WORDS = 3
"""Of a label."""
_READ_CHARACTERS = 700
"""Of a note's text: what it is about stands in its beginning."""
_IN_TITLE, _IN_TEXT = 2, 1
"""What a word counts for a note that has it in its title, or in its tags or text alone."""
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
    inside = [Counter[str]() for _ in range(count)]
    having = [Counter[str]() for _ in range(count)]
    forms = [Counter[tuple[str, str]]() for _ in range(count)]
    whole, sizes = Counter[str](), Counter(groups)
    for text, group in zip(texts, groups, strict=True):
        weights, written = _weigh_words(text)
        whole.update(weights)
        if group >= 0:
            inside[group].update(weights)
            having[group].update(weights.keys())
            forms[group].update(written)
    labels: list[str] = []
    for group in range(count):
        least = max(2, math.ceil(sizes[group] * _LEAST_SHARE))
        common = {key: n for key, n in inside[group].items() if having[group][key] >= least}
        scores = _score(common, whole, sizes[group], len(texts))
        labels.append(" · ".join(_spell(_choose(scores), forms[group])))
    return labels


def _weigh_words(text: LabelText) -> tuple[Counter[str], set[tuple[str, str]]]:
    weights, written = Counter[str](), set[tuple[str, str]]()
    tags = "\n\n".join(tag.replace("/", " ") for tag in text.tags)
    for key, form in find_words(f"{tags}\n\n{text.text[:_READ_CHARACTERS]}"):
        weights[key] = _IN_TEXT
        written.add((key, form))
    for key, form in find_words(text.title):
        weights[key] = _IN_TITLE
        written.add((key, form))
    return weights, written


def _score(
    inside: Mapping[str, int], whole: Mapping[str, int], size: int, notes: int
) -> dict[str, float]:
    """Return how much more usual each word is in a group than outside: p · log(p / q)².

    The square is for what is rare elsewhere: without it every group of essays is about life.
    """
    scores: dict[str, float] = {}
    for key, weight in inside.items():
        here = weight / (_IN_TITLE * size)
        elsewhere = (whole[key] - weight + 0.5) / (_IN_TITLE * (notes - size) + 1)
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


def _spell(keys: Iterable[str], forms: Mapping[tuple[str, str], int]) -> list[str]:
    """Return each word in the form in which most notes write it."""
    spelled: list[str] = []
    for key in keys:
        found = [(-count, form) for (other, form), count in forms.items() if other == key]
        spelled.append(min(found)[1])
    return spelled
