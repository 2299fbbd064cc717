"""Time words of each language, read from text files, and the possible languages of a text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from memory_palace.language.words import Languages, read_table

LATIN = ("en", "de", "fr", "es", "pt", "it")
CHARACTERS = ("zh", "ja")
"""Languages written without spaces: their words are matched as characters."""
LETTERS = read_table("time/letters.txt")
"""The letter of each category of words; grammar rules are patterns of these letters."""
_JOINED = frozenset(("WP", "WQ", "MU", "ME", "Mh", "NE", "NU", "UE", "Uh"))
_SHORTEST_MONTH = 5
"""Letters of a month's name; a shorter form of it is an abbreviation, and weak if alone."""
_WORD = re.compile(r"[^\W\d_]+")
_KANA, _HAN = ("\u3041", "\u30fa"), ("\u4e00", "\u9fff")
_DIGIT = re.compile(r"\d")
_KANA_ASKING = re.compile(r"[\u3041-\u309f何誰私僕俺]+")
_HAN_ASKING = re.compile("什[么麼]|怎[么麼]|[我你您他她们們做干了过過的在哪谁誰吗嗎呢些都有是]")
"""Words of Japanese and Chinese that only ask or join."""


class TimeWord(NamedTuple):
    """A meaning of one time word, or of several in a row."""

    rest: tuple[str, ...]
    """The words after the first."""
    letter: str
    value: str
    is_weak: bool
    """Whether it mostly means something other than a time."""


@dataclass(frozen=True, slots=True)
class Lexicon:
    """The time words of one language."""

    language: str
    words: Mapping[str, Sequence[TimeWord]]
    """Meanings by the folded first word, those of more words first."""
    weak: frozenset[str]
    """Words that mostly mean something other than a time."""
    telling: frozenset[str]
    """Frequent words that show that a text is in this language."""
    happened: frozenset[str]
    """Words of questions and reports about events: with them a time is not a mere topic."""


class _Folding(dict[int, str]):
    """A translation to lower case without accents, character by character, filled on use."""

    def __missing__(self, code: int) -> str:
        char = unicodedata.normalize("NFKC", chr(code)).lower()
        plain = unicodedata.normalize("NFD", char)[:1] if char < "\u3040" else char
        self[code] = found = plain if len(char) == 1 else chr(code)
        return found


_FOLDING = _Folding({ord(char): "-" for char in "–—−‐‑‒"} | {ord("’"): "'", ord("º"): "o"})
_FOLDING |= {ord("ª"): "a", ord("ß"): "s", ord("～"): "~", ord("〜"): "~"}


def fold(text: str) -> str:
    """Return a text in lower case without accents, of the same length."""
    return text.lower() if text.isascii() else text.translate(_FOLDING)


@cache
def read_lexicon(language: str) -> Lexicon:
    """Return the time words of a language."""
    words: dict[str, list[TimeWord]] = {}
    table = read_table(f"time/{language}.txt")
    for key, listed in table.items():
        name, _, value = key.rpartition(" ")
        if not name:
            continue
        for place, group in enumerate(fold(listed).split("|")):
            number = f"{float(value) + place:g}" if place else value
            for first, entry in _entries(group, LETTERS[name], number, language):
                words.setdefault(first, []).append(entry)
    for compound, entry in _compounds(words, table):
        words.setdefault(compound, []).append(entry)
    for entries in words.values():
        if len(entries) > 1:
            entries.sort(key=lambda entry: -len(entry.rest))
    weak = frozenset(word for word, found in words.items() if any(e.is_weak for e in found))
    happened = frozenset(fold(table.get("happened", "")).split())
    return Lexicon(language, words, weak, read_hints().telling[language], happened)


def _entries(group: str, letter: str, value: str, language: str) -> Iterator[tuple[str, TimeWord]]:
    longest = max(map(len, group.split()), default=0)
    for written in group.split():
        is_short = letter == "M" and len(written) < min(longest, _SHORTEST_MONTH)
        is_weak = written.endswith("?") or is_short
        for form in _forms(written.rstrip("?")):
            first, *rest = form.split("_") if language in LATIN else [form]
            yield first, TimeWord(tuple(rest), letter, value, is_weak)


def _compounds(
    words: Mapping[str, Sequence[TimeWord]], table: Mapping[str, str]
) -> Iterator[tuple[str, TimeWord]]:
    """Yield compounds such as Dienstagabend, Maiwoche and Jahresende, with both parts' tokens."""
    tails = fold(table.get("tails", "")).split()
    for head in fold(table.get("heads", "")).split():
        for tail in tails:
            first, second = words[head][0], words[tail][0]
            if first.letter + second.letter in _JOINED:
                turned = (first, second) if first.letter == "W" else (second, first)
                value = " ".join(f"{part.letter}{part.value}" for part in turned)
                yield head + tail, TimeWord((), "*", value, False)


def _forms(written: str) -> list[str]:
    """Return ``letzt/e/en`` as letzt, letzte and letzten; endings belong to the first word."""
    if "/" not in written:
        return [written]
    head, below, rest = written.partition("_")
    stem, *endings = head.split("/")
    return [f"{stem}{ending}{below}{rest}" for ending in ("", *endings)]


class Hints(NamedTuple):
    """Words by which a text may name a time, and by which its languages are guessed."""

    words: dict[str, tuple[str, ...]]
    """Folded words with their languages; each time expression without digits has one."""
    telling: dict[str, frozenset[str]]
    """Frequent words of each language."""
    counted: dict[str, tuple[str, ...]]
    """Words, or several in a row, for talks and entries, with their languages."""


@cache
def read_hints() -> Hints:
    """Return the hints of all languages; ``tests/making_hints.py`` makes them from the tables."""
    words: dict[str, tuple[str, ...]] = {}
    counted: dict[str, tuple[str, ...]] = {}
    telling: dict[str, frozenset[str]] = {}
    for key, listed in read_table("time/hints.txt").items():
        kind, language = key.split()
        if kind == "telling":
            telling[language] = frozenset(listed.split())
            continue
        found = counted if kind == "counted" else words
        for word in listed.split():
            found[word] = (*found.get(word, ()), language)
    return Hints(words, telling, counted)


def _holds(text: str, span: tuple[str, str]) -> bool:
    """Whether a text has a character in a range; compiling a pattern for it would take 2 ms."""
    first, last = span
    may_hold = not text.isascii() and max(text) >= first
    return may_hold and any(first <= char <= last for char in text)


def languages_of_characters(text: str, locale: str, languages: tuple[str, ...]) -> tuple[str, ...]:
    """Return which of Chinese and Japanese a text may be in, the likelier first."""
    if _holds(text, _KANA):
        return ("ja",)
    if not _holds(text, _HAN):
        return ()
    is_japanese = locale[:2] == "ja" or ("ja" in languages and "zh" not in languages)
    return ("ja", "zh") if is_japanese and locale[:2] != "zh" else ("zh", "ja")


def may_name_time(text: str) -> bool:
    """Whether a text may contain a time: a digit, a kana or Han character, or a hint word."""
    if _DIGIT.search(text) or _holds(text, _KANA) or _holds(text, _HAN):
        return True
    words, folded = read_hints().words, fold(text)
    return any(word in words for word in _WORD.findall(folded)) or bool(find_counted(folded))


def find_counted(folded: str) -> Languages:
    """Return the languages in which a folded text may count talks or entries."""
    words = f"_{'_'.join(_WORD.findall(folded))}_"
    found = (names for word, names in read_hints().counted.items() if f"_{word}_" in words)
    return tuple({name: 0 for names in found for name in names})


def drop_asking(text: str) -> str:
    """Return a question with its asking words blanked: "was habe ich … gemacht".

    These are frequent words and words about events, of the language that has most of the former.
    """
    if any(_holds(text, span) for span in (_KANA, _HAN)):
        blank = _KANA_ASKING if _holds(text, _KANA) else _HAN_ASKING
        return blank.sub(" ", text)
    words = [(match[0], match.span()) for match in _WORD.finditer(fold(text))]
    telling = read_hints().telling
    language = max(LATIN, key=lambda name: sum(word in telling[name] for word, _ in words))
    lexicon = read_lexicon(language)
    for word, (start, end) in words:
        if word in lexicon.telling or word in lexicon.happened:
            text = f"{text[:start]}{' ' * (end - start)}{text[end:]}"
    return text
