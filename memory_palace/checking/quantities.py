"""Numbers that a passage does not give."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import groupby

from memory_palace.checking.alignment import Alignment
from memory_palace.checking.numbers import Number, find_clock_times, find_implied
from memory_palace.checking.verdicts import Difference
from memory_palace.checking.wording import Wording


def find_other_numbers(
    claim: Wording, passage: Wording, alignment: Alignment
) -> Iterator[Difference]:
    """Yield numbers that the text around does not have; one without a unit is too common."""
    source = alignment.around
    known_times = {time.minutes for time in find_clock_times(source.text)}
    times = [time for time in find_clock_times(claim.text) if time.minutes in known_times]
    starts = [time.start for time in times]
    for _, group in groupby(claim.numbers, key=lambda number: number.start):
        readings = list(group)
        place = bisect_right(starts, readings[0].start) - 1
        if place >= 0 and readings[0].start < times[place].end:
            continue
        if not _is_known(claim, readings, source):
            text = readings[0].text
            theirs = next((number.text for number in passage.numbers), "")
            yield Difference("number", f"{text} is not a number the passage gives", text, theirs)


def _is_known(claim: Wording, readings: Sequence[Number], source: Wording) -> bool:
    if all(number.value == 1 and not number.family for number in readings):
        return True
    known = (*source.numbers, *find_implied(source.text))
    return _is_relative(claim, readings, source) or any(
        reading.agrees(other) for reading in readings for other in known
    )


def _is_relative(claim: Wording, readings: Sequence[Number], source: Wording) -> bool:
    """Say whether a number counts times, or is a ``second`` that the passage has as a time."""
    end = readings[0].end
    after = claim.text[end : end + len(" times ")].split()[:1]
    word = readings[0].text.casefold()
    return after == ["times"] or (word == "second" and word in source.stems)
