"""When a passage is from, or what time it speaks of, beside the time that the question names."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta

import numpy as np

from memory_palace.facts.fact import FactKind, date_key, within_key, yearless_key
from memory_palace.language.time.spans import Window
from memory_palace.models import Scores
from memory_palace.retrieval.context import SearchContext

_DAY_SECONDS = 86_400.0
_EPOCH = date(1970, 1, 1).toordinal()
_EPOCH_WEEKDAY = date(1970, 1, 1).weekday()
_MONTH_DAYS, _YEAR_DAYS = 28, 365
"""Windows shorter than a month are looked up day by day, longer ones by month."""
_MOST_MONTHS = 120
_INSTANT = 1e-6
_COARSE = 0.7
"""What a passage gets that names only the month of a day that is asked for; .4 for the year."""
_COARSER = 0.4
OF_NOTE = 0.5
"""One note in seven is from any weekday: its date says less than the word (chosen, not tuned)."""


def temporal(context: SearchContext) -> Scores:
    """Return the nearness of each candidate to the time asked for, in [0, 1]. Precision: high.

    Full within the tolerance, and falling in a line to 0 at three times it (SPEC §4.2, which has
    the tolerances too). The nearer of the note's own date and the dates in the passage counts, and
    the best window. Silent where the question names no time.
    """
    scores = context.silence()
    for window in context.dates:
        np.maximum(scores, _note_dates(context, window), out=scores)
        np.maximum(scores, _passage_dates(context, window), out=scores)
    return scores


def weekday(context: SearchContext) -> Scores:
    """Return 1 where the passage names the weekday of the question, else 0. Precision: high.

    0.5 where its note is from one.
    """
    scores = context.silence()
    if not context.analysis.weekdays:
        return scores
    of_notes = (_note_days(context) + _EPOCH_WEEKDAY) % 7
    for day in context.analysis.weekdays:
        np.maximum(scores, np.float32(OF_NOTE) * (of_notes == day), out=scores)
        np.maximum(scores, context.mark(context.facts.rows(FactKind.WEEKDAY, str(day))), out=scores)
    return scores


def _note_days(context: SearchContext) -> Scores:
    """Return the day of each candidate's note, counted from the epoch in UTC."""
    days: Scores = np.floor(context.snapshot.dates[context.notes] / _DAY_SECONDS)
    return days


def _note_dates(context: SearchContext, window: Window) -> Scores:
    days = _note_days(context)
    first, last = window.first.toordinal() - _EPOCH, window.last.toordinal() - _EPOCH
    outside = np.maximum(np.maximum(first - days, days - last), 0)
    width = window.tolerance_days
    fall = 1 - (outside - width) / max(2 * width, _INSTANT)
    scores: Scores = np.clip(window.weight * fall, 0, window.weight).astype(np.float32)
    return scores


def _passage_dates(context: SearchContext, window: Window) -> Scores:
    scores = context.silence()
    for key, value in _date_keys(window).items():
        rows = context.facts.rows(FactKind.DATE, key)
        if len(rows):
            np.maximum(scores, np.float32(value) * context.mark(rows), out=scores)
    return scores


def _date_keys(window: Window) -> dict[str, float]:
    """Return the keys of dates that a passage can name, and what each is worth."""
    keys: dict[str, float] = {}
    days = (window.last - window.first).days + 1
    for month in _months(window.first, window.last):
        is_whole = days >= _MONTH_DAYS
        _raise(keys, date_key(month, "month"), window.weight * (1 if is_whole else _COARSE))
        _raise(
            keys, date_key(month, "year"), window.weight * (1 if days >= _YEAR_DAYS else _COARSER)
        )
        if is_whole:
            _raise(keys, within_key(month), window.weight)
    if days < _MONTH_DAYS:
        margin = int(3 * window.tolerance_days)
        for offset in range(-margin, days + margin):
            day = window.first + timedelta(offset)
            value = window.closeness(day)
            _raise(keys, date_key(day, "day"), value)
            _raise(keys, yearless_key(day), value)
    return keys


def _months(first: date, last: date) -> Iterator[date]:
    month = first.replace(day=1)
    for _ in range(_MOST_MONTHS):
        if month > last:
            return
        yield month
        month = (month + timedelta(31)).replace(day=1)


def _raise(keys: dict[str, float], key: str, value: float) -> None:
    keys[key] = max(keys.get(key, 0.0), value)
