"""Moments as people type them."""

from __future__ import annotations

import re
from datetime import UTC, datetime, time, timedelta

from memory_palace.errors import UsageError

_AGO = re.compile(r"(\d{1,5})\s*([dwmy])")
_DAYS = {"d": 1, "w": 7, "m": 30, "y": 365}
_NAMED = {"today": 0, "yesterday": 1}


def parse_moment(text: str, *, now: float, end_of_day: bool = False) -> float:
    """Return seconds since the epoch for an ISO date or time, ``30d`` (ago), or ``yesterday``.

    A date without a time is its first moment, or its last with ``end_of_day``. Times without a
    zone are UTC.
    """
    today = datetime.fromtimestamp(now, UTC)
    wanted = text.strip().lower()
    ago = _AGO.fullmatch(wanted)
    if ago:
        return (today - timedelta(days=int(ago[1]) * _DAYS[ago[2]])).timestamp()
    if wanted in _NAMED:
        return _edge(today - timedelta(days=_NAMED[wanted]), end_of_day=end_of_day)
    try:
        moment = datetime.fromisoformat(wanted)
    except ValueError:
        raise UsageError(
            f"{text!r} is no date; write 2026-03-01, 2026-03-01T14:30, 30d, 2w or yesterday"
        ) from None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    is_date = len(wanted) <= len("2026-03-01")
    return _edge(moment, end_of_day=end_of_day) if is_date else moment.timestamp()


def _edge(moment: datetime, *, end_of_day: bool) -> float:
    edge = time.max if end_of_day else time.min
    return datetime.combine(moment.date(), edge, moment.tzinfo).timestamp()
