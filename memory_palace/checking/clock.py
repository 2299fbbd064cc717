"""Times of day: 21:30, half past nine, 9 pm, noon."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_HOURS = "one two three four five six seven eight nine ten eleven twelve".split()
_HOUR = rf"(?:{'|'.join(_HOURS)}|1?\d|2[0-4])"
_PARTS = {"half": 30, "a quarter": 15, "quarter": 15, "five": 5, "ten": 10, "twenty": 20}
_ENDS = {"thirty": 30, "fifteen": 15, "forty-five": 45}
_BEHIND = r"(?: on| in the| every| each|[,.;)](?!\d)|\Z)"
_SPOKEN = rf"(?:half|quarter|a quarter|{_HOUR} (?:thirty|[ap]\.?m))"
_HALF = r"(?: ?(?P<{name}>[ap])\.?m\b)"
_TIME = re.compile(
    rf"\b(?:(?P<part>{'|'.join(_PARTS)}) (?P<side>past|to) (?P<near>{_HOUR}|noon|midnight)\b"
    rf"|(?P<spoken>{_HOUR}) (?P<end>{'|'.join(_ENDS)})(?! \w+ly| [a-z]+s\b)"
    rf"|(?P<hour>[01]?\d|2[0-4])[:.](?P<minute>[0-5]\d)(?= ?(?:h\b|[ap]\.?m)|(?<=:\d\d)(?![:\d]))"
    rf"|(?P<full>{_HOUR})(?: ?o'clock|{_HALF.format(name='first')})"
    rf"|(?P<told>{_HOUR})(?= in the (?:morning|afternoon|evening)\b| at night\b)"
    rf"|(?<=\bat )(?P<bare>{_HOUR})(?={_BEHIND})"
    rf"|(?<=\bfrom )(?P<opening>{_HOUR})(?= (?:to|until|till) {_SPOKEN})"
    rf"|(?<=\bbetween )(?P<between>{_HOUR})(?= and {_SPOKEN})"
    rf"|(?P<german>[01]?\d|2[0-4]) ?uhr\b|(?<=\bà )(?P<french>[01]?\d|2[0-4]) ?heures?\b"
    rf"|(?P<named>noon|midday|midnight)\b){_HALF.format(name='second')}?",
    re.IGNORECASE,
)
_LATE = re.compile(
    r"[ ,]{1,2}(?:(?:in|at) (?:the )?)?(?P<part>morning|afternoon|evening|night)\b", re.I
)
_WHOLE = ("full", "told", "german", "french", "bare", "opening", "between")
_NOON = 12 * 60


@dataclass(frozen=True, slots=True)
class ClockTime:
    """One time of day as it stands in a text."""

    minutes: int
    """Since midnight or noon: nine in the evening and 21:00 are the same hand of the clock."""
    start: int
    end: int
    is_late: bool | None = None
    """Whether it is after noon; ``None`` where the text leaves it open."""

    def agrees(self, other: ClockTime) -> bool:
        """Say whether both can be the same time."""
        is_open = None in (self.is_late, other.is_late)
        return self.minutes == other.minutes and (is_open or self.is_late == other.is_late)


def find_clock_times(text: str) -> Iterator[ClockTime]:
    """Yield the times of day of a text in order."""
    plain = text.replace("’", "'")
    for match in _TIME.finditer(plain):
        minutes = _read_time(match)
        yield ClockTime(minutes % _NOON, *match.span(), _is_late(match, minutes, plain))


def _is_late(match: re.Match[str], minutes: int, text: str) -> bool | None:
    if half := match["first"] or match["second"]:
        return half in "pP"
    if named := match["named"] or (match["near"] or "").casefold().strip("0123456789"):
        return None if named in _HOURS else named.casefold() == "noon" or named == "midday"
    if behind := _LATE.match(text, match.end()):
        is_small_hour = behind["part"].casefold() == "night" and minutes < _NOON // 2
        return behind["part"].casefold() != "morning" and not is_small_hour
    is_written_in_full = match["hour"] is not None and match["hour"].startswith("0")
    return minutes >= _NOON + 60 if minutes >= _NOON + 60 or is_written_in_full else None


def _read_time(match: re.Match[str]) -> int:
    if match["part"]:
        minutes = _PARTS[match["part"].casefold()]
        return 60 * _hour(match["near"]) + (minutes if match["side"] == "past" else -minutes)
    if match["spoken"]:
        return 60 * _hour(match["spoken"]) + _ENDS[match["end"].casefold()]
    if match["hour"]:
        return 60 * int(match["hour"]) + int(match["minute"])
    if match["named"]:
        return 0 if match["named"].casefold() == "midnight" else _NOON
    return 60 * _hour(next(filter(None, match.group(*_WHOLE))))


def _hour(word: str) -> int:
    if word.casefold() in ("noon", "midnight"):
        return 12 if word.casefold() == "noon" else 0
    return int(word) if word.isdigit() else _HOURS.index(word.casefold()) + 1
