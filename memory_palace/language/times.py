"""Find the time expressions of a text, as windows of days.

A text is split into pieces, these are read as tokens of each possible language, rules reduce tokens
to expressions, and of two that overlap the one in the likelier language stays.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from functools import cache
from typing import Any, NamedTuple

from memory_palace.language import time_points, time_spans
from memory_palace.language.time_spans import (
    FIRST_YEAR,
    LAST_YEAR,
    TOLERANCE,
    Meaning,
    Setting,
    TimeExpression,
    Token,
    Window,
    precedes,
)
from memory_palace.language.time_words import (
    CHARACTERS,
    LATIN,
    Lexicon,
    TimeWord,
    find_counted,
    fold,
    languages_of_characters,
    read_hints,
    read_lexicon,
)
from memory_palace.language.words import Languages, read_lines, read_table

_PIECE = re.compile(
    "|".join(f"(?P<{name}>{text})" for name, text in read_table("time/pieces.txt").items())
)
"""The pieces of a text in an alphabet, by kind."""
_SIGNS = {"~": "-"}
_NUMERIC = {"iso": "1", "date": "1", "dotted": "1", "month": "2", "slashed": "3", "part": "5"}
_ABBREVIATED = "MkWN#U"
_HINT = re.compile(
    r"[^\W\d_]{2,}|(?P<number>(?:19|20|21)\d\d|\d[./-]\d|\b[qwht][1-5]|\d0(?:s|er)\b|'\d\d\b)"
)
_SHORT_TEXT, _AROUND = 300, 60
"""Most characters of a text that is read whole; those read around each hint of a longer one."""
_WIDEST_GAP, _MOST_DIGITS, _LONGEST_SHORT = 2, 4, 3
_AT = "iIjFsuBAVbRt&-EvSLp<>()"
"""Letters of tokens that mark the word after them as a time."""
_SURE, _PREFERRED, _LISTED, _MARGIN = 0.5, 0.4, 0.3, 1.5
_LETTER_OF = {"year": "Y", "month": "m", "week": "Z"}
_SMALL = ("fr", "es", "pt", "it")
"""Languages that write the names of days and months in lower case."""
_TOPIC, _ALONE, _HAPPENED = 0.35, 0.7, 0.6
_UNITS = {"day": "day", "weekday": "day", "hour": "day", "month": "month", "year": "year"}
_LETTERS = re.compile(r"[^\W\d_]+")
_SHIFT_FIRST, _SHIFTED = (
    ("en", "de", "zh", "ja"),
    ("unit", "month", "season", "holiday", "weekday", "long"),
)
_SHORT = 4
_HYPHEN = re.compile(r"-[^\W\d_]")
_BEHIND = re.compile(r"[ \t]*([^\W\d_]+|[\w-]|\.\w)?")
_OF_STREET = re.compile(r" (?:des?|du|del?|da|do|d)[ ']+$")
_NAME_BEFORE = re.compile(r"[^\W\d][._]$")
_SITE = re.compile(r"\.[a-z]{2}")
_OLD_YEAR = re.compile(r",? (?:de |of |in )?1[0-8]\d\d(?:[),.;:]|$| [-–]| (?:in|and|at)\b)")
"""A year before ``FIRST_YEAR``: the day or month before it is of no year that is read."""
_OWNER = re.compile(r"'s [a-z]")


class Rule(NamedTuple):
    """A line of ``grammar.txt``: a pattern of letters, and a function of the tokens it names."""

    make: Callable[[Setting, dict[str, Token]], Any]
    letter: str
    """Letter of the new token; if empty, the unit of its span decides: year, month, ..."""
    needs: tuple[frozenset[str], ...]
    """Groups of letters; the rule is tried if the text has a letter of each group."""
    source: str


@cache
def read_rules() -> tuple[Rule, ...]:
    """Return the rules in the order in which they are applied."""
    short = {
        "{X}": "[xmZY]",
        "{END}": "(?P<b>[xmZY]|y)",
        "{IN}": "[iIjF]{0,4}",
        "{AT}": "[ij]{0,3}",
        "{YEAR}": "(?P<year>[yY])",
        "{TO}": "[-tju]",
    }
    rules = []
    for line in read_lines("time/grammar.txt"):
        name, letter, needs, source = re.split("  +", line, maxsplit=3)
        for key, meant in short.items():
            source = source.replace(key, meant)
        make = getattr(time_points, name, None) or getattr(time_spans, name)
        rules.append(Rule(make, letter.strip("."), tuple(map(frozenset, needs.split())), source))
    return tuple(rules)


@cache
def _compile(source: str) -> re.Pattern[str]:
    """Return a compiled pattern, made on first use: all would take a tenth of a second."""
    named = re.sub(r"([a-z]+)=(\[[^\]]*\]|\S)", r"(?P<\1>\2)", source)
    return re.compile(named.replace(" ", ""))


def find_times(
    text: str, as_of: date, *, locale: str = "", languages: Languages = (), counts: bool = False
) -> list[TimeExpression]:
    """Return the time expressions of a text in order, read on the day ``as_of``.

    Without a year the past is meant: "in March" is the last March that has begun. ``locale``
    (``en-GB``) decides the order of numbers in 3/4/2026. A word of several languages is read in one
    of ``languages``, those of the settings. Offsets are those of the text in NFC. With ``counts``,
    for questions, "our third session" is an expression too, which says no days by itself.
    """
    if not text.isascii():
        text = unicodedata.normalize("NFC", text)
    folded = fold(text)
    pieces = _split_pieces(folded)
    characters = languages_of_characters(text, locale, languages)
    readings: list[tuple[float, list[TimeExpression]]] = []
    for language in characters:
        from memory_palace.language.time_characters import read_characters  # delayed: seldom met

        setting = Setting(as_of, _order(locale, language), text, folded, language)
        tokens = _read(read_characters(folded, language), setting)
        found = [
            _express(token, setting, _settle_in_characters(token, setting)) for token in tokens
        ]
        sure = sum(len(item.text) for item in found if item.certainty >= _SURE)
        readings.append((len(text) + sure, found))
    foreign = _foreign_languages(pieces)
    possible = find_counted(folded) if counts else ()
    if not characters and any(
        piece.text[0].isdigit() or piece.kind in ("part", "decade") for piece in pieces
    ):
        possible = LATIN
    evident = _languages_of(pieces, locale, languages, possible)
    for language, evidence in evident.items():
        lexicon = read_lexicon(language)
        others = [read_lexicon(name).weak for name in evident if evident[name] >= evidence]
        doubtful = frozenset().union(*others)
        order = _order(locale, language)
        setting = Setting(as_of, order, text, folded, language, doubtful, counts)
        happened = any(piece.text in lexicon.happened for piece in pieces)
        found = [
            _express(token, setting, _settle(token, setting, lexicon, happened=happened))
            for token in _read(_read_tokens(pieces, lexicon, folded), setting)
            if not (language in foreign and _is_stray(folded[token.start : token.end]))
            and not _is_part_of_name(token, setting)
        ]
        readings.append((evidence + _cover(found), found))
    chosen: list[TimeExpression] = []
    taken: set[int] = set()
    for _, found in sorted(readings, key=lambda reading: -reading[0]):
        free = [item for item in found if taken.isdisjoint(range(item.start, item.end))]
        taken.update(*(range(item.start, item.end) for item in free))
        chosen += free
    return sorted(chosen, key=lambda item: item.start)


def _foreign_languages(pieces: Sequence[_Scrap]) -> frozenset[str]:
    """Return the languages with fewer frequent words in a text than another language has."""
    words = {piece.text for piece in pieces}
    counts = {name: len(words & telling) for name, telling in read_hints().telling.items()}
    most = max(counts.values())
    return frozenset(name for name, count in counts.items() if count < most)


def _is_stray(text: str) -> bool:
    """Whether an expression is one short word: "hier" in a German sentence is not French."""
    words = _LETTERS.findall(text)
    return len(words) == 1 and not any(map(str.isdigit, text)) and len(words[0]) <= _SHORT


def _is_part_of_name(token: Token, setting: Setting) -> bool:
    """Whether a token is part of a name ("sample.today"), an address or a verb ("will last")."""
    folded, start = setting.folded, token.start
    if _SITE.match(folded, token.end) or _NAME_BEFORE.search(folded[max(0, start - 3) : start]):
        return True
    if folded.startswith("last ", start) and precedes("modal", folded, start):
        return True
    if not token.value.has_year and _OLD_YEAR.match(folded, token.end):
        return True
    street = _OF_STREET.search(folded, max(0, start - 6), start)
    return precedes("street", folded, street.start() if street else start)


def _settle_in_characters(token: Token, setting: Setting) -> float:
    """Return the certainty of an expression in Chinese or Japanese."""
    meaning: Meaning = token.value
    if meaning.is_bare and meaning.unit == "season":
        from memory_palace.language.time_characters import tells_what_happened

        return _HAPPENED if tells_what_happened(setting.folded, setting.language) else _TOPIC
    before, written = setting.folded[: token.start][-1:], setting.folded[token.start : token.end]
    is_beside = setting.language == "ja" and before in tuple("るたのい")  # 終わる三日前
    return (
        _TOPIC
        if is_beside and meaning.unit == "day" and written.rstrip("に")[-1:] in "前後"
        else meaning.certainty
    )


def _cover(found: Sequence[TimeExpression]) -> float:
    """Return the length of the sure expressions, weighted by certainty, in words of six letters.

    One with two readings counts in full, so that it stands where no word tells the language.
    """
    sure = [item for item in found if item.certainty >= _SURE]
    return sum(len(i.text) * (1.0 if len(i.windows) > 1 else i.certainty) for i in sure) / 6


def _languages_of(
    pieces: Sequence[_Scrap], locale: str, languages: Languages, possible: Languages
) -> dict[str, float]:
    """Return these languages, and those hinted at, with their evidence."""
    hints = read_hints()
    counts = dict.fromkeys(possible, 0.0)
    words = {piece.text for piece in pieces}
    for word in words:
        for language in hints.words.get(word, ()):
            counts.setdefault(language, 0.0)
    for language in counts:
        counts[language] = len(words & hints.telling[language])
        counts[language] += _PREFERRED * (language == locale[:2])
        counts[language] += _LISTED * (language in languages)
    best = max(counts.values(), default=0.0)
    return {name: count for name, count in counts.items() if count >= best - _MARGIN}


def _order(locale: str, language: str) -> str:
    if locale:
        if locale in ("en-US", "en-PH", "en"):
            return "" if locale == "en" else "mdy"
        return "ymd" if locale[:2] in ("zh", "ja", "ko") or locale == "en-CA" else "dmy"
    if language in CHARACTERS:
        return "ymd"
    return "" if language == "en" else "dmy"


def _read(tokens: list[Token], setting: Setting) -> Iterator[Token]:
    """Yield the expressions to which the rules reduce the tokens."""
    letters = "".join(token.letter for token in tokens)
    present = set(letters)
    for rule in read_rules():
        if any(map(present.isdisjoint, rule.needs)):
            continue
        if _compile(rule.source).search(letters):
            tokens = list(_rewrite(tokens, letters, rule, setting))
            letters = "".join(token.letter for token in tokens)
            present = set(letters)
    for token in tokens:
        if isinstance(token.value, Meaning):
            yield token


def _rewrite(
    tokens: Sequence[Token], letters: str, rule: Rule, setting: Setting
) -> Iterator[Token]:
    """Yield the tokens, with the matches of a rule replaced by its results."""
    place = 0
    for match in _compile(rule.source).finditer(letters):
        named = {
            name: tokens[match.start(name)]
            for name, matched in match.groupdict().items()
            if matched
        }
        if setting.language in _SHIFT_FIRST and _is_behind(named):
            continue
        before = tokens[match.start() - 1] if match.start() else None
        if before and before.letter in _AT:
            named["at"] = before
        try:
            made = rule.make(setting, named)
        except (OverflowError, ValueError):  # a year that no date has
            made = None
        if made is None:
            continue
        yield from tokens[place : match.start()]
        letter = rule.letter or _LETTER_OF.get(getattr(made, "unit", ""), "x")
        yield Token(letter, made, tokens[match.start()].start, tokens[match.end() - 1].end)
        place = match.end()
    yield from tokens[place:]


def _is_behind(named: Mapping[str, Token]) -> bool:
    """Whether "last" follows the word that it modifies, as in "semana pasada"."""
    shift = named.get("shift")
    return shift is not None and any(
        token.end <= shift.start for name, token in named.items() if name in _SHIFTED
    )


def _express(token: Token, setting: Setting, certainty: float) -> TimeExpression:
    meaning: Meaning = token.value
    text = setting.text[token.start : token.end]
    tolerance = TOLERANCE[meaning.unit] if meaning.tolerance is None else meaning.tolerance
    spans = ((meaning.first, meaning.last), *meaning.others)
    windows = tuple(Window(*span, tolerance, text) for span in spans)
    unit = _UNITS.get(meaning.unit, "span")
    return TimeExpression(
        token.start, token.end, text, windows, unit, certainty, meaning.has_year, meaning.counted
    )


def _settle(token: Token, setting: Setting, lexicon: Lexicon, *, happened: bool) -> float:
    """Return the certainty of an expression; if it is bare, its context decides."""
    meaning: Meaning = token.value
    if not meaning.is_bare:
        is_one = happened and not meaning.others
        return max(meaning.certainty, _HAPPENED) if is_one else meaning.certainty
    is_name = setting.language in _SMALL and setting.text[token.start].isupper()
    if is_name and meaning.unit in ("weekday", "month"):
        return _TOPIC
    word = setting.folded[token.start : token.end]
    if word in setting.doubtful:
        return _TOPIC
    if (
        meaning.unit == "month"
        and len(word) > _SHORT
        and not _HYPHEN.match(setting.text, token.end)
    ):
        return _HAPPENED
    behind = _BEHIND.match(setting.folded, token.end)
    following = behind[1] if behind else None
    is_clause_end = not following or (following in lexicon.telling and following != "the")
    is_owner = _OWNER.match(setting.folded, token.end)
    if is_owner or not is_clause_end:
        return _TOPIC
    if any(precedes(kind, setting.folded, token.start) for kind in ("every", "title")):
        return _TOPIC
    if meaning.unit == "season" and not happened:
        return _TOPIC
    is_plain = meaning.unit != "weekday" and " " not in setting.text[token.start : token.end]
    if is_plain and precedes("of", setting.folded, token.start):
        return _HAPPENED if happened else _TOPIC
    return min(_ALONE, meaning.certainty)


class _Scrap(NamedTuple):
    kind: str
    text: str
    start: int
    end: int


def _split_pieces(folded: str) -> list[_Scrap]:
    """Return the pieces of a folded text in order; of a long text only those around hints."""
    if len(folded) <= _SHORT_TEXT:
        return _split(folded, 0, len(folded))
    pieces: list[_Scrap] = []
    for start, end in _find_stretches(folded):
        pieces += [_Scrap("other", "|", start, start), *_split(folded, start, end)]
    return pieces


def _split(folded: str, start: int, end: int) -> list[_Scrap]:
    found = _PIECE.finditer(folded, start, end)
    return [_Scrap(match.lastgroup or "", match[0], *match.span()) for match in found]


def _find_stretches(folded: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of whole words around hints: words and numbers that may name a time."""
    words = read_hints().words
    first = last = -1
    for match in _HINT.finditer(folded):
        if match.lastgroup is None and match[0] not in words:
            continue
        start = max(0, match.start() - _AROUND)
        if start > last or last < 0:
            if last >= 0:
                yield first, last
            first = max(last, folded.rfind(" ", 0, start) + 1)
        last = folded.find(" ", match.end() + _AROUND)
        if last < 0:
            last = len(folded)
            break
    if last >= 0:
        yield first, last


def _read_tokens(pieces: Sequence[_Scrap], lexicon: Lexicon, text: str) -> list[Token]:
    """Return a text's tokens in one language; each unknown piece becomes a separator, ``|``."""
    tokens: list[Token] = []
    place = 0
    while place < len(pieces):
        piece = pieces[place]
        if tokens and _is_break(text, tokens[-1].end, piece):
            tokens.append(Token("|", "", piece.start, piece.start))
        entry, following = _look_up(pieces, place, lexicon)
        if entry:
            end = pieces[following - 1].end
            parts = entry.value.split() if entry.letter == "*" else [entry.letter + entry.value]
            for part in parts:
                tokens.append(Token(part[0], part[1:], piece.start, end, entry.is_weak))
        else:
            tokens.append(_read_piece(piece, tokens[-1] if tokens else None))
        place = following
    return [token for token in tokens if token.letter not in "r"]


def _is_break(text: str, end: int, piece: _Scrap) -> bool:
    gap = text[end : piece.start]
    return len(gap) > _WIDEST_GAP or ("\n" in gap and (piece.kind == "sign" or "\n\n" in gap))


def _look_up(pieces: Sequence[_Scrap], place: int, lexicon: Lexicon) -> tuple[TimeWord | None, int]:
    """Return the time word that begins at a place, if any, and the place after it."""
    for entry in lexicon.words.get(pieces[place].text, ()):
        following = place + 1
        for word in entry.rest:
            while following < len(pieces) and pieces[following].text in ("-", "'", "."):
                following += 1
            if following == len(pieces) or pieces[following].text != word:
                break
            following += 1
        else:
            return entry, following
    return None, place + 1


def _read_piece(piece: _Scrap, before: Token | None) -> Token:
    kind, text, start, end = piece
    if kind == "number":
        number = int(text) if len(text) <= _MOST_DIGITS else 0
        is_year = len(text) == 4 and FIRST_YEAR <= number < LAST_YEAR
        return Token("y" if is_year else "d" if len(text) <= 2 else "n", number, start, end)
    if kind == "ordinal":
        return Token("o", text.rstrip("stndrheamo°"), start, end)
    if kind == "short":
        return Token("y", int(text[1:]) + (1900 if text[1:] >= "50" else 2000), start, end)
    if kind in _NUMERIC:
        return Token(_NUMERIC[kind], text, start, end)
    if kind == "decade":
        digits = "".join(filter(str.isdigit, text))
        century = "" if len(digits) == 4 else "20" if digits < "20" else "19"
        return Token("z", f"{century}{digits}", start, end)
    if kind == "sign":
        return Token(_read_sign(piece, before), "", start, end)
    return Token("|", "", start, end)


def _read_sign(piece: _Scrap, before: Token | None) -> str:
    """Return the letter of a sign; ``r`` for one that belongs to the word before it: "Sept."."""
    is_glue = piece.text == "'"
    if before and before.end == piece.start:
        is_short = before.letter != "U" or before.end - before.start <= _LONGEST_SHORT
        is_glue |= piece.text == "." and before.letter in _ABBREVIATED and is_short
        is_glue |= piece.text == "-" and before.letter == "E"
    return "r" if is_glue else _SIGNS.get(piece.text, piece.text)
