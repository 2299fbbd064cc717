"""Rules of Chinese and Japanese, whose words of relation mostly stand behind: 三天前, 5月から.

Patterns of letters like those of ``rules``, over the tokens of ``characters``; what they make is
made by the same functions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

from memory_palace.language.time import distances, intervals, numeric, parts, points
from memory_palace.language.time.characters import tells_what_happened
from memory_palace.language.time.making import Meaning, Setting, in_some_year, year_of
from memory_palace.language.time.rules import Named, Rule
from memory_palace.language.time.spans import make_day, month_span, unit_span

_TOPIC, _LIKELY = 0.4, 0.6
_WEEKDAYS = 7


def _year(setting: Setting, named: Named) -> Meaning | None:
    """Return 2024年; a number alone is a year only where its neighbours say so."""
    token = named["year"]
    is_version = setting.folded[: token.start].rstrip()[-1:].isascii() and token.start > 0
    certainty = 0.95 if token.letter == "y" else _TOPIC if is_version else _LIKELY
    return Meaning(*month_span(int(token.value), 1, 12), "year", certainty, has_year=True)


def _month(setting: Setting, named: Named) -> Meaning | None:
    number = int(named["month"].value)
    if not 1 <= number <= 12:
        return None
    year = year_of(named.get("year"))
    return in_some_year(lambda year: month_span(year, number), setting, "month", year=year)


def _day_alone(setting: Setting, named: Named) -> Meaning | None:
    """Return "15日" or "15号": the latest; a number of a house or a line is written the same."""
    number, today = int(named["day"].value), setting.as_of
    months = (month_span(today.year, today.month - back)[0] for back in range(3))
    days = (make_day(first.year, first.month, number) for first in months)
    day = next((day for day in days if day and day <= today), None)
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
    meaning = numeric.slashed_day(setting, named)
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
    meaning = intervals.edge(setting, {"since": named["since"]})
    return None if written in ("开始的", "開始的") else meaning


def _since_or_from(setting: Setting, named: Named) -> Meaning | None:
    """Return 从九月 with no end: up to today, less surely."""
    meaning = intervals.edge(setting, named)
    return meaning and replace(meaning, certainty=min(meaning.certainty, 0.8))


def _ago(setting: Setting, named: Named) -> Meaning | None:
    """Return 三日前; of 終わる三日前 it is not known what day that is."""
    is_ago = named["to"].letter == "<"
    meaning = (intervals.ago if is_ago else intervals.ahead)(setting, named)
    before = setting.folded[: named["long"].start][-1:]
    is_beside = setting.language == "ja" and before in tuple("るたのい")
    return replace(meaning, certainty=_TOPIC) if meaning and is_beside else meaning


def _since_long(setting: Setting, named: Named) -> Meaning | None:
    """Return 三年以来; 三日以降 is counted from another day."""
    is_beside = "降" in setting.folded[named["long"].end :][:3]
    return None if is_beside else intervals.since_long(setting, named)


def _recently(setting: Setting, named: Named) -> Meaning | None:
    """Return 最近, which as 最近的 is as often the nearest of some."""
    meaning = intervals.recently(setting, named)
    is_nearest = setting.folded[named["recent"].end :][:1] == "的"
    return replace(meaning, certainty=_TOPIC) if is_nearest else meaning


def _rolling(setting: Setting, named: Named) -> Meaning | None:
    if named["shift"].letter == "S" and int(named["shift"].value):
        return None
    shift = named["shift"]._replace(value="-1")
    return intervals.rolling(setting, named | {"shift": shift})


def _weekdays(setting: Setting, named: Named) -> Meaning | None:
    """Return "from Monday to Wednesday", where the latest Monday is after the latest Wednesday."""
    left, right = named["a"], named["b"]
    ends: list[Meaning] = [left.value, right.value]
    if all(end.unit == "weekday" for end in ends) and ends[0].first > ends[1].first:
        moved = ends[0].first - timedelta(_WEEKDAYS)
        named = named | {"a": left._replace(value=replace(ends[0], first=moved, last=moved))}
    return intervals.between(setting, named)


_X = "[xmZY]"
_YEAR = "(?P<year>[yY])?"
_NUMBERED = "(?P<year>[yYn])"

_LISTED: tuple[tuple[str, str, Callable[[Setting, Named], Any], str], ...] = (
    ("1", "(?P<text>1)", numeric.numeric_day, "x"),
    ("2", "(?P<text>2)", numeric.numeric_month, "m"),
    ("3", "(?P<text>3)", _slashed, "x"),
    ("C", "(?P<unit>C)", distances.shifted_unit, ""),
    ("S U", "(?P<shift>S)(?P<unit>U)", distances.shifted_unit, ""),
    ("S W", "(?P<shift>S)(?P<weekday>W)P?", _weekday, "x"),
    ("n", "(?P<year>n)(?=[-t][ny])", _year, "Y"),
    ("n", "(?<=Y[-t])(?P<year>n)", _year, "Y"),
    # DaySpan and months
    ("M d", f"F?{_YEAR}(?P<month>M)(?P<from>d)[-t(&](?P<day>d)[)b]?", points.days_of_month, "x"),
    ("M d", f"{_YEAR}(?P<month>M)(?P<day>d)", points.day_of_month, "x"),
    ("m d", "F?(?P<within>m)(?P<from>d)[-t(&](?P<day>d)[)b]?", _days_of_span, "x"),
    ("m d", "(?P<within>m)(?P<day>d)", points.day_of_span, "x"),
    ("x W", "(?P<day>x)W", parts.named_day, "x"),
    ("M", f"{_YEAR}(?P<month>M)", _month, "m"),
    # What comes once a year
    ("N yYn", f"{_NUMBERED}(?P<season>N)", _season, "x"),
    ("S N", "(?P<shift>S)(?P<season>N)", _season, "x"),
    ("N", "(?P<season>N)(?=(?P<edge>[-t()<>]))", _season, "x"),
    ("N", "(?P<season>N)", _season, "x"),
    ("H yYn", f"{_NUMBERED}(?P<holiday>H)", _holiday, "x"),
    ("S H", "(?P<shift>S)(?P<holiday>H)", _holiday, "x"),
    ("H", "(?P<holiday>H)(?=(?P<edge>[-t()<>T]))", _holiday, "x"),
    ("H", "(?P<holiday>H)", _holiday, "x"),
    # Quarters, weeks, halves, decades, and parts of a span
    ("5", f"{_NUMBERED}?(?P<part>5)", numeric.numbered_part, ""),
    ("o U", f"{_NUMBERED}?(?P<number>o)(?P<unit>U)", points.numbered_unit, ""),
    ("m o #", "(?P<within>m)(?P<which>o)(?P<unit>#)", parts.of_span, "x"),
    ("o #", f"{_NUMBERED}?(?P<number>o)(?P<unit>#)", points.numbered_unit, ""),
    ("J", f"{_NUMBERED}?(?P<half>J)", parts.half_year, "x"),
    ("z", "(?P<number>z)", points.decade, "x"),
    ("mYy oL T", "(?P<within>[mYy])(?P<which>[oL])(?P<long>T)", parts.of_span, "x"),
    ("mYy oL UW", "(?P<within>[mYy])(?P<which>[oL])(?P<unit>[UW])", parts.of_span, "x"),
    ("mYy < T", "(?P<within>[mYy])(?P<which><)(?P<long>T)", _first_of, "x"),
    ("h", "(?P<within>[mYyxU])(?P<which>h)", parts.half, "x"),
    ("E", "(?P<within>[mYyxZ])U?(?P<part>E)", parts.third, "x"),
    ("U E", "(?P<within>U)(?P<part>E)", _part_of_now, "x"),
    ("y", "(?P<year>y)", _year, "Y"),
    # Weekdays and days by their distance
    ("Z W", "(?P<week>Z)(?P<weekday>W)P?", parts.weekday_of_week, "x"),
    ("x U", "(?P<within>x)(?P<week>U)", parts.week_of, "Z"),
    ("U", "(?P<unit>U)", _weekend, "x"),
    ("d W", "(?P<day>d)(?P<weekday>W)P?", _day_alone, "x"),
    ("W", "(?P<weekday>W)P?", _weekday, "x"),
    ("Y D", "(?P<within>Y)(?P<day>D)", _same_day, "x"),
    ("T < D", "(?P<long>T)<D", intervals.ago, "x"),
    ("D", "(?P<day>D)P?", distances.day_word, "x"),
    ("d", "(?P<day>d)P?", _day_alone, "x"),
    # By the distance from another date, or from today
    ("x T <>", "(?P<anchor>x)(?P<long>T)(?P<to>[<>])", intervals.beside, "x"),
    ("x T <>", "(?P<anchor>x)(?P<to>[<>])(?P<long>T)", intervals.beside, "x"),
    ("x v", "(?P<anchor>x)[<>]?(?P<eve>v)P?", intervals.beside, "x"),
    ("T <>", "(?P<long>T)(?P<to>[<>])", _ago, "x"),
    ("l T", "(?P<shift>l)(?P<long>T)", intervals.rolling, "x"),
    ("< T", "(?<![xmZY])(?P<shift><)(?P<long>T)(?![<>])", _rolling, "x"),
    ("pcS T", "(?P<shift>[pcS])(?P<long>T)", _rolling, "x"),
    ("T (", r"(?P<long>T)\(", _since_long, "x"),
    ("c", "(?P<recent>c)", _recently, "x"),
    # Intervals
    ("-t", rf"F?(?P<a>{_X})[(]?[-t](?P<b>{_X})[)b]?", _weekdays, "x"),
    ("(", rf"(?P<a>{_X})[(](?P<b>{_X})[)b]?", _weekdays, "x"),
    ("& b", rf"(?P<a>{_X})&(?P<b>{_X})b", _weekdays, "x"),
    ("(", rf"[sF](?P<since>{_X})[(]", intervals.edge, "x"),
    ("(", rf"(?P<since>{_X})(?P<sign>[(])", _since, "x"),
    ("ut )", rf"[ut](?P<until>{_X})[)]", intervals.edge, "x"),
    ("u", rf"u(?P<until>{_X})", intervals.edge, "x"),
    (")", rf"(?P<until>{_X})[)]", intervals.edge, "x"),
    ("<", rf"(?P<before>{_X})<", intervals.edge, "x"),
    (">", rf"(?P<after>{_X})>", intervals.edge, "x"),
    ("sF", rf"[sF](?P<since>{_X})", _since_or_from, "x"),
)
CHARACTER_RULES = tuple(Rule(*listed) for listed in _LISTED)
"""In the order in which they claim tokens."""
