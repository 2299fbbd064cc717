"""How people say what was wrong, tried, done and learned: headings and words, by language."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import Literal, TypeAlias
from unicodedata import normalize

TelegraphPart: TypeAlias = Literal["background", "failed", "solution", "principle", "left_out"]
CueKind: TypeAlias = Literal[
    "attempt", "adverse", "success", "turn", "lesson", "general", "past", "trouble", "reason"
]

_PHRASES: Mapping[str, Mapping[str, Mapping[str, Sequence[str]]]] = tomllib.loads(
    files("memory_palace.metabolism").joinpath("telegraph.toml").read_text("utf-8")
)
LANGUAGES = tuple(_PHRASES["cues"]["function"])
_UNSPACED = "\u0e00-\u0eff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff"
"""Scripts in which a phrase may begin and end inside of what looks like one word."""
_AROUND = re.compile(r"\([^()]*+\)|（[^（）]*+）|[\d#.:：!?！？*_`–—-]++")
"""What a heading has beside its words: "2. Fix (Tuesday):"."""
_ARTICLE = re.compile(r"\b[Dd]as (?=[A-ZÄÖÜ])")
"""The German article, which points at nothing, as ``das`` alone does."""
_MOST_CHARACTERS = 2_000
"""Of a text that are looked at: no sentence of a person is longer."""
_FAR, _FAR_UNSPACED = 16, 2
"""Characters from the beginning within which a word points back."""
_ASKING = re.compile(r"(?:what|was|ce qu[ei]|lo que|qué|cosa|ciò che|o que|wat|что)\b")
"""How headings begin that say in words of their own what helped and what did not."""
_JOINER = 5
"""Characters between two names of parts in one heading, at most: " and "."""
_NEAR = 5
"""Words between one that denies and what it denies, at most."""
_SHARE, _FEW = 0.5, 3
"""A language counts that a text has at least this share of the first one's commonest words of."""


class Phrasing:
    """The phrases of some languages."""

    def __init__(self, languages: Collection[str]) -> None:
        chosen = tuple(name for name in LANGUAGES if name in languages)
        self.has_ordinals = "de" in chosen
        """Whether a figure before a full stop is an ordinal: "Am 3. Oktober"."""
        self._headings = _read_headings(chosen)
        self._named = _compile(tuple(self._headings))
        self._kinds = {
            kind: _compile(tuple(p for n in ("en", *chosen) for p in _PHRASES[kind]["headings"][n]))
            for kind in ("goals", "causes")
        }
        self._cues = {
            name: _compile(tuple(phrase for language in chosen for phrase in lists[language]))
            for name, lists in _PHRASES["cues"].items()
        }

    def part_of(self, heading: str, *, least_share: float = 0.0) -> TelegraphPart | None:
        """Return the part whose headings have the longest phrase of a heading.

        ``least_share`` is how much of the heading that phrase must be, in words or in characters;
        half of it where the phrase names what is left out.
        """
        words = fold(_AROUND.sub(" ", heading[:_MOST_CHARACTERS]))
        found = self._headings.get(words)
        if found or least_share == 1 or not words:
            return found
        longest = max((held[0] for held in self._named.finditer(words)), key=len, default="")
        if not longest and _ASKING.match(words):
            return (
                "failed"
                if self.failed(words)
                else "solution"
                if self.count("success", words)
                else None
            )
        part = self._headings.get(longest)
        least = max(least_share, 0.5) if part == "left_out" else least_share
        is_most = len(longest) > least * len(words)
        return part if is_most or len(longest.split()) >= least * len(words.split()) else None

    def two_parts_of(self, heading: str) -> tuple[TelegraphPart, TelegraphPart] | None:
        """Return the parts that "Cause and fix" names, one right after the other."""
        words = fold(_AROUND.sub(" ", heading[:_MOST_CHARACTERS]))
        found = list(self._named.finditer(words))
        for one, other in pairwise(found):
            parts = self._headings[one[0]], self._headings[other[0]]
            if parts[0] != parts[1] and other.start() - one.end() <= _JOINER:
                return None if "left_out" in parts else parts
        return None

    def is_kind(self, kind: Literal["goals", "causes"], heading: str) -> bool:
        """Say whether below a heading people say what they want, or why it happened."""
        return self._kinds[kind].fullmatch(fold(_AROUND.sub(" ", heading))) is not None

    def count(self, cue: CueKind, text: str) -> int:
        """Return how many phrases of a kind a text has."""
        return sum(1 for _ in self._cues[cue].finditer(fold(text)))

    def failed(self, text: str) -> bool:
        """Say whether a text tells that something did not help."""
        folded = fold(text)
        if self._cues["no_effect"].search(folded):
            return True
        denied = [_words_before(folded, at) for at in self._cues["negation"].finditer(folded)]
        told = [_words_before(folded, at) for at in self._cues["effect"].finditer(folded)]
        return any(abs(a - b) <= _NEAR for a in denied for b in told)

    def points_back(self, text: str, within: int = 2) -> bool:
        """Say whether one of the first words stands for something said before."""
        folded = fold(_ARTICLE.sub("", text)).lstrip("\"'“„«「『*_(")
        found = self._cues["pointing"].search(folded)
        far = _FAR if " " in folded[:_FAR] else _FAR_UNSPACED
        return found is not None and _words_before(folded, found) < within and found.start() <= far


@cache
def phrasing_of(languages: tuple[str, ...]) -> Phrasing:
    """Return the phrases of some languages, compiled once."""
    return Phrasing(languages)


def tell_languages(text: str) -> tuple[str, ...]:
    """Return the languages that a text may be in, by their commonest words; English with few."""
    folded = fold(text)
    counts = {
        name: sum(1 for _ in _compile(tuple(words)).finditer(folded))
        for name, words in _PHRASES["cues"]["function"].items()
    }
    most = max(counts.values())
    found = {name for name in LANGUAGES if most and counts[name] >= _SHARE * most}
    return tuple(n for n in LANGUAGES if n in found or (most < _FEW and n == "en"))


def fold(text: str) -> str:
    """Return the beginning of a text in small letters, on one line, with straight apostrophes."""
    text = normalize("NFKC", text[:_MOST_CHARACTERS]).casefold()
    return " ".join(text.replace("’", "'").split())


def _read_headings(languages: tuple[str, ...]) -> dict[str, TelegraphPart]:
    parts: tuple[TelegraphPart, ...] = ("left_out", "background", "solution", "failed", "principle")
    names = dict.fromkeys(("en", *languages))
    return {
        fold(phrase): part
        for part in parts
        for name in names
        for phrase in _PHRASES["headings"][part][name]
    }


@cache
def _compile(phrases: tuple[str, ...]) -> re.Pattern[str]:
    """Return what finds whole words; ``*`` is the rest of one, or its beginning."""
    written = sorted({fold(phrase) for phrase in phrases}, key=lambda p: (-len(p), p))
    return re.compile("|".join(map(_write, written)) or r"(?!)")


def _write(phrase: str) -> str:
    words = phrase.strip("*")
    is_unspaced = re.fullmatch(rf"[{_UNSPACED}].*", words) is not None
    if is_unspaced:
        return re.escape(words)
    start = r"(?<!\w)\w*" if phrase.startswith("*") else r"(?<!\w)"
    end = r"\w*+" if phrase.endswith("*") else r"(?!\w)" if words[-1].isalnum() else ""
    return f"{start}{re.escape(words)}{end}"


def _words_before(text: str, found: re.Match[str]) -> int:
    return text.count(" ", 0, found.start())
