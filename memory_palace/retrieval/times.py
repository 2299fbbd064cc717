"""Signals and filters of time: how near notes and passages are to the times of a question.

The nearness of a note or passage to a window is the mean over the days of its date span, so that
one formula serves a day and a decade. Spreading an uncertain time evenly over its days follows
Berberich et al. (A Language Modeling Approach for Temporal Information Needs, ECIR 2010), the decay
by a half-life with distance Li and Croft (Time-Based Language Models, CIKM 2003). The constants
were chosen, and measured on LoCoMo dev.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from functools import partial
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
from memory_palace.language.time_words import fold
from memory_palace.language.times import find_times
from memory_palace.language.words import Languages, expect_idf, read_table, tokenize
from memory_palace.models import Filters, Scores, TimeReading
from memory_palace.retrieval.evidence import SURE, Evidence, Places
from memory_palace.retrieval.question import AskedWords, match_notes

# --- Signals: how near ----------------------------------------------------------------------------

ENDS = 0.05
"""Nearness that a long window loses from its middle to its ends."""
OUTSIDE = 0.85
"""Nearness of a day just outside the window; it halves every ``tolerance_days``."""
BESIDE = 0.8
"""Factor of a note's date that is not its first: a second span, or its last change."""
UNSAID = 0.5
"""Factor of a date from git or mtime, which is that of a copy as often as not."""
ANY_YEAR = 0.9
"""Factor of a day that is written without its year."""
RARE_WORDS = 2
"""Weight of a sure expression of time, in words that one passage holds."""
MENTIONED = 0.3
"""Factor of a date that a dated talk mentions, if the question asks what was said then."""
_TALKED = frozenset(read_table("time/around.txt")["talked"].split())

_DAY_SECONDS = 86_400.0
_EPOCH = date(1970, 1, 1).toordinal()
SAYS_WHEN = SOURCES.index("file name")
"""Last index in ``SOURCES`` of a date that the note itself states."""
_SPREAD = 0.25
"""Exponent of the window's share of a longer span: a note of "May" is less near to May 5."""
_LONGEST = 62
"""Days at each end of a longer window whose date keys are looked up; months cover the rest."""
_REACH = 4
"""Days beyond a window whose date keys are looked up, in tolerances; 31 days at most."""
_MOST_MONTHS = 240
_OPEN_DAYS = 3653
"""Most days that a window open to the past counts as: its middle is five years before its end."""

Ordinals = NDArray[np.float64]


def temporal(evidence: Evidence, rows: Places) -> Scores:
    """Return the nearness of each row to the time asked for, in [0, 1]. Precision: high.

    The maximum over the dates of the note and in the passage, and over the expressions, times their
    certainty. 0 if the question names no time. An expression that is not sure and may be a topic
    ("in winter the cells die") is compared only with dates that notes state.
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
    told = passages[rows]
    if not _TALKED.isdisjoint(tokenize(fold(evidence.question.text), stems=False)):
        bound = snapshot.are_talks & (stated_days(snapshot) > 0)
        told *= np.where(bound[evidence.note_of[rows]], np.float32(MENTIONED), np.float32(1))
    return np.maximum(notes[evidence.note_of[rows]], told)


def dated(evidence: Evidence, rows: Places) -> Scores:
    """Return ``temporal`` times the squared share of time in the question, in [0, 1].

    "What did I do on October 14" is all time. The share weighs a sure expression as two rare
    words against the question's other words that some passage has.
    """
    share = share_of_time(evidence.question, evidence.words_in)
    scores: Scores = np.zeros(len(rows), np.float32)
    return np.float32(share * share) * temporal(evidence, rows) if share else scores


def share_of_time(question: AskedWords, words: PostingLookup, *, unknown: int = 0) -> float:
    """Return the weighted share of a question that is sure time, in [0, 1]; see ``dated``.

    A word of no passage has the idf of ``unknown`` passages, and no weight if that is 0.
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
    """Return the nearness of spans of day ordinals to a window, in [0, 1]; 1 for the window itself.

    The maximum of the mean over the days of a span, and of a score of the overlap, for longer spans
    around the window.
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
        """Return the integral of nearness from the middle to ``offset``, an odd function."""
        far = np.abs(offset)
        inside, beyond = np.minimum(far, half), np.maximum(far - half, 0)
        tail = OUTSIDE * tolerance / log(2) * (1 - np.exp2(-beyond / tolerance))
        return np.copysign(inside - slope * inside * inside / 2 + tail, offset)

    middle = end - half
    return (summed(last + 1 - middle) - summed(first - middle)) / (last - first + 1)


def is_sure(asked: TimeExpression) -> bool:
    """Whether an expression of time is surely a time, and no topic."""
    return asked.certainty >= SURE


def changed_days(snapshot: Snapshot) -> Ordinals:
    """Return the day ordinal of each note's date, in UTC; 0 for unknown."""
    dates = snapshot.told_dates
    return np.where(dates == 0, 0.0, np.floor(dates / _DAY_SECONDS) + _EPOCH)


def stated_days(snapshot: Snapshot) -> Ordinals:
    """Return the ordinal of the first day that each note states as its own; 0 for none."""
    changed = np.where(snapshot.date_sources <= SAYS_WHEN, changed_days(snapshot), 0.0)
    return np.where(snapshot.days[:, 0] > 0, snapshot.days[:, 0], changed)


def near_notes(snapshot: Snapshot, window: Window, *, is_sure: bool) -> Scores:
    """Return how near each note's own date and the dates in its text lie to a window."""
    if window.notes:
        return np.isin(snapshot.paths, window.notes).astype(np.float32)
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


def list_sessions(snapshot: Snapshot, filters: Filters, kind: str) -> list[tuple[int, str]]:
    """Return day and path of the dated notes that pass, in order; of a kind, if there are any."""
    days = stated_days(snapshot)
    passing = (days > 0) & match_notes(snapshot, filters)
    of_kind = passing & (snapshot.are_talks == (kind == "talk"))
    found = np.flatnonzero(of_kind if kind and of_kind.any() else passing)
    order = found[np.lexsort((found, snapshot.dates[found], days[found]))]
    return [(int(days[note]), snapshot.paths[note]) for note in order.tolist()]


def count_sessions(
    times: Sequence[TimeExpression], snapshot: Snapshot, filters: Filters
) -> Iterator[TimeExpression]:
    """Yield the times, with a window of just the notes that are counted, if there are any.

    If there are none, "earlier today" is today, and "our ninth session" is left out.
    """
    for asked in times:
        first, last, kind = asked.counted or (0, 0, "")
        days, listed = asked.windows[0], snapshot.list_sessions or partial(list_sessions, snapshot)
        begin, end = days.first.toordinal(), days.last.toordinal()
        inside = [each for each in listed(filters, kind) if begin <= each[0] <= end]
        if meant := inside[first:last]:
            notes = tuple(path for _, path in meant)
            ends = date.fromordinal(meant[0][0]), date.fromordinal(meant[-1][0])
            yield replace(asked, windows=(Window(*ends, 0.0, asked.text, notes),))
        elif not asked.counted or days.first > EARLIEST:
            yield asked


def weigh_keys(asked: TimeExpression) -> dict[str, float]:
    """Return the date keys that passages can match, each with its nearness."""
    keys: dict[str, float] = {}
    for window in asked.windows:
        for key, value in _date_keys(window):
            keys[key] = max(keys.get(key, 0.0), value)
    return keys


def _date_keys(window: Window) -> Iterator[tuple[str, float]]:
    """Yield the date keys of one window with their nearness, some keys more than once."""
    if window.notes:  # what another passage says of the day of a talk was not said in it
        return
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
    """Yield the days of a window and around it; of a long window those near its ends."""
    reach = min(int(_REACH * max(window.tolerance_days, 1)), 31)
    first, last = window.first.toordinal() - reach, window.last.toordinal() + reach
    edge = _LONGEST if last - first > 2 * _LONGEST else last - first + 1
    for ordinal in sorted({*range(first, first + edge), *range(last - edge + 1, last + 1)}):
        yield date.fromordinal(ordinal)


def _months(first: date, last: date) -> Iterator[tuple[date, date]]:
    """Yield the months that overlap a span, latest first, ``_MOST_MONTHS`` at most."""
    begin, end = month_span(last.year, last.month)
    for _ in range(_MOST_MONTHS):
        if end < first:
            return
        yield begin, end
        begin, end = month_span(begin.year, begin.month - 1)


# --- Filters --------------------------------------------------------------------------------------

_EXPRESSION = re.compile(r"(?<!\S)when:(?:[\"“„«]([^\"”“»]*)[\"”“»]|(\S+))", re.I)
_EXAMPLES = 'write 2026-05, "last May", "since March 3" or "between May and July"'
_WEEK_DAYS = 7


def read_when(
    expression: str, as_of: float, *, locale: str = "", languages: Languages = ()
) -> tuple[TimeReading, ...]:
    """Parse an expression of time, relative to ``as_of``; raise ``UsageError`` if it is none.

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
    """Return a question without its ``when:…``, and the times parsed from them.

    Text that is no time raises ``UsageError`` in quotation marks, else stays in the question.
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
    """Return a mask of the rows whose note states a date in one of the times, or that name one.

    A passage must name a day, month or year within the time. Dates from git or mtime do not count:
    ``--since`` and ``--until`` filter by them.
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
    """Yield the date keys that lie within a span."""
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
