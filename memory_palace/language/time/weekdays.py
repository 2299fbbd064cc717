"""Weekdays that an English text names."""

from __future__ import annotations

import re

NAMES = tuple("monday tuesday wednesday thursday friday saturday sunday".split())
WEEKDAYS = frozenset(f"{name}{ending}" for name in NAMES for ending in ("", "s"))
"""Casefolded words that name a weekday."""
_WEEKDAY = re.compile(rf"\b({'|'.join(NAMES)})s?\b", re.I)


def find_weekdays(text: str) -> tuple[int, ...]:
    """Return the weekdays that a text names, 0 for Monday, each once, in order."""
    names = (match.casefold() for match in _WEEKDAY.findall(text))
    return tuple(dict.fromkeys(map(NAMES.index, names)))
