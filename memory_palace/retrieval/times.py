"""Times that a question asks for: what is near them, and what is from them or names them.

A day has a nearness to what was asked, a passage or a note the mean of that over the days that it
speaks of or is from: so one formula serves a day and a decade on either side. Uncertain times as
evenly spread over their days are those of Berberich et al. (A Language Modeling Approach for
Temporal Information Needs, ECIR 2010), a fall by a half-life with distance that of Li and Croft
(Time-Based Language Models, CIKM 2003). The constants were chosen, and measured on LoCoMo dev.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, date, datetime
from math import log
from unicodedata import normalize

import numpy as np
from numpy.typing import NDArray

from memory_palace.errors import UsageError
from memory_palace.facts import FactKind, date_key, within_key, yearless_key
from memory_palace.index.segment import SOURCES
from memory_palace.index.snapshot import Snapshot
from memory_palace.index.words import PostingLookup
from memory_palace.language.time_spans import EARLIEST, TimeExpression, Window, month_span
from memory_palace.language.times import find_times
from memory_palace.language.words import Languages, expect_idf
from memory_palace.models import Scores, TimeReading
from memory_palace.retrieval.evidence import SURE, Evidence, Places
from memory_palace.retrieval.question import AskedWords

# --- Signals: how near ----------------------------------------------------------------------------

ENDS = 0.05
"""By how much the ends of a long window fall short of its middle."""
OUTSIDE = 0.85
"""What a day just outside of the window would get; half of it as many days on as the tolerance."""
BESIDE = 0.8
"""For a date of a note that is not its first: when it was begun, or last changed."""
UNSAID = 0.5
"""For a date that git or the file gives: that of a copy, as often as not."""
ANY_YEAR = 0.9
"""For a day that is written without its year."""
RARE_WORDS = 2
"""Words of one passage that an expression of time weighs as many as."""

_DAY_SECONDS = 86_400.0
_EPOCH = date(1970, 1, 1).toordinal()
SAYS_WHEN = SOURCES.index("file name")
"""Sources up to here are the note's own word."""
_SPREAD = 0.25
"""The power of the share that what was asked has of what is given: "in May" answers for May 5."""
_LONGEST = 62
"""Ordinals of a window whose dates are looked up day by day; of longer ones whole months are."""
_REACH = 4
"""Tolerances beyond a window up to which dates in passages are looked up, a month at most."""
_MOST_MONTHS = 240
_OPEN_DAYS = 3653
"""What is open to the past has its middle ten years before its end at most."""

Ordinals = NDArray[np.float64]


def temporal(evidence: Evidence, rows: Places) -> Scores:
    """Return the nearness of each row to the time asked for, in [0, 1]. Precision: high.

    The nearest of the note's dates and of those in the passage counts, for the best of the
    expressions by its certainty. Silent where the question names no time. What may well be a topic
    ("in winter the cells die") finds notes that are dated by their own word, and nothing else.
    """
    snapshot = evidence.snapshot
    notes: Scores = np.zeros(len(snapshot.paths), np.float32)
    passages: Scores = np.zeros(len(snapshot.row_note), np.float32)
    for asked in evidence.question.times:
        for window in asked.windows:
            near = near_notes(snapshot, window, is_sure=is_sure(asked))
            np.maximum(notes, np.float32(asked.certainty) * near, out=notes)
        for key, value in weigh_keys(asked).items() if is_sure(asked) else ():
            having = evidence.facts_in.rows(FactKind.DATE, key)
            worth = np.float32(asked.certainty * value)
            passages[having] = np.maximum(passages[having], worth)
    scores: Scores = np.maximum(notes[evidence.note_of[rows]], passages[rows])
    return scores


def dated(evidence: Evidence, rows: Places) -> Scores:
    """Return ``temporal`` times the squared share of time in the question, in [0, 1].

    "What did I do on October 14" is all time. The share weighs a sure expression as two rare
    words against the question's other words that some passage has.
    """
    share = share_of_time(evidence.question, evidence.words_in)
    scores: Scores = np.zeros(len(rows), np.float32)
    return np.float32(share * share) * temporal(evidence, rows) if share else scores


def share_of_time(question: AskedWords, words: PostingLookup, *, unknown: int = 0) -> float:
    """Return which part of a question sure expressions of time are, in [0, 1]; see ``dated``.

    A word that no passage has counts as one that ``unknown`` passages have, and not at all for 0.
    """
    sure = sum(map(is_sure, question.times))
    if not sure:
        return 0.0
    rows = words.snapshot.passages
    found = ((term, words.document_frequency(term) or unknown) for term in question.untimed_terms)
    rest = sum(expect_idf(term, having, rows) for term, having in found if having)
    time = RARE_WORDS * sure * expect_idf("", 1, rows)
    return time / (time + rest)


def nearness(window: Window, first: Ordinals, last: Ordinals) -> Ordinals:
    """Return how near spans of days, by their ordinals, are to a window, in [0, 1]; 1 is itself.

    It is the mean over the days of a span, or what a longer span says of the window that lies in
    it, whichever is more.
    """
    begin, end = window.first.toordinal(), window.last.toordinal() + 1
    length = last - first + 1
    shared = np.clip(np.minimum(last + 1, end) - np.maximum(first, begin), 0, None)
    said = (shared / length) ** _SPREAD * shared / (end - begin)
    near: Ordinals = np.maximum(said, _mean_nearness(window, first, last))
    return near


def _mean_nearness(window: Window, first: Ordinals, last: Ordinals) -> Ordinals:
    """Return the mean nearness of the days of spans to a window, in [0, 1]."""
    end = window.last.toordinal() + 1
    days = (window.last - window.first).days + 1
    half = (min(days, _OPEN_DAYS) if window.first == EARLIEST else days) / 2
    slope = ENDS * (1 - 1 / (2 * half)) / half
    tolerance = max(window.tolerance_days, 1.0)

    def summed(offset: Ordinals) -> Ordinals:
        """Return the integral of a moment's nearness from the middle on, an odd function."""
        far = np.abs(offset)
        inside, beyond = np.minimum(far, half), np.maximum(far - half, 0)
        tail = OUTSIDE * tolerance / log(2) * (1 - np.exp2(-beyond / tolerance))
        integral: Ordinals = np.copysign(inside - slope * inside * inside / 2 + tail, offset)
        return integral

    middle = end - half
    mean: Ordinals = (summed(last + 1 - middle) - summed(first - middle)) / (last - first + 1)
    return mean


def is_sure(asked: TimeExpression) -> bool:
    """Say whether an expression of time is surely that, and no topic."""
    return asked.certainty >= SURE


def changed_days(snapshot: Snapshot) -> Ordinals:
    """Return the ordinal of the day when each note was last changed, in UTC; 0 for unknown."""
    dates = snapshot.told_dates
    return np.where(dates == 0, 0.0, np.floor(dates / _DAY_SECONDS) + _EPOCH)


def near_notes(snapshot: Snapshot, window: Window, *, is_sure: bool) -> Scores:
    """Return how near each note is by the spans it is of, and by when it was changed."""
    days = snapshot.days.astype(np.float64)
    is_said = snapshot.date_sources <= SAYS_WHEN
    changed = changed_days(snapshot)
    near = nearness(window, changed, changed)
    unsaid = UNSAID * (changed > 0) if is_sure else 0.0
    near *= np.where(is_said, np.where(days[:, 0] > 0, BESIDE, 1.0), unsaid)
    for column, share in ((0, 1.0), (2, BESIDE)):
        has = np.flatnonzero(days[:, column])
        found = share * nearness(window, days[has, column], days[has, column + 1])
        near[has] = np.maximum(near[has], found)
    return near.astype(np.float32)


def weigh_keys(asked: TimeExpression) -> dict[str, float]:
    """Return the keys of dates that a passage can name, and what each is worth."""
    keys: dict[str, float] = {}
    for window in asked.windows:
        for key, value in _date_keys(window):
            keys[key] = max(keys.get(key, 0.0), value)
    return keys


def _date_keys(window: Window) -> Iterator[tuple[str, float]]:
    """Yield the same for one window, some keys more than once."""
    years, days = set(), list(_days_around(window))
    for first, last in _months(window.first, window.last):
        span = _ordinals(first), _ordinals(last)
        yield date_key(first, "month"), float(nearness(window, *span)[0])
        years.add(first.year)
        if window.first <= first and last <= window.last:
            yield within_key(first), float(_mean_nearness(window, *span)[0])
    for year in years:
        span = _ordinals(date(year, 1, 1)), _ordinals(date(year, 12, 31))
        yield str(year), float(nearness(window, *span)[0])
    ordinals = _ordinals(*days)
    for day, value in zip(days, nearness(window, ordinals, ordinals).tolist(), strict=True):
        yield date_key(day, "day"), value
        yield yearless_key(day), ANY_YEAR * value


def _ordinals(*days: date) -> Ordinals:
    return np.array([day.toordinal() for day in days], np.float64)


def _days_around(window: Window) -> Iterator[date]:
    """Yield the days of a window and around it; of a long one those at its ends."""
    reach = min(int(_REACH * max(window.tolerance_days, 1)), 31)
    first, last = window.first.toordinal() - reach, window.last.toordinal() + reach
    edge = _LONGEST if last - first > 2 * _LONGEST else last - first + 1
    for ordinal in sorted({*range(first, first + edge), *range(last - edge + 1, last + 1)}):
        yield date.fromordinal(ordinal)


def _months(first: date, last: date) -> Iterator[tuple[date, date]]:
    """Yield the months that a span reaches into, the last ones first."""
    begin, end = month_span(last.year, last.month)
    for _ in range(_MOST_MONTHS):
        if end < first:
            return
        yield begin, end
        begin, end = month_span(begin.year, begin.month - 1)


# --- Filters: from it, or naming it ---------------------------------------------------------------

_EXPRESSION = re.compile(r"(?<!\S)when:(?:[\"“„«]([^\"”“»]*)[\"”“»]|(\S+))", re.I)
_EXAMPLES = 'write 2026-05, "last May", "since March 3" or "between May and July"'
_WEEK_DAYS = 7


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


def match_when(snapshot: Snapshot, times: Sequence[TimeReading]) -> NDArray[np.bool_]:
    """Say for each row whether its note says that it is from one of the times, or it names one.

    A passage names a day, month or year within the time. What git or the file says of a note does
    not count: ``--since`` and ``--until`` ask for that.
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
    matches: NDArray[np.bool_] = rows | np.append(notes, False)[snapshot.row_note]
    return matches


def list_keys(first: date, last: date) -> Iterator[str]:
    """Yield the keys of dates that lie within a span."""
    years: set[int] = set()
    for begin, end in _months(first, last):
        if first <= begin and end <= last:
            yield date_key(begin, "month")
            yield within_key(begin)
            years.add(begin.year)
        else:
            days = range(max(begin, first).toordinal(), min(end, last).toordinal() + 1)
            yield from (date_key(date.fromordinal(day), "day") for day in days)
    for year in years:
        if first <= date(year, 1, 1) and date(year, 12, 31) <= last:
            yield str(year)
    if (last - first).days < _WEEK_DAYS:
        days = range(first.toordinal(), last.toordinal() + 1)
        yield from (yearless_key(date.fromordinal(day)) for day in days)
