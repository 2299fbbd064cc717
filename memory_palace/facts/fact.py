"""The facts that a passage holds: statements that a question can ask for by key."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class FactKind(StrEnum):
    """What a fact is about. The value is what postings are kept under."""

    ENTITY = "entity"
    PHRASE = "phrase"
    RELATION = "relation"
    PREFERENCE = "preference"
    DATE = "date"
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
