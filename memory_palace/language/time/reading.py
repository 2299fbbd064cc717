"""Expressions of time in a text, as windows of days."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date

from memory_palace.language.detect import is_english
from memory_palace.language.time.english import ALL_HINTS, HINT, MAY, RULES
from memory_palace.language.time.spans import TimeExpression, Window, make_day
from memory_palace.language.tokens import Languages


def find_times(
    text: str, as_of: date, *, locale: str = "", languages: Languages = ()
) -> list[TimeExpression]:
    """Return the expressions of time of a text in order, read on the day ``as_of``.

    What has no year means the past: "in March" is the last March that has begun. ``locale``
    (``en-GB``) says which number of 3/4/2026 is the month; ``languages`` are those of the palace,
    preferred where a word means something in several.
    """
    hints = set(HINT.findall(text.casefold()))
    if "may" in hints and not MAY.search(text):
        hints.discard("may")
    if ALL_HINTS.isdisjoint(hints) or (any(map(str.isalpha, text)) and not is_english(text)):
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
                start, end = match.span()
                found.append(
                    TimeExpression(
                        start, end, text[start:end], windows, rule.unit, windows[0].weight, has_year
                    )
                )
    return _with_ranges(text, sorted(found, key=lambda item: item.start), as_of)


def _with_ranges(text: str, found: Sequence[TimeExpression], as_of: date) -> list[TimeExpression]:
    """Join "between A and B" and "from A to B", and open "since A" up to today."""
    joined: list[TimeExpression] = []
    for item in found:
        if joined and _is_range(text, joined[-1], item):
            item = _join(text, joined.pop(), item)
        elif _is_since(text, item) and item.windows[0].first < as_of:
            window = item.windows[0]
            item = replace(item, windows=(_span(window, window.first, as_of),), unit="span")
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


def _join(text: str, left: TimeExpression, right: TimeExpression) -> TimeExpression:
    """Join two expressions; "March 3 and March 9, 2024" share the year."""
    first, last = left.windows[0].first, right.windows[0].last
    if right.has_year and not left.has_year:
        first = make_day(last.year, first.month, first.day) or first
    window = _span(left.windows[0], min(first, last), max(first, last))
    return TimeExpression(
        left.start,
        right.end,
        text[left.start : right.end],
        (window,),
        "span",
        min(left.certainty, right.certainty),
        left.has_year and right.has_year,
    )


def _span(window: Window, first: date, last: date) -> Window:
    return Window(first, last, window.tolerance_days, window.weight, window.expression)
