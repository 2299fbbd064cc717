"""Moments as people type them, and as programs hold them."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta
from typing import TypeAlias

from memory_palace.errors import UsageError

Moment: TypeAlias = float | date | str
"""Seconds since the epoch, a date, a datetime, or text such as ``2026-03-01`` or ``30d``."""

_AGO = re.compile(r"(\d{1,5})\s*([dwmy])")
_DAYS = {"d": 1, "w": 7, "m": 30, "y": 365}
_NAMED = {"today": 0, "yesterday": 1}


def to_timestamp(moment: Moment, *, now: float, end_of_day: bool = False) -> float:
    """Return a moment in seconds since the epoch.

    A date without a time is its first moment, or its last with ``end_of_day``. Times without a
    zone are UTC. Raise ``UsageError`` for text that is not a date.
    """
    if isinstance(moment, datetime):
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    if isinstance(moment, date):
        return _edge(datetime.combine(moment, time.min, UTC), end_of_day=end_of_day)
    if isinstance(moment, str):
        return _parse(moment, now=now, end_of_day=end_of_day)
    return float(moment)


def _parse(text: str, *, now: float, end_of_day: bool) -> float:
    today = datetime.fromtimestamp(now, UTC)
    wanted = text.strip().lower()
    try:
        if ago := _AGO.fullmatch(wanted):
            return (today - timedelta(days=int(ago[1]) * _DAYS[ago[2]])).timestamp()
        if wanted in _NAMED:
            return _edge(today - timedelta(days=_NAMED[wanted]), end_of_day=end_of_day)
        moment = datetime.fromisoformat(wanted)
    except (ValueError, OverflowError):
        raise UsageError(
            f"{text!r} is not a date; write 2026-03-01, 2026-03-01T14:30, 30d, 2w or yesterday"
        ) from None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    is_date = len(wanted) <= len("2026-03-01")
    return _edge(moment, end_of_day=end_of_day) if is_date else moment.timestamp()


def _edge(moment: datetime, *, end_of_day: bool) -> float:
    edge = time.max if end_of_day else time.min
    return datetime.combine(moment.date(), edge, moment.tzinfo).timestamp()
