"""Expressions of time in Chinese and Japanese, whose words are found as characters.

Words, numbers and counts become tokens as in ``reading``; the rules, patterns of letters as in
``rules``, differ, for words of relation mostly stand behind: 三天前, 5月から. What they make is
made by the same functions.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cache
from typing import Any

from memory_palace.language.time import distances, parts, points
from memory_palace.language.time.lexicon import LETTERS
from memory_palace.language.time.rules import Named, Rule
from memory_palace.language.time.spans import (
    FIRST_YEAR,
    LAST_YEAR,
    Duration,
    Meaning,
    Setting,
    Token,
    make_day,
    month_span,
    unit_span,
    year_of,
)
from memory_palace.language.word_lists import read_table

_ERAS = {"令和": 2018, "平成": 1988, "昭和": 1925, "大正": 1911, "民国": 1911, "民國": 1911}
"""The year before the first of each."""
_DIGITS = {char: value for value, char in enumerate("〇一二三四五六七八九")}
_DIGITS |= {"零": 0, "两": 2, "両": 2, "元": 1}
_TENS = {"十": 10, "百": 100, "廿": 20, "卅": 30}
_UNITS = {
    **dict.fromkeys(("天", "日", "日間", "晚"), "day"),
    **dict.fromkeys(("周", "星期", "礼拜", "週", "週間"), "week"),
    **dict.fromkeys(("月",), "month"),
    **dict.fromkeys(("季度", "四半期"), "quarter"),
    **dict.fromkeys(("年", "年間"), "year"),
}
_FEW, _VAGUE = 3, 0.7
_LAST_CENTURY, _CENTURY = 50, 100
_NUMBER = r"(?:\d{1,4}|[〇零一二三四五六七八九十百两両廿卅]{1,8})"
_COUNT = rf"(?:{_NUMBER}[几多余餘数]?|几十?|数十?|好几|若干|何)"
_ROUGH = re.compile("[几多余餘数干何]")
_MONTH = r"(?:\d{1,2}|[一二三四五六七八九十]{1,2})"
_YEAR_NUMBER = r"(?:[12]\d{3}|[一二][〇零一二三四五六七八九]{3})"
_YEARLY_BEHIND = r"(?=[的の]?(?:\d{1,2}月|[一二三四五六七八九十]{1,2}月|[春夏秋冬]|上半年|下半年))"
_NO_DURATION = r"(?!代|度|级|級|龄|齢|轮|輪|生|号|曜|刊|报|報|本|目|纪|紀)"
_STRUCTURE = re.compile(
    rf"(?P<iso>(?<![\d./])[12]\d{{3}}(?P<s>[-/.])\d{{1,2}}(?P=s)\d{{1,2}}(?![\d/]|-\d\d?(?!\d)|\.\d))"
    rf"|(?P<lunar>(?:农历|阴历|旧历|旧暦)[^，。,]{{0,8}}?月|{_MONTH}月初[一二三四五六七八九十])"
    rf"|(?P<date>(?<![\d./-])\d{{1,2}}(?P<p>[./-])\d{{1,2}}(?P=p)\d{{4}}(?![\d/-]|\.\d))"
    rf"|(?P<month_of>(?<![\d./-])(?:[12]\d{{3}}[-/]\d{{1,2}})(?![\d/-]|\.\d))"
    rf"|(?P<part>(?<![a-z\d./-])(?:[12]\d{{3}}-?)?(?:q[1-4]|w\d\d?)(?![a-z\d]))"
    rf"|(?P<slashed>(?<![\d./-])\d{{1,2}}/\d{{1,2}}(?![\d/-]|[.,]\d))"
    rf"|(?P<decade>(?:{_NUMBER}世[纪紀]の?的?)?(?:[12]\d\d0|\d0|[二三四五六七八九]?十|二〇一〇))年代"
    rf"|(?P<era>(?:{'|'.join(_ERAS)})(?:元|{_NUMBER}))年"
    rf"|(?P<year>{_YEAR_NUMBER}) ?年(?!代|间|間)"
    rf"|(?P<short_year>\d\d) ?年{_YEARLY_BEHIND}"
    rf"|(?P<padded_year>0\d|[〇零][一二三四五六七八九]) ?年"
    rf"|(?P<bare_year>(?<!\d)(?:19|20)\d\d)(?!\d|[.:]\d)"
    rf"|第(?P<week>{_NUMBER})(?:周|週|个星期(?![一二三四五六日天])|个礼拜(?![一二三四五六日天]))(?!年)"
    rf"|第(?P<ordinal>{_NUMBER})个?"
    rf"|(?P<quarter>[1-4一二三四])(?:季度|四半期)"
    rf"|(?P<month>{_MONTH}) ?月(?!曜|饼|亮|刊|球|光|経|间|間|号|薪|台)份?"
    rf"|(?P<day>{_NUMBER})(?: ?[号號日]|(?=[到至~-]{_NUMBER}[号號日]))"
    rf"(?!间|間|线|線|楼|樓|室|门|門|店|机|機|館|馆|车|車)"
    rf"|(?P<half>半)(?:个)?(?P<half_unit>月|年|日)(?!度|级|会)"
    rf"|(?P<count>{_COUNT}) ?(?:个|か|カ|ヶ|ケ|ヵ|箇|個)?(?P<and_half>半)? ?"
    rf"(?P<unit>日間|週間|年間|星期(?![一二三四五六日天])|礼拜(?![一二三四五六日天])|周(?![年期])|週|(?<=[个かカヶケヵ箇個半])月|天(?![气空])|日|季度|四半期|年){_NO_DURATION}"
    rf"(?P<half_more>半)?(?P<more>多|余|餘|以上|も)?"
    rf"|(?P<number>{_NUMBER})(?=个(?:星期|礼拜|周))个(?=(?:星期|礼拜|周)[一二三四五六日天])"
    rf"|(?P<weekday_in_brackets>[(]\s?[月火水木金土日周一二三四五六]{{1,2}}曜?日?\s?[)])"
    rf"|(?P<digits>\d+)"
)
"""What is made of numbers, tried where no listed word is."""
_AFTER_A_COUNT = re.compile(r"前|後|后|ほど|くらい|ぐらい|以内|まえ|あと|来|左右")
_FIRST = "农阴旧0-9〇零一二三四五六七八九十百两両廿卅几数好若何第半qw(" + "".join(
    era[0] for era in _ERAS
)
"""Characters that what ``_STRUCTURE`` finds begins with."""
_KANA_BEFORE = r"(?<![\u3041-\u3096\u4e00-\u9fff])|(?<=[年月日週間はがのとをにも曜])"
_KANA_BEHIND = r"(?![\u3041-\u3096](?<![はがのとをにもでか]))"


@dataclass(frozen=True, slots=True)
class _Words:
    pattern: re.Pattern[str]
    """Of all listed words, longer ones first."""
    starts: re.Pattern[str]
    """Of the first characters of these, and of numbers."""
    happened: re.Pattern[str]
    """Of what questions and reports about what happened have."""
    entries: dict[str, tuple[str, str, bool]]
    """Letter, value and whether it mostly means something else, by word."""
    simplified: dict[int, int]


def read_characters(folded: str, language: str) -> list[Token]:
    """Return the tokens of a folded text; what is no word of time parts them, as a bar."""
    words = _read_words(language)
    text = folded.translate(words.simplified)
    tokens: list[Token] = []
    place = 0
    while start := words.starts.search(text, place):
        if not text[place : start.start()].isspace() and start.start() > place:
            tokens.append(Token("|", "", place, place))
        place = start.start()
        found, end = _read_at(text, place, words, tokens)
        if tokens and tokens[-1].letter == "K" and found:  # every Monday is none
            found = [Token("K", "", place, end)]
        tokens += found
        place = end
    return tokens


def tells_what_happened(folded: str, language: str) -> bool:
    """Say whether a text asks or tells what happened, so that a season in it is a time."""
    words = _read_words(language)
    return bool(words.happened.search(folded.translate(words.simplified)))


def _read_at(text: str, place: int, words: _Words, before: list[Token]) -> tuple[list[Token], int]:
    """Return the tokens of the longest word, number or date at a place, and where it ends."""
    listed = words.pattern.match(text, place)
    match = _STRUCTURE.match(text, place)
    if listed and (not match or listed.end() >= match.end()):
        letter, value, is_weak = words.entries[listed[0]]
        found = [Token(letter, value, *listed.span(), is_weak)] if letter != "r" else []
        return found, listed.end()
    if match:
        return _structured(match, text, before), match.end()
    return [Token("|", "", place, place)], place + 1


def _structured(match: re.Match[str], text: str, before: list[Token]) -> list[Token]:
    """Return the tokens of a year, month, day, ordinal or count."""
    start, end = match.span()
    found = {name: value for name, value in match.groupdict().items() if value}
    for name, letter, convert in _SIMPLE:
        if name in found:
            value = convert(found[name])
            is_out = letter in "yz" and not FIRST_YEAR <= int(value) < LAST_YEAR
            return [Token("|" if is_out else letter, value, start, end)]
    for name, unit_letter, unit in (("week", "#", "week"), ("quarter", "U", "quarter")):
        if name in found:
            number = _to_number(found[name])
            return [Token("o", number, start, end - 1), Token(unit_letter, unit, end - 1, end)]
    if "day" in found:
        return _day(match, text, before)
    if "half" in found:
        return [Token("T", Duration(0.5, _UNITS[found["half_unit"]]), start, end)]
    if "count" in found:
        return [Token("T", _duration(found), start, end)]
    return [Token("|", "", start, end)] if found.keys() & {"digits", "lunar"} else []


def _day(match: re.Match[str], text: str, before: list[Token]) -> list[Token]:
    """Return a day of the month, or a count of days: "3日前" behind no month."""
    number = _to_number(match["day"])
    letters = "".join(token.letter for token in before[-2:])
    is_near = bool(before) and before[-1].end >= match.start() - 1
    is_day = is_near and (letters[-1:] in ("M", "U") or bool(re.fullmatch("d[-t(&]", letters)))
    is_counted = letters[-1:] in ("p", "c") or (
        text[match.end() - 1] == "日" and bool(_AFTER_A_COUNT.match(text, match.end()))
    )
    if not is_day and is_counted:
        return [Token("T", Duration(number, "day"), *match.span())]
    return [Token("d", number, *match.span())]


def _duration(found: dict[str, str]) -> Duration:
    count = found["count"]
    written = _ROUGH.split(count)[0]
    number = float(_to_number(written) if written else _FEW * (10 if count.endswith("十") else 1))
    if "and_half" in found or "half_more" in found:
        number += 0.5
    is_rough = "more" in found or bool(_ROUGH.search(count))
    return Duration(number, _UNITS[found["unit"]], _VAGUE if is_rough else 0.95)


def _decade(digits: str) -> str:
    *century, digits = re.split("世[纪紀][的の]?", digits)
    number = _to_number(digits)
    if century:
        number += 100 * (_to_number(century[0]) - 1)
    if number >= _CENTURY:
        return str(number)
    return str(number + (2000 if number < 30 else 1900))


def _to_number(text: str) -> int:
    """Return the number of digits or of 二十三, 二〇二三 and 百二."""
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


def _full_year(digits: str) -> int:
    number = int(digits)
    return number + (1900 if number >= _LAST_CENTURY else 2000)


def _padded_year(digits: str) -> int:
    return 2000 + _to_number(digits)


def _era_year(written: str) -> int:
    return _ERAS[written[:2]] + _to_number(written[2:])


_SIMPLE: tuple[tuple[str, str, Callable[[str], Any]], ...] = (
    ("iso", "1", str),
    ("date", "1", str),
    ("month_of", "2", str),
    ("slashed", "3", str),
    ("part", "5", str),
    ("decade", "z", _decade),
    ("year", "y", _to_number),
    ("era", "y", _era_year),
    ("short_year", "y", _full_year),
    ("padded_year", "y", _padded_year),
    ("bare_year", "n", int),
    ("ordinal", "o", _to_number),
    ("month", "M", _to_number),
)
"""Groups of ``_STRUCTURE`` that are a token each: its letter, and how its value is read."""


@cache
def _read_words(language: str) -> _Words:
    """Return the table of a language; "|" raises the value by one, "?" marks a weak word."""
    entries: dict[str, tuple[str, str, bool]] = {}
    simplified: dict[int, int] = {}
    happened = ""
    for key, listed in read_table(f"time/{language}.txt").items():
        if key == "traditional":
            simplified = {ord(pair[0]): ord(pair[1]) for pair in listed.split()}
            continue
        if key == "happened":
            happened = "|".join(map(re.escape, listed.split()))
            continue
        name, _, value = (key, "", "") if key in LETTERS or " " not in key else key.rpartition(" ")
        letter = "r" if name == "counter" else LETTERS.get(name, "|")
        for number, group in enumerate(listed.split("|")):
            shown = f"{int(value) + number}" if number else value
            for word in group.split():
                entries[word.rstrip("?")] = letter, shown, word.endswith("?")
    ordered = sorted(entries, key=len, reverse=True)
    starts = "".join({word[0] for word in entries})
    return _Words(
        re.compile("|".join(_pattern_of(word, entries[word][0]) for word in ordered)),
        re.compile(f"[{re.escape(starts)}{_FIRST}]"),
        re.compile(happened),
        entries,
        simplified,
    )


def _pattern_of(word: str, letter: str) -> str:
    """Return the pattern of a word: きのう and the like must not be part of another."""
    is_kana = letter in "DCc" and all("\u3041" <= char <= "\u3096" for char in word)
    return rf"(?:{_KANA_BEFORE}){word}{_KANA_BEHIND}" if is_kana else re.escape(word)


_TOPIC, _LIKELY = 0.4, 0.6
_WEEK_DAYS = 7


def _year(setting: Setting, named: Named) -> Meaning | None:
    """Return 2024年; a number alone is a year only where its neighbours say so."""
    token = named["year"]
    is_version = setting.folded[: token.start].rstrip()[-1:].isascii() and token.start > 0
    certainty = 0.95 if token.letter == "y" else _TOPIC if is_version else _LIKELY
    return Meaning(*month_span(int(token.value), 1, 12), "year", certainty, has_year=True)


def _month(setting: Setting, named: Named) -> Meaning | None:
    number, year = int(named["month"].value), year_of(named.get("year"))
    return points.numbered(setting, "month", number, year)


def _day_alone(setting: Setting, named: Named) -> Meaning | None:
    """Return "15日" or "15号": the latest; a number of a house or a line is written the same."""
    day = distances.latest_day(setting, int(named["day"].value))
    written, following = (setting.folded[named["day"].end + at :][:1] for at in (-1, 0))
    is_day = "weekday" in named or (written == "日" and following in tuple("にはまか那"))
    return Meaning(day, day, "day", _LIKELY if is_day else _TOPIC) if day else None


def _days_of_span(setting: Setting, named: Named) -> Meaning | None:
    """Return 今月の4日から22日まで."""
    ends = [points.day_of_span(setting, named | {"day": named[end]}) for end in ("from", "day")]
    if ends[0] is None or ends[1] is None or ends[0].first > ends[1].first:
        return None
    return replace(ends[0], last=ends[1].last, unit="span")


def _season(setting: Setting, named: Named) -> Meaning | None:
    token = named["season"]
    is_told = bool(named.keys() & {"year", "shift", "edge"})
    if not is_told and token.end - token.start == 1 and setting.language == "zh":
        return None
    meaning = points.season(setting, named)
    if meaning is None or is_told:
        return meaning and replace(meaning, is_bare=False)
    is_told = tells_what_happened(setting.folded, setting.language)
    return replace(meaning, certainty=_LIKELY if is_told else _TOPIC, is_bare=False)


def _holiday(setting: Setting, named: Named) -> Meaning | None:
    if named["holiday"].is_weak and not named.keys() & {"year", "shift", "edge"}:
        return None
    meaning = points.holiday(setting, named)
    return meaning and replace(meaning, is_bare=False)


def _weekday(setting: Setting, named: Named) -> Meaning | None:
    """Return 上周五, the Friday of last week, or この前の日曜, the latest."""
    shift = named.get("shift")
    if shift is None or setting.language == "ja":
        meaning = distances.weekday(setting, named)
        return meaning and replace(meaning, is_bare=False)
    monday = unit_span("week", int(shift.value), setting.as_of)[0]
    day = monday + timedelta(int(named["weekday"].value))
    return Meaning(day, day, "weekday")


def _same_day(setting: Setting, named: Named) -> Meaning | None:
    """Return 去年今天, today's day of another year."""
    today = setting.as_of + timedelta(int(named["day"].value))
    day = make_day(named["within"].value.first.year, today.month, today.day)
    return Meaning(day, day, "day") if day else None


def _part_of_now(setting: Setting, named: Named) -> Meaning | None:
    """Return 年初, the beginning of this year; 月末 is more often any end of a month."""
    return parts.third(setting, named) if named["within"].value == "year" else None


def _weekend(setting: Setting, named: Named) -> Meaning | None:
    if named["unit"].value != "weekend":
        return None
    return Meaning(*unit_span("weekend", -1, setting.as_of), "weekend", _LIKELY)


def _slashed(setting: Setting, named: Named) -> Meaning | None:
    """Return 4/7 as a day where a particle follows it; else it may be a share."""
    end = named["text"].end
    following = setting.folded[end : end + 1]
    meaning = points.slashed_day(setting, named)
    before = setting.folded[: named["text"].start][-1:]
    is_day = following in tuple("のにかま的那~-(") or before in tuple("~-ら到至从自")
    return meaning and replace(meaning, certainty=_LIKELY if is_day else _TOPIC)


def _first_of(setting: Setting, named: Named) -> Meaning | None:
    """Return 六月前三天, its first three days; behind a single day they are before it."""
    within: Meaning | None = named["within"].value if named["within"].letter != "y" else None
    if within is not None and within.first == within.last:
        return None
    which = named["which"]._replace(letter="o", value="1")
    return parts.of_span(setting, named | {"which": which})


def _since(setting: Setting, named: Named) -> Meaning | None:
    """Return 四月以来; 春天开始的 is what began then."""
    sign = named["sign"]
    written = setting.folded[sign.start : sign.end + 1]
    meaning = distances.edge(setting, {"since": named["since"]})
    return None if written in ("开始的", "開始的") else meaning


def _since_or_from(setting: Setting, named: Named) -> Meaning | None:
    """Return 从九月 with no end: up to today, less surely."""
    meaning = distances.edge(setting, named)
    return meaning and replace(meaning, certainty=min(meaning.certainty, 0.8))


def _ago(setting: Setting, named: Named) -> Meaning | None:
    """Return 三日前; of 終わる三日前 it is not known what day that is."""
    is_ago = named["to"].letter == "<"
    meaning = (distances.ago if is_ago else distances.ahead)(setting, named)
    before = setting.folded[: named["long"].start][-1:]
    is_beside = setting.language == "ja" and before in tuple("るたのい")
    return replace(meaning, certainty=_TOPIC) if meaning and is_beside else meaning


def _since_long(setting: Setting, named: Named) -> Meaning | None:
    """Return 三年以来; 三日以降 is counted from another day."""
    is_beside = "降" in setting.folded[named["long"].end :][:3]
    return None if is_beside else distances.since_long(setting, named)


def _recently(setting: Setting, named: Named) -> Meaning | None:
    """Return 最近, which as 最近的 is as often the nearest of some."""
    meaning = distances.recently(setting, named)
    is_nearest = setting.folded[named["recent"].end :][:1] == "的"
    return replace(meaning, certainty=_TOPIC) if is_nearest else meaning


def _rolling(setting: Setting, named: Named) -> Meaning | None:
    if named["shift"].letter == "S" and int(named["shift"].value):
        return None
    shift = named["shift"]._replace(value="-1")
    return distances.rolling(setting, named | {"shift": shift})


def _weekdays(setting: Setting, named: Named) -> Meaning | None:
    """Return "from Monday to Wednesday", where the latest Monday is after the latest Wednesday."""
    left, right = named["a"], named["b"]
    ends: list[Meaning] = [left.value, right.value]
    if all(end.unit == "weekday" for end in ends) and ends[0].first > ends[1].first:
        moved = ends[0].first - timedelta(_WEEK_DAYS)
        named = named | {"a": left._replace(value=replace(ends[0], first=moved, last=moved))}
    return distances.between(setting, named)


_X = "[xmZY]"
_YEAR = " year=[yY]?"
_NUMBERED = " year=[yYn]"

_LISTED: tuple[tuple[str, str, Callable[[Setting, Named], Any], str], ...] = (
    ("1", "text=1", points.numeric_day, "x"),
    ("2", "text=2", points.numeric_month, "m"),
    ("3", "text=3", _slashed, "x"),
    ("C", "unit=C", distances.shifted_unit, ""),
    ("S U", "shift=S unit=U", distances.shifted_unit, ""),
    ("S W", "shift=S weekday=W P?", _weekday, "x"),
    ("n", "year=n (?=[-t][ny])", _year, "Y"),
    ("n", "(?<=Y[-t]) year=n", _year, "Y"),
    # DaySpan and months
    ("M d", f"F?{_YEAR} month=M from=d [-t(&] day=d [)b]?", points.days_of_month, "x"),
    ("M d", f"{_YEAR} month=M day=d", points.day_of_month, "x"),
    ("m d", "F? within=m from=d [-t(&] day=d [)b]?", _days_of_span, "x"),
    ("m d", "within=m day=d", points.day_of_span, "x"),
    ("x W", "day=x W", parts.named_day, "x"),
    ("M", f"{_YEAR} month=M", _month, "m"),
    # What comes once a year
    ("N yYn", f"{_NUMBERED} season=N", _season, "x"),
    ("S N", "shift=S season=N", _season, "x"),
    ("N", "season=N (?= edge=[-t()<>])", _season, "x"),
    ("N", "season=N", _season, "x"),
    ("H yYn", f"{_NUMBERED} holiday=H", _holiday, "x"),
    ("S H", "shift=S holiday=H", _holiday, "x"),
    ("H", "holiday=H (?= edge=[-t()<>T])", _holiday, "x"),
    ("H", "holiday=H", _holiday, "x"),
    # Quarters, weeks, halves, decades, and parts of a span
    ("5", f"{_NUMBERED}? part=5", points.numbered_part, ""),
    ("o U", f"{_NUMBERED}? number=o unit=U", points.numbered_unit, ""),
    ("m o #", "within=m which=o unit=#", parts.of_span, "x"),
    ("o #", f"{_NUMBERED}? number=o unit=#", points.numbered_unit, ""),
    ("J", f"{_NUMBERED}? half=J", parts.half_year, "x"),
    ("z", "number=z", points.decade, "x"),
    ("mYy oL T", "within=[mYy] which=[oL] long=T", parts.of_span, "x"),
    ("mYy oL UW", "within=[mYy] which=[oL] unit=[UW]", parts.of_span, "x"),
    ("mYy < T", "within=[mYy] which=< long=T", _first_of, "x"),
    ("h", "within=[mYyxU] which=h", parts.half, "x"),
    ("E", "within=[mYyxZ] U? part=E", parts.third, "x"),
    ("U E", "within=U part=E", _part_of_now, "x"),
    ("y", "year=y", _year, "Y"),
    # Weekdays and days by their distance
    ("Z W", "week=Z weekday=W P?", parts.weekday_of_week, "x"),
    ("x U", "within=x week=U", parts.week_of, "Z"),
    ("U", "unit=U", _weekend, "x"),
    ("d W", "day=d weekday=W P?", _day_alone, "x"),
    ("W", "weekday=W P?", _weekday, "x"),
    ("Y D", "within=Y day=D", _same_day, "x"),
    ("T < D", "long=T <D", distances.ago, "x"),
    ("D", "day=D P?", distances.day_word, "x"),
    ("d", "day=d P?", _day_alone, "x"),
    # By the distance from another date, or from today
    ("x T <>", "anchor=x long=T to=[<>]", distances.beside, "x"),
    ("x T <>", "anchor=x to=[<>] long=T", distances.beside, "x"),
    ("x v", "anchor=x [<>]? eve=v P?", distances.beside, "x"),
    ("T <>", "long=T to=[<>]", _ago, "x"),
    ("l T", "shift=l long=T", distances.rolling, "x"),
    ("< T", "(?<![xmZY]) shift=< long=T (?![<>])", _rolling, "x"),
    ("pcS T", "shift=[pcS] long=T", _rolling, "x"),
    ("T (", r"long=T \(", _since_long, "x"),
    ("c", "recent=c", _recently, "x"),
    # Intervals
    ("-t", rf"F? a={_X} [(]?[-t] b={_X} [)b]?", _weekdays, "x"),
    ("(", rf"a={_X} [(] b={_X} [)b]?", _weekdays, "x"),
    ("& b", rf"a={_X} & b={_X} b", _weekdays, "x"),
    ("(", rf"[sF] since={_X} [(]", distances.edge, "x"),
    ("(", rf"since={_X} sign=[(]", _since, "x"),
    ("ut )", rf"[ut] until={_X} [)]", distances.edge, "x"),
    ("u", rf"u until={_X}", distances.edge, "x"),
    (")", rf"until={_X} [)]", distances.edge, "x"),
    ("<", rf"before={_X} <", distances.edge, "x"),
    (">", rf"after={_X} >", distances.edge, "x"),
    ("sF", rf"[sF] since={_X}", _since_or_from, "x"),
)
CHARACTER_RULES = tuple(Rule(*listed) for listed in _LISTED)
"""In the order in which they claim tokens."""
