"""How phrases and days of a question are found in candidates; shared by several signals."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta

import numpy as np

from memory_palace.facts.fact import (
    FactKind,
    day_key,
    month_key,
    within_key,
    year_key,
    yearless_key,
)
from memory_palace.language.calendars import Window
from memory_palace.models import Scores
from memory_palace.retrieval.structure import StructuredContext, mark, rarity, silence

PARTIAL = (1.0, 0.7, 0.4)
"""What a passage gets for a whole phrase, for its last two words, and for its head alone."""

_DAY_SECONDS = 86_400.0
_EPOCH = date(1970, 1, 1).toordinal()
_MONTH_DAYS, _YEAR_DAYS = 28, 365
"""Windows shorter than a month are looked up day by day, longer ones by month."""
_MOST_MONTHS = 120
_INSTANT = 1e-6
_COARSE = 0.7
"""What a passage gets that names only the month of a day that is asked for; .4 for the year."""
_COARSER = 0.4


def match_phrases(context: StructuredContext) -> Scores:
    """Return the share of the question's noun phrases in each candidate, the rarer the more.

    In [0, 1]. A phrase that no passage holds, even in part, counts as one that is not matched.
    """
    total, scores = 0.0, silence(context)
    for keys in context.analysis.phrases:
        found = silence(context)
        best = 0.0
        for key, share in zip(keys, _shares(keys), strict=True):
            weight = rarity(context, FactKind.PHRASE, key)
            if weight:
                best = max(best, weight)
                rows = mark(context, context.facts.find(FactKind.PHRASE, key))
                np.maximum(found, np.float32(share * weight) * rows, out=found)
        scores += found
        total += best or 1.0
    if total:
        scores /= np.float32(total)
    return np.minimum(scores, np.float32(1), out=scores)


def _shares(keys: tuple[str, ...]) -> list[float]:
    return [1.0, *(PARTIAL[2] if " " not in key else PARTIAL[1] for key in keys[1:])]


def match_dates(context: StructuredContext) -> Scores:
    """Return how near each candidate is to the days that are asked for, in [0, 1].

    The nearer of the note's own date and the dates in the passage counts, and the best window.
    """
    scores = silence(context)
    for window in context.analysis.dates:
        np.maximum(scores, _note_dates(context, window), out=scores)
        np.maximum(scores, _passage_dates(context, window), out=scores)
    return scores


def note_days(context: StructuredContext) -> Scores:
    """Return the day of each candidate's note, counted from the epoch in UTC."""
    days: Scores = np.floor(context.snapshot.dates[context.notes] / _DAY_SECONDS)
    return days


def _note_dates(context: StructuredContext, window: Window) -> Scores:
    days = note_days(context)
    first, last = window.first.toordinal() - _EPOCH, window.last.toordinal() - _EPOCH
    outside = np.maximum(np.maximum(first - days, days - last), 0)
    width = window.tolerance_days
    fall = 1 - (outside - width) / max(2 * width, _INSTANT)
    scores: Scores = np.clip(window.weight * fall, 0, window.weight).astype(np.float32)
    return scores


def _passage_dates(context: StructuredContext, window: Window) -> Scores:
    scores = silence(context)
    for key, value in _date_keys(window).items():
        rows = context.facts.find(FactKind.DATE, key)
        if len(rows):
            np.maximum(scores, np.float32(value) * mark(context, rows), out=scores)
    return scores


def _date_keys(window: Window) -> dict[str, float]:
    """Return the keys of dates that a passage can name, and what each is worth."""
    keys: dict[str, float] = {}
    days = (window.last - window.first).days + 1
    for month in _months(window.first, window.last):
        is_whole = days >= _MONTH_DAYS
        _raise(keys, month_key(month), window.weight * (1 if is_whole else _COARSE))
        _raise(keys, year_key(month), window.weight * (1 if days >= _YEAR_DAYS else _COARSER))
        if is_whole:
            _raise(keys, within_key(month_key(month)), window.weight)
    if days < _MONTH_DAYS:
        margin = int(3 * window.tolerance_days)
        for offset in range(-margin, days + margin):
            day = window.first + timedelta(offset)
            value = window.closeness(day)
            _raise(keys, day_key(day), value)
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


def weekday_of(days: Scores) -> Scores:
    """Return the weekday of days counted from the epoch, 0 for Monday."""
    weekdays: Scores = (days + date(1970, 1, 1).weekday()) % 7
    return weekdays
