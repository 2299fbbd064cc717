"""Read the time tokens of Chinese and Japanese, whose words are matched as characters.

Words are those of the tables; numbers, counts and dates are patterns. The tokens go through the
same grammar as those of other languages.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from memory_palace.language.time_spans import (
    FIRST_YEAR,
    LAST_YEAR,
    Duration,
    Meaning,
    Token,
    month_span,
)
from memory_palace.language.time_words import LETTERS
from memory_palace.language.words import read_table

_SHARED = read_table("time/characters.txt")
_DIGITS, _TENS = (
    {pair[0]: int(pair[1:]) for pair in _SHARED[key].split()} for key in ("digits", "tens")
)
_ERAS = {pair[:2]: int(pair[2:]) for pair in _SHARED["eras"].split()}
_UNITS = {
    word: unit
    for unit in ("day", "week", "month", "quarter", "year")
    for word in _SHARED[unit].split()
}
_FEW, _VAGUE = 3, 0.7
_LAST_CENTURY, _CENTURY = 50, 100
_ROUGH = re.compile("[几多余餘数干何]")


def _expand(pattern: str) -> str:
    """Return a pattern with each name in braces replaced by its own pattern."""
    return re.sub(r"\{([A-Z_]+)\}", lambda name: _expand(_SHARED[name[1]]), pattern)


_STRUCTURE = re.compile(
    "|".join(_expand(text) for key, text in _SHARED.items() if key.startswith("pattern "))
)
_AFTER_A_COUNT = re.compile(_SHARED["after a count"])
_KANA_BEFORE = r"(?<![\u3041-\u3096\u4e00-\u9fff])|(?<=[年月日週間はがのとをにも曜])"
_KANA_BEHIND = r"(?![\u3041-\u3096](?<![はがのとをにもでか]))"


@dataclass(frozen=True, slots=True)
class _Words:
    pattern: re.Pattern[str]
    """Pattern of all listed words, longer ones first."""
    starts: re.Pattern[str]
    """Pattern of the first characters of words and numbers."""
    happened: re.Pattern[str]
    """Pattern of words in questions and reports about events."""
    entries: dict[str, tuple[str, str, bool]]
    """Letter, value, and whether it mostly means something other than a time, by word."""
    simplified: dict[int, int]


def read_characters(folded: str, language: str) -> list[Token]:
    """Return the tokens of a folded text; other text between them becomes a separator, ``|``."""
    words = _read_words(language)
    text = folded.translate(words.simplified)
    tokens: list[Token] = []
    place = 0
    while start := words.starts.search(text, place):
        if not text[place : start.start()].isspace() and start.start() > place:
            tokens.append(Token("|", "", place, place))
        place = start.start()
        found, end = _read_at(text, place, words, tokens)
        if tokens and tokens[-1].letter == "K" and found:  # "every Monday" is not a date
            found = [Token("K", "", place, end)]
        tokens += found
        place = end
    return tokens


def tells_what_happened(folded: str, language: str) -> bool:
    """Whether a text asks or tells about events, so that a season in it is a time."""
    words = _read_words(language)
    return bool(words.happened.search(folded.translate(words.simplified)))


def _read_at(text: str, place: int, words: _Words, before: list[Token]) -> tuple[list[Token], int]:
    """Return the tokens of the longest word, number or date at a place, and its end."""
    listed = words.pattern.match(text, place)
    match = _STRUCTURE.match(text, place)
    if listed and (not match or listed.end() >= match.end()):
        letter, value, is_weak = words.entries[listed[0]]
        found = [Token(letter, value, *listed.span(), is_weak)] if letter != "r" else []
        return found, listed.end()
    if match:
        return _read_structure(match, text, before), match.end()
    return [Token("|", "", place, place)], place + 1


def _read_structure(match: re.Match[str], text: str, before: list[Token]) -> list[Token]:
    """Return the tokens of a year, month, day, ordinal or count."""
    start, end = match.span()
    found = {name: value for name, value in match.groupdict().items() if value}
    for name, (letter, convert) in _SIMPLE.items():
        if name in found:
            value = convert(found[name])
            if letter not in "yYz":
                return [Token(letter, value, start, end)]
            if not FIRST_YEAR <= value < LAST_YEAR:
                return [Token("|", "", start, end)]
            year = Meaning(*month_span(value, 1, 12), "year", has_year=True)
            return [Token(letter, year if letter == "Y" else value, start, end)]
    for name, letter in (("week", "#"), ("quarter", "U")):
        if name in found:
            number = _to_number(found[name])
            return [Token("o", number, start, end - 1), Token(letter, name, end - 1, end)]
    if "day" in found:
        number = _to_number(match["day"])
        is_day = _is_of_month(match, before)
        is_counted = "".join(token.letter for token in before[-1:]) in ("p", "c") or (
            text[end - 1] == "日" and _AFTER_A_COUNT.match(text, end) is not None
        )
        if is_counted and not is_day:
            return [Token("T", Duration(number, "day"), start, end)]
        return [Token("q", number, start, end)]
    if "count" in found:
        return [Token("T", _duration(found), start, end)]
    return [Token("|", "", start, end)] if found.keys() & {"digits", "lunar"} else []


def _is_of_month(match: re.Match[str], before: list[Token]) -> bool:
    """Whether a number of days follows a month, or ends a range of days."""
    letters = "".join(token.letter for token in before[-2:])
    is_near = bool(before) and before[-1].end >= match.start() - 1
    return is_near and (letters[-1:] in ("M", "U") or bool(re.fullmatch("q[-t(&]", letters)))


def _duration(found: dict[str, str]) -> Duration:
    count = found["count"]
    if count == "半":
        return Duration(0.5, _UNITS[found["unit"]])
    written = _ROUGH.split(count)[0]
    number = float(_to_number(written) if written else _FEW * (10 if count.endswith("十") else 1))
    if "and_half" in found or "half_more" in found:
        number += 0.5
    is_rough = "more" in found or bool(_ROUGH.search(count))
    return Duration(number, _UNITS[found["unit"]], _VAGUE if is_rough else 0.95)


def _decade(digits: str) -> int:
    *century, digits = re.split("世[纪紀][的の]?", digits)
    number = _to_number(digits)
    if century:
        number += 100 * (_to_number(century[0]) - 1)
    if number >= _CENTURY:
        return number
    return number + (2000 if number < 30 else 1900)


def _to_number(text: str) -> int:
    """Return the value of digits, or of numerals such as 二十三, 二〇二三 and 百二."""
    if text.isdecimal():
        return int(text)
    if all(char in _DIGITS for char in text):
        return int("".join(str(_DIGITS[char]) for char in text))
    total, last = 0, 0
    for char in text:
        if char in _TENS:
            value = _TENS[char]
            total += value if char in "廿卅" else max(last, 1) * value
            last = 0
        else:
            last = _DIGITS.get(char, 0)
    return total + last


_SIMPLE: dict[str, tuple[str, Callable[[str], Any]]] = {
    "iso": ("1", str),
    "date": ("1", str),
    "month_of": ("2", str),
    "slashed": ("1", str),
    "part": ("5", str),
    "decade": ("z", _decade),
    "year": ("Y", _to_number),
    "era": ("Y", lambda written: _ERAS[written[:2]] + _to_number(written[2:])),
    "short_year": ("Y", lambda two: int(two) + (1900 if int(two) >= _LAST_CENTURY else 2000)),
    "bare_year": ("y", int),
    "ordinal": ("o", _to_number),
    "month": ("M", _to_number),
}
"""Groups of ``_STRUCTURE`` that are one token: its letter, and the function for its value."""


@cache
def _read_words(language: str) -> _Words:
    """Return the table of a language; "|" raises the value by one, "?" marks a weak word."""
    table = read_table(f"time/{language}.txt")
    pairs = table.pop("traditional", "").split()
    happened = "|".join(map(re.escape, table.pop("happened").split()))
    entries: dict[str, tuple[str, str, bool]] = {}
    for key, listed in table.items():
        name, _, value = (key, "", "") if key in LETTERS or " " not in key else key.rpartition(" ")
        for number, group in enumerate(listed.split("|")):
            shown = f"{int(value) + number}" if number else value
            for word in group.split():
                entries[word.rstrip("?")] = LETTERS.get(name, "|"), shown, word.endswith("?")
    ordered = sorted(entries, key=len, reverse=True)
    starts = "".join({word[0] for word in entries})
    return _Words(
        re.compile("|".join(_pattern_of(word, entries[word][0]) for word in ordered)),
        re.compile(f"[{re.escape(starts)}{_SHARED['first']}]"),
        re.compile(happened),
        entries,
        {ord(pair[0]): ord(pair[1]) for pair in pairs},
    )


def _pattern_of(word: str, letter: str) -> str:
    """Return the pattern of a word; a kana word such as きのう must not be part of another."""
    is_kana = letter in "DCc" and all("\u3041" <= char <= "\u3096" for char in word)
    return rf"(?:{_KANA_BEFORE}){word}{_KANA_BEHIND}" if is_kana else re.escape(word)
