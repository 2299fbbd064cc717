"""Districts of rooms, under the words that tell a group of notes from the others around it."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from memory_palace.features.view.grid import Grid, GridCell, GridSpan
from memory_palace.features.view.layout import LaidRoom
from memory_palace.features.view.values import PlanDistrict
from memory_palace.language.words import (
    AUXILIARIES,
    DETERMINERS,
    FUNCTION_WORDS,
    STOPWORDS,
    TIME_WORDS,
    WORDS,
    stem_word,
)

MOST_WORDS = 3
"""Of a label."""
_READ_CHARACTERS = 600
"""Of a note's text: what it is about stands in its beginning."""
_LEAST_SHARE = 0.06
"""Of the notes of a group, that have a word of its label."""
_NEXT_BEST = 0.4
"""A word with less than this share of the first one's weight is not worth its space."""


class LabelText(NamedTuple):
    """What a note offers for the label of its group."""

    title: str
    tags: tuple[str, ...]
    text: str


def draw_districts(
    room: LaidRoom, number: int, cells: Sequence[GridCell], texts: Sequence[LabelText]
) -> list[PlanDistrict]:
    """Return the districts of a room that have notes.

    ``number`` is the room's place on the plan; ``cells`` and ``texts`` are of the notes
    shown.
    """
    inside = [_find_district(room.grid, room.districts, cell) for cell in cells]
    used = sorted({district for district in inside if district >= 0})
    groups = [used.index(district) if district >= 0 else -1 for district in inside]
    labels = label_groups(texts, groups, len(used)) if len(used) > 1 else [""] * len(used)
    return [
        PlanDistrict(number, room.grid.box_of(room.districts[district]), label, groups.count(at))
        for at, (district, label) in enumerate(zip(used, labels, strict=True))
    ]


def _find_district(grid: Grid, districts: Sequence[GridSpan], cell: GridCell) -> int:
    """Return the district that a cell is in; -1 where it is in none."""
    row, column = divmod(cell[0], grid.columns)
    for number, (left, top, right, below) in enumerate(districts):
        if left <= column < right and top <= row < below:
            return number
    return -1


def label_groups(texts: Sequence[LabelText], groups: Sequence[int], count: int) -> list[str]:
    """Return a label of one to three words for each of ``count`` groups, or nothing.

    ``groups`` has the group of each text, or -1 for a text that only counts as one of the others.
    """
    having = [Counter[str]() for _ in range(count + 1)]
    forms: dict[str, Counter[str]] = defaultdict(Counter)
    for text, group in zip(texts, groups, strict=True):
        tags = ". ".join(tag.replace("/", " ") for tag in text.tags)
        found = dict(find_words(f"{text.text[:_READ_CHARACTERS]}. {tags}. {text.title}"))
        having[group].update(found.keys())
        for key, written in found.items():
            forms[key][written] += 1
    whole, sizes = sum(having, Counter[str]()), Counter(groups)
    scores = [_score(having[n], whole, sizes[n], len(texts)) for n in range(count)]
    return [" · ".join(_spell(forms[key]) for key in _choose(found)) for found in scores]


def _spell(forms: Counter[str]) -> str:
    """Return a word in the form in which most notes write it."""
    return min(forms, key=lambda form: (-forms[form], form))


def _score(
    having: Counter[str], whole: Counter[str], notes: int, all_notes: int
) -> dict[str, float]:
    """Return how much more usual each word is in a group than outside: p · log(p / q)².

    The square is for what is rare elsewhere: without it every group of essays is about life.
    """
    scores: dict[str, float] = {}
    for key, count in having.items():
        here = count / notes
        elsewhere = (whole[key] - count + 0.5) / (all_notes - notes + 1)
        if count >= max(2, notes * _LEAST_SHARE) and here > elsewhere:
            scores[key] = here * math.log(here / elsewhere) ** 2
    return scores


def _choose(scores: Mapping[str, float]) -> list[str]:
    """Return the words with the highest scores; of those without spaces none share a character."""
    order = sorted(scores, key=lambda key: (-round(scores[key], 6), key))
    chosen: list[str] = []
    for key in order:
        if scores[key] < _NEXT_BEST * scores[order[0]] or len(chosen) == MOST_WORDS:
            break
        unspaced = "".join(filter(_UNSPACED.match, chosen))
        if not _UNSPACED.match(key) or set(unspaced).isdisjoint(key):
            chosen.append(key)
    return chosen


_LITTLE = (
    STOPWORDS
    | TIME_WORDS
    | FUNCTION_WORDS
    | AUXILIARIES
    | DETERMINERS
    | WORDS["vague"]
    | WORDS["elsewhere"]
    | WORDS["foreign"]
)
"""What says little, in English and some thirty languages."""
_GRAMMAR = frozenset(
    "的了是在和有我你他她它们這这那不就都也很会要说到与及或而等以从被把对于之其中个為"
)
"""Characters of Chinese that are grammar."""
_LINE_NOISE = re.compile(r"https?://\S+|\]\([^()\n]*\)|</?[a-zA-Z][^<>\n]*>|\[\[[^\[\]|\n]*\|")
_WORD = re.compile(r"[^\W\d_][\w'’-]*")
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]")
_SHORTEST, _LONGEST = 3, 24


def find_words(text: str) -> Iterator[tuple[str, str]]:
    """Yield each word that says something as a key, which its other forms share, and as written.

    Of Chinese, Japanese and Korean every two characters in a row are one.
    """
    for found in _WORD.finditer(_LINE_NOISE.sub(" ", text)):
        written = found[0]
        if _UNSPACED.search(written):
            pairs = (written[at : at + 2] for at in range(len(written) - 1))
            yield from ((pair, pair) for pair in pairs if _GRAMMAR.isdisjoint(pair))
        elif word := _read_word(written):
            yield word


@lru_cache(maxsize=1 << 16)
def _read_word(written: str) -> tuple[str, str] | None:
    """Return what forms of a word have in common, and the word; ``None`` for one of no weight."""
    bare = written.strip("'’-_")
    folded = bare.casefold().replace("’", "'").removesuffix("'s")
    is_word = _SHORTEST <= len(folded) <= _LONGEST and folded not in _LITTLE
    return (stem_word(folded, ()), bare) if is_word else None
