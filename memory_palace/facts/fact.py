"""Facts: what a passage states, found again by kind and key."""

from __future__ import annotations

from datetime import date
from enum import StrEnum
from typing import NamedTuple


class FactKind(StrEnum):
    """What a fact is about. The value is what postings are kept under."""

    DATE = "date"
    SPEAKER = "speaker"
    """A word of the name of whoever says a line."""
    FORM = "form"
    """``question`` for a passage that ends in a question mark."""
    ENTITY = "entity"
    PHRASE = "phrase"
    RELATION = "relation"
    PREFERENCE = "preference"
    WEEKDAY = "weekday"
    QUOTE = "quote"
    TAG = "tag"
    LINK = "link"
    THEME = "theme"


class Fact(NamedTuple):
    """One statement; a tuple, for a passage has dozens.

    Equal keys of one kind mean the same, in a question and in a passage.
    """

    kind: FactKind
    key: str
    display: str
    """What a person reads; empty where the key only serves to find a part of another fact."""


def day_key(day: date) -> str:
    """Return the key of a day."""
    return day.isoformat()


def month_key(day: date) -> str:
    """Return the key of a day's month."""
    return day.isoformat()[:7]


def year_key(day: date) -> str:
    """Return the key of a day's year."""
    return day.isoformat()[:4]


def yearless_key(day: date) -> str:
    """Return the key of a day of any year."""
    return "-" + day.isoformat()[4:]


def within_key(key: str) -> str:
    """Return the key of some day in a month: a day in March answers for March."""
    return key + "~"
