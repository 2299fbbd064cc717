"""Rules for calendar dates: days, weeks, months, seasons, holidays, quarters, and their parts."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date, timedelta
from functools import cache, partial

from memory_palace.language.time_spans import (
    EARLIEST,
    LATEST,
    DaySpan,
    Meaning,
    Setting,
    Token,
    follows,
    in_some_year,
    make_day,
    month_span,
    move,
    precedes,
    span_of,
    unit_span,
    within,
    year_of,
)
from memory_palace.language.time_words import CHARACTERS, read_lexicon
from memory_palace.language.words import read_table

_NUMBERS = re.compile(r"\d+")
_FRACTIONS = {(1, 2), (1, 3), (2, 3), (1, 4), (3, 4)}
_GUESSED = 0.5
_SIGN = re.compile(r"[`<>=~^§][. =]*$")
_MONTHS_OF = {"month": 1, "quarter": 3, "half": 6}
_read_moving = cache(partial(read_table, "time/moving.txt"))
_WORD_BEFORE = re.compile(r"([^\W\d_]{1,12})[.]? ?$")
_CLOCK_BEHIND = re.compile(r"\s?[ap]\.?m\b")
_UNSURE, _LONGEST_SHORT = 0.45, 8
_NAME = re.compile(r" (?!I\b)[A-Z][a-z]")
_WEEKS, _CENTURY, _LEAST_DECADE = 53, 100, 20
_FIRST_LISTED = 1990
_LAST = -1
_WEEK_DAYS, _MONTH_DAYS = 7, 31


def one_day(day: date | None, *, has_year: bool = False) -> Meaning | None:
    """Return the meaning of a day; ``None`` for ``None``."""
    return Meaning(day, day, "day", 1.0 if has_year else 0.95, has_year=has_year) if day else None


def day_of_year(setting: Setting, day: int, month: int, year: int | None = None) -> Meaning | None:
    """Return a day of a month in ``year``, or else the latest such day."""

    def make(year: int) -> DaySpan | None:
        found = make_day(year, month, day)
        return (found, found) if found else None

    return in_some_year(make, setting, "day", year=year)


def numbered(
    setting: Setting, unit: str, number: int, year: int | None, *, certainty: float = 0.95
) -> Meaning | None:
    """Return an ISO week, month, quarter or half by number, in ``year`` or else the latest."""
    months = _MONTHS_OF.get(unit, 0)

    def make(year: int) -> DaySpan | None:
        if months:
            return month_span(year, months * (number - 1) + 1, months)
        try:
            monday = date.fromisocalendar(year, number, 1)
        except ValueError:
            return None
        return monday, monday + timedelta(6)

    if not 1 <= number <= (12 // months if months else _WEEKS):
        return None
    span = "span" if unit == "half" else unit
    return in_some_year(make, setting, span, year=year, certainty=certainty)


def days_of_month(setting: Setting, named: dict[str, Token]) -> Meaning | None:
    """Return "May 3-5" and "vom 3. bis 9. August"."""
    first, last = int(float(named["from"].value)), int(float(named["day"].value))
    month = int(named["month"].value)

    def make(year: int) -> DaySpan | None:
        days = make_day(year, month, first), make_day(year, month, last)
        return (days[0], days[1]) if days[0] and days[1] and days[0] <= days[1] else None

    return in_some_year(make, setting, "span", year=year_of(named.get("year")))


def day_of_month(setting: Setting, named: dict[str, Token]) -> Meaning | None:
    """Return "the 3rd of May, 2024"; a month's word with other meanings needs further evidence."""
    month, day = named["month"], named["day"]
    if " - " in setting.folded[day.start : month.end]:  # December 28 - January 3
        return None
    is_told = {"year", "at"} & named.keys() or setting.text[month.start].isupper()
    behind = setting.folded[max(month.end, day.end) :][:9].lstrip()
    if float(day.value) % 1 or (month.is_weak and not is_told and behind[:1].isalpha()):
        return None  # "step 2 may fail"
    number, year = int(float(day.value)), year_of(named.get("year"))
    return day_of_year(setting, number, int(month.value), year)


def day_of_span(setting: Setting, named: dict[str, Token]) -> Meaning | None:
    """Return "the 3rd of last month"."""
    within = named["within"].value
    number = float(named["day"].value)
    day = within.first + timedelta(int(number) - 1)
    return one_day(day) if number >= 1 and within.first <= day <= within.last else None


def month(setting: Setting, named: dict[str, Token]) -> Meaning | None:
    """Return a month: with a year, "last May", or alone if the word is not ambiguous."""
    token = named["month"]
    number = int(token.value)
    is_backed = bool(named.keys() & {"year", "shift", "at", "to"})
    if token.is_weak and not _is_meant(setting, named, is_backed=is_backed):
        return None
    return in_some_year(
        lambda year: month_span(year, number),
        setting,
        "month",
        year=year_of(named.get("year")),
        direction=int(named["shift"].value) if "shift" in named else None,
        is_bare=not is_backed,
    )


def _is_meant(setting: Setting, named: dict[str, Token], *, is_backed: bool) -> bool:
    """Whether a word that is also a verb, a noun or a name, "may", "march", means a month."""
    token, at = named["month"], named.get("at")
    is_alone = setting.folded.strip(" ?.!") == setting.folded[token.start : token.end]
    if not (is_backed or is_alone or precedes("of", setting.folded, token.start)):
        return False
    is_told = bool(named.keys() & {"year", "shift", "to"})
    if not is_told and setting.folded.endswith("the ", 0, token.start):
        return False
    if at is not None and at.letter in "-&t" and not named.keys() & {"year", "to"}:
        word = _WORD_BEFORE.search(setting.folded, max(0, at.start - 12), at.start)  # March-May
        entries = read_lexicon(setting.language).words.get(word[1], ()) if word else ()
        if not any(entry.letter == "M" for entry in entries):
            return False
    pointed = named.get("shift", at)
    written = setting.text[: token.start]
    is_pointed = pointed is not None and pointed.letter == "S" and written.lower() != written
    is_ending = at is None and "to" in named and named["to"].letter == "E"
    is_small = setting.language == "en" and setting.text[token.start].islower()
    return not (is_small and (is_pointed or is_ending))  # "This may lead to"


def _is_name(setting: Setting, token: Token) -> bool:
    """Whether an English word is a person's first name: "Autumn Phillips"."""
    return setting.language == "en" and bool(_NAME.match(setting.text, token.end))


def yearly(setting: Setting, named: dict[str, Token]) -> Meaning | None:
    """Return a season or a holiday; "winter 2024", or 2024/25, begins in December 2024."""
    is_season = "season" in named
    token, at = named["season" if is_season else "holiday"], named.get("at")
    year = year_of(named.get("year"))
    if "double" in named:
        year, following = map(int, _NUMBERS.findall(named["double"].value))
        if (following - year - 1) % _CENTURY:
            return None

    def make(year: int) -> DaySpan | None:
        return month_span(year, int(token.value), 3) if is_season else _holiday(token.value, year)

    is_backed = year is not None or at is not None or bool(named.keys() & {"shift", "to"})
    if token.is_weak and (not is_backed or (at and at.letter in "j-&t")):
        return None
    if year is None and is_season and _is_name(setting, token):
        return None
    is_topic = is_season and year is None and at is not None and at.letter in "Iij"
    return in_some_year(
        make,
        setting,
        "season" if is_season else "day",
        year=year,
        direction=int(named["shift"].value) if "shift" in named else None,
        certainty=0.45 if is_topic and "shift" not in named else 0.9,
        is_bare=not is_backed,
    )


def numbered_unit(setting: Setting, named: dict[str, Token]) -> Meaning | None:
    """Return "week 32", "第32周", "KW 32 2026" or "the third quarter of 2025"."""
    unit, token = named["unit"], named["number"]
    number, year = int(float(token.value)), year_of(named.get("year"))
    if unit.letter == "U" and unit.value == "quarter":
        return numbered(setting, "quarter", number % 5, year)
    is_counted = token.letter == "o" and not setting.folded[token.end - 1].isdigit()
    if unit.letter == "U" and (unit.value != "week" or is_counted):
        return None
    return numbered(setting, "week", number, year)


def decade(setting: Setting, named: dict[str, Token]) -> Meaning | None:
    """Return "the nineties", "années 80" or "the 2010s"."""
    unit, token = named.get("unit"), named["number"]
    number = int(float(token.value))
    if unit and unit.value not in ("year", "decade"):
        return None
    if number % 10 or number < _LEAST_DECADE:
        return None
    first = number if number > _CENTURY else 1900 + number
    return Meaning(*month_span(first, 1, 120), "decade", has_year=True)


def written_year(setting: Setting, named: dict[str, Token]) -> Meaning | None:
    """Return "in 2019" and "the year 2019"."""
    if "unit" in named and named["unit"].value != "year":
        return None
    year = int(named["year"].value)
    unit = named.get("unit")
    if unit and year % 10 == 0 and precedes("years", setting.folded, unit.end):
        return None
    return Meaning(*month_span(year, 1, 12), "year", has_year=True)


def numeric_day(setting: Setting, named: dict[str, Token]) -> Meaning | None:
    """Return 2026-05-03, 14.10.2026, 14.10. or 3/4/26 by the order of the setting."""
    text, start = named["text"].value, named["text"].start
    if precedes("version", setting.folded, start) or _SIGN.search(
        setting.folded, max(0, start - 3), start
    ):
        return None
    if text.isdigit():
        day = make_day(int(text[:4]), int(text[4:6]), int(text[6:]))
        return Meaning(day, day, "day", 0.6, has_year=True) if day else None
    numbers = [int(number) for number in _NUMBERS.findall(text)]
    if numbers[0] > _CENTURY:
        return one_day(make_day(*numbers), has_year=True)
    if _CLOCK_BEHIND.match(setting.folded, named["text"].end):
        return None
    if len(numbers) == 2:
        if setting.language in CHARACTERS:
            return day_of_year(setting, numbers[1], numbers[0])
        is_dated = setting.order != "mdy" and setting.language == "de"
        return day_of_year(setting, numbers[0], numbers[1]) if is_dated else None
    meaning = _day_of_three(setting, numbers, is_dotted="." in text)
    is_plain = len(text) < _LONGEST_SHORT and "." in text and "at" not in named
    return replace(meaning, certainty=_UNSURE) if meaning and is_plain else meaning


def _day_of_three(setting: Setting, numbers: list[int], *, is_dotted: bool) -> Meaning | None:
    first, second, third = numbers
    order = setting.order
    if (
        order == "ymd"
        and third < _CENTURY
        and (day := make_day(_full_year(setting, first), second, third))
    ):
        return one_day(day, has_year=True)
    year = third if third > _CENTURY else _full_year(setting, third)
    days = [make_day(year, second, first), make_day(year, first, second)]
    if is_dotted and third < _CENTURY:
        days = days[:1]
    elif order == "dmy" or order == "ymd" or (is_dotted and not order):
        days = [days[0] or days[1]]
    elif order == "mdy":
        days = [days[1] or days[0]]
    return _either([day for day in days if day], has_year=True)


def slashed_day(setting: Setting, named: dict[str, Token]) -> Meaning | None:
    """Return 14/10 or 10/14, in the order of the setting, or both readings if it has none."""
    first, second = map(int, _NUMBERS.findall(named["text"].value))
    if (first, second) in _FRACTIONS and not ("at" in named and named["at"].letter == "i"):
        return None
    if follows("part", setting.folded, named["text"].end):
        return None
    pairs = [(first, second), (second, first)]
    if setting.order in ("ymd", "mdy"):
        pairs.reverse()
    found = [meaning for pair in pairs if (meaning := day_of_year(setting, *pair))]
    if setting.order or len(found) == 1:
        return found[0] if found else None
    return _either([day.first for day in found])


def _full_year(setting: Setting, short: int) -> int:
    """Return the year of two digits: at most twenty years ahead."""
    year = 2000 + short
    return year if year <= setting.as_of.year + 20 else year - 100


def _either(days: list[date], *, has_year: bool = False) -> Meaning | None:
    distinct = sorted(set(days))
    if not distinct:
        return None
    others = tuple((day, day) for day in distinct[1:])
    certainty = _GUESSED if others else 0.95
    return Meaning(distinct[0], distinct[0], "day", certainty, has_year=has_year, others=others)


def numeric_month(setting: Setting, named: dict[str, Token]) -> Meaning | None:
    """Return 2026-05 or 05/2026."""
    text = named["text"].value
    year, month = sorted(map(int, _NUMBERS.findall(text)), reverse=True)
    return numbered(setting, "month", month, year, certainty=0.6 if "." in text else 0.95)


def numbered_part(setting: Setting, named: dict[str, Token]) -> Meaning | None:
    """Return Q3, 2024Q3, H2 2024, W32 or KW32."""
    text = named["part"].value
    year = year_of(named.get("year"))
    if text[:4].isdigit():
        year, text = int(text[:4]), text[4:].strip("- ")
    elif "/" in text:
        text, _, written = text.partition("/")
        year = int(written)
    number = int(_NUMBERS.findall(text)[0])
    if "w" in text:
        is_told = "k" in text or year is not None
        certainty = 0.95 if is_told else _UNSURE
        return numbered(setting, "week", number, year, certainty=certainty)
    if "h" in text:
        return numbered(setting, "half", number, year) if year is not None else None
    if "t" in text and setting.language in ("en", "de"):
        return None
    return numbered(setting, "quarter", number, year)


def _holiday(rule: str, year: int) -> DaySpan | None:
    """Return the days of a holiday in a year, ``None`` if they are not known.

    ``12-25`` is a day, ``11=3.4`` the fourth Thursday (0 is Monday) of November, ``05=6.-1`` the
    last Sunday of May, ``easter-2`` days from a feast of ``moving.txt``; ``*30`` is a length in
    days.
    """
    name, _, lasting = rule.partition("*")
    day = _first_day(name, year)
    return (day, day + timedelta(int(lasting or 1) - 1)) if day else None


def _first_day(name: str, year: int) -> date | None:
    if "=" in name:
        month, _, weekday_number = name.partition("=")
        weekday, _, number = weekday_number.partition(".")
        return nth_weekday(*month_span(year, int(month)), int(weekday), int(number))
    if name[0].isdigit():
        month, _, day = name.partition("-")
        return make_day(year, int(month), int(day))
    feast = name.rstrip("+-0123456789")
    begins = _feast(feast, year)
    return begins + timedelta(int(name[len(feast) :] or 0)) if begins else None


def _feast(name: str, year: int) -> date | None:
    days = _read_moving()[name].split()
    listed = days[year - _FIRST_LISTED] if 0 <= year - _FIRST_LISTED < len(days) else "-"
    return None if listed == "-" else date(year, int(listed[:2]), int(listed[2:4]))


def nth_weekday(first: date, last: date, weekday: int, number: int) -> date | None:
    """Return the ``number``-th weekday of a span, counted from its end if negative."""
    if number < 0:
        return last - timedelta((last.weekday() - weekday) % 7 - 7 * (number + 1))
    day = first + timedelta((weekday - first.weekday()) % 7 + 7 * (number - 1))
    return day if day <= last else None


def of_span(setting: Setting, named: dict[str, Token]) -> Meaning | None:
    """Return the first week, the last three days or the second Monday of a span."""
    number = 1 if named["which"].letter == "<" else int(float(named["which"].value))  # 六月前三天
    long = named.get("long")
    unit = long.value.unit if long else named["unit"].value
    count = long.value.count if long else float(named["count"].value) if "count" in named else 1

    def cut(span: DaySpan) -> DaySpan | None:
        if "unit" in named and named["unit"].letter == "W":
            day = nth_weekday(*span, int(unit), number)
            return (day, day) if day else None
        if unit == "weekend":
            day = nth_weekday(*span, 5, number)
            return (day, day + timedelta(1)) if day else None
        return _cut(span, unit, count, number)

    return within(setting, named["within"], cut, "day" if unit == "day" and count == 1 else "span")


def _cut(span: DaySpan, unit: str, count: float, number: int) -> DaySpan | None:
    first, last = span
    if number == _LAST:
        cut = move(last + timedelta(1), -count, unit), last
    else:
        begins = move(first, (number - 1) * count, unit)
        cut = begins, move(begins, count, unit) - timedelta(1)
    return cut if first <= cut[0] and cut[1] <= last and cut[0] <= cut[1] else None


def half(setting: Setting, named: dict[str, Token]) -> Meaning | None:
    """Return a half: of a month by its 15th, of a longer span by its months."""
    which = int(float(named["which"].value))

    def cut(span: DaySpan) -> DaySpan | None:
        first, last = span
        days = (last - first).days + 1
        if days <= _WEEK_DAYS:
            return None
        if days <= _MONTH_DAYS:
            middle = first + timedelta(14)
        else:
            months = (last.year - first.year) * 12 + last.month - first.month + 1
            middle = move(first, months // 2, "month") - timedelta(1)
        return (first, middle) if which == 1 else (middle + timedelta(1), last)

    return within(setting, named["within"], cut, "span") if which in (1, 2, _LAST) else None


def third(setting: Setting, named: dict[str, Token]) -> Meaning | None:
    """Return the early, middle or late part: of a month 1-10, 11-20 and the rest."""
    part = int(named["part"].value) if "part" in named else 1
    if "middle" in named and setting.language in ("en", "de"):
        return None
    unit = named["within"].value if named["within"].letter == "U" else "year"
    if unit != "year" and setting.language in CHARACTERS:  # 月末: more often any end of a month
        return None

    def cut(span: DaySpan) -> DaySpan | None:
        first, last = span
        days = (last - first).days + 1
        if days < _WEEK_DAYS:
            return None
        if days == _WEEK_DAYS:
            edges = [first, first + timedelta(2), first + timedelta(4), last + timedelta(1)]
        elif days <= _MONTH_DAYS:
            edges = [first, first + timedelta(10), first + timedelta(20), last + timedelta(1)]
        else:
            months = (last.year - first.year) * 12 + last.month - first.month + 1
            edges = [move(first, months * third // 3, "month") for third in range(4)]
        return edges[part], edges[part + 1] - timedelta(1)

    return within(setting, named["within"], cut, "span")


def half_year(setting: Setting, named: dict[str, Token]) -> Meaning | None:
    """Return "the first half-year of 2026", "H2 2024" and "上半年"."""
    which = named.get("number", named["half"])
    number = int(float(which.value)) % 3
    year = year_of(named.get("year") or named.get("later"))
    if "number" not in named and year is None and which.is_weak:
        return None
    return numbered(setting, "half", number, year)


def week_of(setting: Setting, named: dict[str, Token]) -> Meaning | None:
    """Return the week in which a day lies, or the weekend of that week."""
    day, unit = span_of(setting, named["within"]), str(named["week"].value)
    if unit not in ("week", "weekend") or day is None or day[0] != day[1]:
        return None
    has_year = named["within"].value.has_year
    return Meaning(*unit_span(unit, 0, day[0]), unit, has_year=has_year)


def named_day(setting: Setting, named: dict[str, Token]) -> Meaning | None:
    """Return a calendar day with its weekday beside it; the weekday is not checked."""
    meaning: Meaning = named["day"].value
    return meaning if meaning.unit == "day" and not meaning.is_bare else None


def weekday_of_week(setting: Setting, named: dict[str, Token]) -> Meaning | None:
    """Return "Tuesday last week"."""
    monday = named["week"].value.first
    day = monday + timedelta(int(named["weekday"].value))
    return Meaning(day, day, "weekday")


def counted(setting: Setting, named: dict[str, Token]) -> Meaning | None:
    """Return "our third session", "sessions 2 to 4" or "two chats ago"; not "her first session".

    What is no talk or entry for sure is one if it is ours: "our meeting", "my last entry".
    """
    places = [token for name, token in named.items() if name != "at"]
    begin, stop = min(token.start for token in places), max(token.end for token in places)
    unit, first, count = named["unit"], named.get("first"), named.get("count")
    is_unsure = unit.is_weak and "ago" not in named and not precedes("ours", setting.folded, begin)
    if is_unsure or precedes("theirs", setting.folded, begin) or not setting.counts_talks:
        return None
    kind, _, fixed = unit.value.partition("_")
    is_open = fixed and setting.folded[stop : stop + 2].strip().isalpha()  # the time before me
    if is_open or follows("topic", setting.folded, stop):
        return None
    at = int(float(first.value)) if first else int(fixed or 0)
    number = int(float(count.value)) if count else 1
    end = int(float(named["last"].value)) if "last" in named else at
    if "ago" in named:
        at = end = -number
    elif "back" in named:  # second to last, or before last
        at = end = -at if first else -2
    elif count:
        at, end = {1: (1, number), -1: (-number, -1)}.get(at, (0, 0))
    if not at or (first and first.letter == "S" and at > 0):
        return None
    counted = at - (at > 0), end if end > 0 else end + 1 or None, kind
    return Meaning(EARLIEST, LATEST, "span", counted=counted)
