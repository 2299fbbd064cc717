"""Name groups of notes by words that several of their titles share; no name where none fits."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from memory_palace.language.words import (
    AUXILIARIES,
    DETERMINERS,
    FUNCTION_WORDS,
    STOPWORDS,
    TIME_WORDS,
    WORDS,
    stem_word,
)


class Described(NamedTuple):
    """What of a note its group may be named by."""

    title: str
    tags: tuple[str, ...] = ()
    text: str = ""


_LEAST_TITLES = 3
"""Fewest titles of a group that have its term; of a small group two."""
_LEAST_SHARE = 0.2
"""Lowest share of a group's notes that have its term in the title or the first characters."""
_MOST_LEFT = 0.4
"""Share of a group's notes without its term from which on a second term is looked for."""
_READ_CHARACTERS = 600
"""Characters read of a text, whose beginning states the subject."""
_MOST_TERMS = 2
_LONGER = 0.25
"""Gain of a term by each word after its first."""


def name_groups(
    notes: Sequence[Described], groups: Sequence[int], within: Sequence[str]
) -> list[str]:
    """Return a name of one or two terms for each group, empty where none fits.

    ``groups`` has the group of each note, or -1 for one that only serves as contrast; ``within``
    the name of what each group is a part of, whose words are not repeated, nor those of another
    part of it. A term is up to three words of a title. It must stand in several titles of the
    group, be met at the beginning of a fifth of its notes, and be rarer elsewhere.
    """
    titled, members = [Counter[str]() for _ in within], [set[int]() for _ in within]
    forms: dict[str, Counter[str]] = defaultdict(Counter)
    for place, (note, group) in enumerate(zip(notes, groups, strict=True)):
        if group >= 0:
            members[group].add(place)
            for key, written in find_terms(note.title).items():
                titled[group][key] += 1
                forms[key][written] += 1
    having: dict[str, set[int]] = {
        key: set() for counts in titled for key, count in counts.items() if count > 1
    }
    for place, note in enumerate(notes):
        for key in _words_of(note):
            if key in having:
                having[key].add(place)
    for key in [key for key in having if " " in key]:
        having[key] = set.intersection(*(having.get(part, set()) for part in key.split(" ")))
    taken: dict[str, set[str]] = {name: set() for name in within}
    names = []
    for name, titles, places in zip(within, titled, members, strict=True):
        words = {*" ".join(find_terms(name)).split()}
        chosen = _choose(titles, having, places, len(notes), words, taken[name])
        taken[name].update(chosen)
        names.append(" · ".join(_spell(forms[key]) for key in chosen))
    return names


def _choose(
    titled: Mapping[str, int],
    having: Mapping[str, set[int]],
    members: set[int],
    all_notes: int,
    words: set[str],
    taken: set[str],
) -> list[str]:
    """Return the term with the highest score, and one for most of the rest, if it has one.

    The score is ``p · log(p / q)²``, ``p`` and ``q`` the share of notes in and outside. The square
    favors terms that are rare elsewhere. No term is ``taken`` or has one of ``words``.
    """
    chosen: list[str] = []
    left = members
    least = min(_LEAST_TITLES, max(2, len(members) // 10))
    while len(chosen) < _MOST_TERMS and len(left) > len(members) * _MOST_LEFT:
        scores = {}
        for key, titles in titled.items():
            if titles < least or key in taken or not words.isdisjoint(key.split(" ")):
                continue
            inside = len(having[key] & left) / len(left)
            outside = (len(having[key] - members) + 0.5) / (all_notes - len(members) + 1)
            if inside >= _LEAST_SHARE and inside > 2 * outside:
                weight = inside * (1 + _LONGER * key.count(" ")) + titles / len(members)
                scores[key] = weight * math.log(inside / outside) ** 2
        if not scores:
            break
        chosen.append(min(scores, key=lambda key: (-round(scores[key], 6), -len(key), key)))
        words.update(chosen[-1].split(" "))
        left = left - having[chosen[-1]]
    return chosen


def _spell(forms: Counter[str]) -> str:
    form = min(forms, key=lambda form: (-forms[form], form))
    return form[:1].upper() + form[1:]


_LITTLE = STOPWORDS | TIME_WORDS | FUNCTION_WORDS | AUXILIARIES | DETERMINERS
_LITTLE |= WORDS["vague"] | WORDS["elsewhere"] | WORDS["foreign"]
"""Words of little meaning in English and some thirty languages."""
_LINE_NOISE = re.compile(r"https?://\S+|\]\([^()\n]*\)|</?[a-zA-Z][^<>\n]*>|\[\[[^\[\]|\n]*\|")
_WORD = re.compile(r"[^\W\d_][\w'’-]*")
_BREAK = re.compile(r"[^\w\s'’-]+|\s[-–—]+\s")
_HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_KATAKANA, _HANGUL = "\u30a1-\u30fa\u30fc", "\uac00-\ud7af"
_UNSPACED = re.compile(f"[{_HAN}]+|[{_KATAKANA}]+|[{_HANGUL}]+")
_ANY_UNSPACED = re.compile(f"[{_HAN}{_KATAKANA}{_HANGUL}\u3040-\u309f]")
_GRAMMAR = frozenset(
    "的了是在和有我你他她它们這这那不就都也很会要说到与及或而等以从被把对于之其中个為"
)
"""Chinese characters that are function words."""
_MOST_HAN = 4
_SHORTEST, _LONGEST = 3, 24


def find_terms(text: str) -> dict[str, str]:
    """Return the terms of a title: their keys, the stems, and how they are written.

    A term is one to three words, content words first and last. Of a script without spaces it is a
    run of Katakana, two to four Han characters or the beginning of a Korean word.
    """
    found: dict[str, str] = {}
    for part in _BREAK.split(text.replace("/", " / ")):
        words = [word[0] for word in _WORD.finditer(part)]
        stems = [_stem_of(word) for word in words]
        for first in range(len(words)):
            for last in range(first, min(first + 3, len(words))):
                here = stems[first : last + 1]
                if here[0] and here[-1]:
                    found[" ".join(filter(None, here))] = " ".join(words[first : last + 1])
        for term in _find_unspaced(part):
            found[term] = term
    return found


def _find_unspaced(text: str) -> Iterator[str]:
    for run in _UNSPACED.finditer(text):
        term = run[0]
        if re.match(f"[{_HAN}]", term):
            for size in range(2, _MOST_HAN + 1):
                pieces = (term[at : at + size] for at in range(len(term) - size + 1))
                yield from (piece for piece in pieces if _GRAMMAR.isdisjoint(piece))
        elif re.match(f"[{_HANGUL}]", term):
            yield from (term[:size] for size in range(2, len(term) + 1))
        elif len(term) > 1:
            yield term


@lru_cache(maxsize=1 << 16)
def _stem_of(word: str) -> str | None:
    """Return a word's stem, ``None`` for a stop word, unusual length or a script without spaces."""
    bare = word.strip("'’-_")
    folded = bare.casefold().replace("’", "'").removesuffix("'s")
    is_word = _SHORTEST <= len(folded) <= _LONGEST and folded not in _LITTLE
    return stem_word(folded, ()) if is_word and not _ANY_UNSPACED.search(bare) else None


def _words_of(note: Described) -> set[str]:
    """Return the single terms in a note's title, tags and beginning."""
    text = f"{note.title}. {' '.join(note.tags)}. {note.text[:_READ_CHARACTERS]}"
    text = _LINE_NOISE.sub(" ", text)
    found = {stem for word in _WORD.finditer(text) if (stem := _stem_of(word[0]))}
    return found.union(_find_unspaced(text))
