"""Leave what is from a time or names it: ``--when "last May"``, ``when:2026-05`` in a question."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from unicodedata import normalize

import numpy as np
from numpy.typing import NDArray

from memory_palace.errors import UsageError
from memory_palace.facts import FactKind, date_key, within_key, yearless_key
from memory_palace.index.snapshot import Snapshot
from memory_palace.index.words import PostingLookup
from memory_palace.language.time_spans import month_span
from memory_palace.language.times import find_times
from memory_palace.language.words import Languages
from memory_palace.models import TimeReading
from memory_palace.retrieval.signals.time import SAYS_WHEN, changed_days

_EXPRESSION = re.compile(r"(?<!\S)when:(?:[\"“„«]([^\"”“»]*)[\"”“»]|(\S+))", re.I)
_EXAMPLES = 'write 2026-05, "last May", "since March 3" or "between May and July"'
_WEEK_DAYS = 7
_MOST_MONTHS = 240


def read_when(
    expression: str, as_of: float, *, locale: str = "", languages: Languages = ()
) -> tuple[TimeReading, ...]:
    """Return what an expression of time means at a moment; raise ``UsageError`` for another text.

    ``May`` and ``2026`` alone are times here, and so is ``2026-05-01..2026-07-31``.
    """
    text = " ".join(normalize("NFKC", expression).split())
    first, dots, last = text.partition("..")
    forms = [f"from {first.strip()} to {last.strip(' .')}"] if dots else [text, f"in {text}"]
    day = datetime.fromtimestamp(as_of, UTC).date()
    for form in forms:
        found = find_times(form, day, locale=locale, languages=languages)
        if found:
            return tuple(
                TimeReading(text, window.first, window.last, item.certainty)
                for item in found
                for window in item.windows
            )
    raise UsageError(f"{expression!r} is not a time; {_EXAMPLES}")


def take_when(
    text: str, read: Callable[[str], Sequence[TimeReading]]
) -> tuple[str, list[TimeReading]]:
    """Return a question without its ``when:…``, and what is read of them.

    What is no time is refused in quotation marks; without them it is a word as any other.
    """
    times: list[TimeReading] = []

    def take(found: re.Match[str]) -> str:
        try:
            times.extend(read(found[2] if found[1] is None else found[1]))
        except UsageError:
            if found[1] is not None:
                raise
            return found[0]
        return " "

    rest = _EXPRESSION.sub(take, text)
    return " ".join(rest.split()), times


def match_when(
    snapshot: Snapshot, times: Sequence[TimeReading]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Say for each note whether it says that it is from one of the times, and for rows if they do.

    A row of the snapshot does where its passage names a day, month or year within the time.
    What git or the file says of a note does not count: ``--since`` and ``--until`` ask for that.
    """
    notes = np.zeros(len(snapshot.paths), np.bool_)
    rows = np.zeros(len(snapshot.row_note), np.bool_)
    facts = PostingLookup(snapshot, "facts")
    changed = changed_days(snapshot)
    is_said = snapshot.date_sources <= SAYS_WHEN
    for time in times:
        first, last = time.first.toordinal(), time.last.toordinal()
        notes |= is_said & (first <= changed) & (changed <= last)
        for column in (0, 2):
            begin, end = snapshot.days[:, column], snapshot.days[:, column + 1]
            notes |= (begin > 0) & (begin <= last) & (first <= end)
        for key in list_keys(time.first, time.last):
            rows[facts.rows(FactKind.DATE, key)] = True
    return notes, rows


def list_keys(first: date, last: date) -> Iterator[str]:
    """Yield the keys of dates that lie within a span."""
    begin, end = month_span(last.year, last.month)
    years: set[int] = set()
    for _ in range(_MOST_MONTHS):
        if end < first:
            break
        if first <= begin and end <= last:
            yield date_key(begin, "month")
            yield within_key(begin)
            years.add(begin.year)
        else:
            yield from _days(max(begin, first), min(end, last))
        begin, end = month_span(begin.year, begin.month - 1)
    for year in years:
        if first <= date(year, 1, 1) and date(year, 12, 31) <= last:
            yield str(year)
    if (last - first).days < _WEEK_DAYS:
        yield from (yearless_key(first + timedelta(n)) for n in range((last - first).days + 1))


def _days(first: date, last: date) -> Iterator[str]:
    for offset in range((last - first).days + 1):
        yield date_key(first + timedelta(offset), "day")
