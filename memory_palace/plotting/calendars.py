"""Days along an axis, counted as ``date.toordinal`` does."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta
from typing import Any

MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
"""In English, as all words of pictures, whatever the locale."""
_MOST_TICKS = 13


def draw_days(axes: Any, first: date, last: date) -> None:
    """Make ``x`` an axis of days, with first days of months named."""
    days = list(_months(first, last))
    days = days[:: -(-len(days) // _MOST_TICKS)] if days else [first]
    labels = [_name(day, before) for day, before in zip(days, [None, *days], strict=False)]
    axes.set_xlim(first.toordinal(), max(last, first + timedelta(days=1)).toordinal())
    axes.set_xticks([day.toordinal() for day in days], labels)


def _months(first: date, last: date) -> Iterator[date]:
    month = first.year * 12 + first.month - (first.day == 1)
    while (day := date(month // 12, month % 12 + 1, 1)) <= last:
        yield day
        month += 1


def _name(day: date, before: date | None) -> str:
    """Return a short name; the year stands below where it begins."""
    name = MONTHS[day.month - 1]
    return name if before is not None and before.year == day.year else f"{name}\n{day.year}"
