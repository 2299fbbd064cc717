"""Words without which no text names a time: they spare most questions the reading of dates."""

from __future__ import annotations

import re

TIME_WORDS = frozenset(
    """
    january february march april may june july august september october november december
    jan feb mar apr jun jul aug sep sept oct nov dec
    monday tuesday wednesday thursday friday saturday sunday
    mondays tuesdays wednesdays thursdays fridays saturdays sundays
    spring summer autumn fall winter
    day days week weeks weekend weekends month months year years
    morning afternoon evening night tonight today tomorrow yesterday
    ago back earlier lately other recently
    """.split()
)
_WORD = re.compile(r"[^\W\d_]+|\d")


def may_name_time(text: str) -> bool:
    """Say whether a text holds a digit or a word that a temporal expression could be made of."""
    return any(word.isdigit() or word in TIME_WORDS for word in _WORD.findall(text.casefold()))
