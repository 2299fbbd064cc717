"""Check what a model replied, field by field, and turn it into values."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

_FENCED = re.compile(r"```(?:json)?\s*\n(.*?)```", re.S)
MOST_CHARACTERS = 2_000
"""Of any text in a reply."""


class ReplyError(ValueError):
    """A reply is no JSON, or not of the shape that was asked for."""


def find_json(reply: str) -> object:
    """Return the JSON value of a reply, which may stand in a fence."""
    fenced = _FENCED.search(reply)
    text = fenced[1] if fenced else reply
    try:
        value: object = json.loads(text)
    except ValueError as error:
        raise ReplyError(f"it is not JSON ({error})") from error
    return value


def read_items(reply: object, key: str, count: int) -> list[Mapping[str, object]]:
    """Return the ``count`` objects in the list ``key`` of a reply."""
    if not isinstance(reply, dict) or not isinstance(reply.get(key), list):
        raise ReplyError(f"it has no list {key!r}")
    items: list[object] = reply[key]
    if len(items) != count:
        raise ReplyError(f"{key!r} has {len(items)} entries, not {count}")
    found: list[Mapping[str, object]] = []
    for item in items:
        if not isinstance(item, dict):
            raise ReplyError(f"an entry of {key!r} is not an object")
        found.append(item)
    return found


def read_text(item: Mapping[str, object], key: str, *, may_be_empty: bool = False) -> str:
    """Return a text on one line."""
    value = item.get(key, "" if may_be_empty else None)
    if not isinstance(value, str) or len(value) > MOST_CHARACTERS:
        raise ReplyError(f"{key!r} is not a text of at most {MOST_CHARACTERS} characters")
    text = " ".join(value.split())
    if not text and not may_be_empty:
        raise ReplyError(f"{key!r} is empty")
    return text


def read_texts(item: Mapping[str, object], key: str, *, most: int, least: int = 0) -> list[str]:
    """Return a list of texts, blank ones left out."""
    value = item.get(key, [])
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise ReplyError(f"{key!r} is not a list of texts")
    texts = [tidy for text in value if (tidy := " ".join(text.split()))]
    if not least <= len(texts) <= most or any(len(text) > MOST_CHARACTERS for text in texts):
        raise ReplyError(f"{key!r} has {len(texts)} texts, {least} to {most} were asked for")
    return texts


def read_number(item: Mapping[str, object], key: str, *, low: int, high: int) -> int:
    """Return a whole number inside its bounds."""
    value = item.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise ReplyError(f"{key!r} is not a number from {low} to {high}")
    return round(value)


def read_choice(item: Mapping[str, object], key: str, choices: Sequence[str]) -> str:
    """Return one of the choices."""
    value = item.get(key)
    if not isinstance(value, str) or value not in choices:
        raise ReplyError(f"{key!r} is not one of {', '.join(choices)}")
    return value
