"""Facts: what a passage states, found again by kind and key."""

from __future__ import annotations

from datetime import date
from enum import StrEnum
from typing import Literal, NamedTuple


class FactKind(StrEnum):
    """What a fact is about. The value is what postings are kept under."""

    DATE = "date"
    SPEAKER = "speaker"
    """A word of the name of whoever says a line."""
    FORM = "form"
    """``question`` for a passage that ends in a question mark."""
    TONGUE = "tongue"
    """``other`` for a passage that is not English, ``unclear`` for one that does not tell."""
    HEADING = "heading"
    """A heading that stands in a passage, as ``squeeze_all`` writes it."""


class Fact(NamedTuple):
    """One statement; a tuple, for a passage has dozens.

    Equal keys of one kind mean the same, in a question and in a passage.
    """

    kind: StrEnum
    """One of ``FactKind``, or of the kinds of an extension."""
    key: str


def date_key(day: date, unit: Literal["day", "month", "year"]) -> str:
    """Return the key of a day, of its month or of its year."""
    return day.isoformat()[: {"day": 10, "month": 7, "year": 4}[unit]]


def yearless_key(day: date) -> str:
    """Return the key of a day of any year."""
    return "-" + day.isoformat()[4:]


def within_key(day: date) -> str:
    """Return the key of some day in a day's month: a day in March answers for March."""
    return date_key(day, "month") + "~"
