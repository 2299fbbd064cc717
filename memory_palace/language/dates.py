"""Temporal expressions in a text, as windows of days."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from typing import NamedTuple

from memory_palace.language.calendars import Window, make_day
from memory_palace.language.date_rules import ALL_HINTS, HINT, MAY, RULES, WEEKDAY_NAMES

WEEKDAYS = frozenset(f"{name}{ending}" for name in WEEKDAY_NAMES for ending in ("", "s"))
"""Casefolded words that name a weekday."""
_WEEKDAY = re.compile(rf"\b({'|'.join(WEEKDAY_NAMES)})s?\b", re.I)


class TimeExpression(NamedTuple):
    """A temporal expression: where it stands and what it means."""

    start: int
    end: int
    windows: tuple[Window, ...]
    unit: str
    """How exact it is: ``day``, ``month``, ``year`` or ``span``."""
    has_year: bool
    """Whether it means the same whenever it is read."""

    @property
    def is_calendar(self) -> bool:
        """Whether it names a day of the calendar, "March 5", and not one by its distance."""
        return any(char.isdigit() for char in self.windows[0].expression)


def find_dates(text: str, as_of: date) -> list[TimeExpression]:
    """Return the temporal expressions of a text in order, read on the day ``as_of``.

    What has no year means the past: "in March" is the last March that has begun.
    """
    hints = set(HINT.findall(text.casefold()))
    if "may" in hints and not MAY.search(text):
        hints.discard("may")
    if ALL_HINTS.isdisjoint(hints):
        return []
    found: list[TimeExpression] = []
    for rule in RULES:
        if rule.hints.isdisjoint(hints):
            continue
        for match in rule.pattern.finditer(text):
            if any(match.start() < other.end and other.start < match.end() for other in found):
                continue
            windows = tuple(rule.make(match, as_of))
            if windows:
                has_year = bool(match.groupdict().get("year"))
                found.append(TimeExpression(*match.span(), windows, rule.unit, has_year))
    return _with_ranges(text, sorted(found), as_of)


def find_weekdays(text: str) -> tuple[int, ...]:
    """Return the weekdays that a text names, 0 for Monday, each once, in order."""
    names = (match.casefold() for match in _WEEKDAY.findall(text))
    return tuple(dict.fromkeys(WEEKDAY_NAMES.index(name) for name in names))


def _with_ranges(text: str, found: Sequence[TimeExpression], as_of: date) -> list[TimeExpression]:
    """Join "between A and B" and "from A to B", and open "since A" up to today."""
    joined: list[TimeExpression] = []
    for item in found:
        if joined and _is_range(text, joined[-1], item):
            item = _join(joined.pop(), item)
        elif _is_since(text, item) and item.windows[0].first < as_of:
            window = item.windows[0]
            item = item._replace(windows=(_span(window, window.first, as_of),), unit="span")
        joined.append(item)
    return joined


def _is_since(text: str, item: TimeExpression) -> bool:
    before = text[max(0, item.start - 6) : item.start].casefold().rstrip()
    return before.endswith("since") or text[item.start : item.end].casefold().startswith("since")


def _is_range(text: str, left: TimeExpression, right: TimeExpression) -> bool:
    opener = text[max(0, left.start - 9) : left.start].casefold().split()
    between = text[left.end : right.start].casefold().strip()
    is_opened = bool(opener) and opener[-1] in ("between", "from")
    return is_opened and between in ("and", "to", "until", "-", "–", "through", "till")


def _join(left: TimeExpression, right: TimeExpression) -> TimeExpression:
    """Join two expressions; "March 3 and March 9, 2024" share the year."""
    first, last = left.windows[0].first, right.windows[0].last
    if right.has_year and not left.has_year:
        first = make_day(last.year, first.month, first.day) or first
    window = _span(left.windows[0], min(first, last), max(first, last))
    return TimeExpression(
        left.start, right.end, (window,), "span", left.has_year and right.has_year
    )


def _span(window: Window, first: date, last: date) -> Window:
    return Window(first, last, window.tolerance_days, window.weight, window.expression)
