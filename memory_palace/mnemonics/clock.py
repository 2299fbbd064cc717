"""Times of day in English prose: ``21:30``, ``half past nine``, ``quarter to six``, ``7 pm``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_HOURS = "one two three four five six seven eight nine ten eleven twelve".split()
_HOUR = rf"(?:{'|'.join(_HOURS)}|1?\d|2[0-4])"
_PARTS = {"half": 30, "quarter": 15, "five": 5, "ten": 10, "twenty": 20}
_ENDS = {"thirty": 30, "fifteen": 15, "forty-five": 45}
_TIME = re.compile(
    rf"\b(?:(?P<part>{'|'.join(_PARTS)}) (?P<side>past|to) (?P<near>{_HOUR})"
    rf"|(?P<spoken>{_HOUR}) (?P<end>{'|'.join(_ENDS)})(?! \w+ly| [a-z]+s\b)"
    rf"|(?P<hour>[01]?\d|2[0-4])[:.](?P<minute>[0-5]\d)(?= ?(?:h\b|[ap]\.?m)|(?<=:\d\d))"
    rf"|(?P<full>{_HOUR})(?: ?o'clock| ?[ap]\.?m\b))",
    re.IGNORECASE,
)
_HALF_DAY = 12 * 60
"""Minutes; nine in the evening and 21:00 are the same hand of the clock."""


@dataclass(frozen=True, slots=True)
class ClockTime:
    """One time of day as it stands in a text."""

    minutes: int
    """Since midnight or noon."""
    start: int
    end: int


def find_clock_times(text: str) -> Iterator[ClockTime]:
    """Yield the times of day of a text in order."""
    for match in _TIME.finditer(text.replace("’", "'")):
        yield ClockTime(_read(match) % _HALF_DAY, match.start(), match.end())


def _read(match: re.Match[str]) -> int:
    if match["part"]:
        minutes = _PARTS[match["part"].casefold()]
        return 60 * _hour(match["near"]) + (minutes if match["side"] == "past" else -minutes)
    if match["spoken"]:
        return 60 * _hour(match["spoken"]) + _ENDS[match["end"].casefold()]
    if match["hour"]:
        return 60 * int(match["hour"]) + int(match["minute"])
    return 60 * _hour(match["full"])


def _hour(word: str) -> int:
    return int(word) if word.isdigit() else _HOURS.index(word.casefold()) + 1
