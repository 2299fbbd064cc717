"""The days, months and years that a passage speaks of."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from datetime import date

from memory_palace.facts.fact import (
    Fact,
    FactKind,
    day_key,
    month_key,
    within_key,
    year_key,
    yearless_key,
)
from memory_palace.language.dates import Found, find_dates
from memory_palace.language.detect import is_english
from memory_palace.language.words import split_words
from memory_palace.markdown.prose import strip_markup

_ANY_DAY = date(2000, 12, 31)
"""A leap year, to read days without a year on."""
_WEEK_DAYS = 7


def extract_dates(text: str, written: date | None = None) -> list[Fact]:
    """Return a fact for each date that a passage names; none unless it is English.

    ``written`` is the day the note is from, where it says so: "yesterday" is a date then.
    """
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    prose = strip_markup(text)
    found = find_dates(prose, written or _ANY_DAY)
    if not found or not is_english(prose, [word.key for word in split_words(prose) if word.key]):
        return []
    return [fact for item in found for fact in _facts_of(item, has_day=written is not None)]


def _facts_of(found: Found, *, has_day: bool) -> Iterator[Fact]:
    if not (found.has_year or has_day):
        if found.unit == "day" and found.is_calendar:
            yield Fact(FactKind.DATE, yearless_key(found.windows[0].first), "")
        return
    for window in found.windows:
        middle = window.first + (window.last - window.first) / 2
        if (window.last - window.first).days < _WEEK_DAYS:
            yield Fact(FactKind.DATE, day_key(middle), window.expression)
            yield Fact(FactKind.DATE, within_key(month_key(middle)), "")
        elif found.unit == "year":
            yield Fact(FactKind.DATE, year_key(middle), window.expression)
        else:
            yield Fact(FactKind.DATE, month_key(middle), window.expression)
