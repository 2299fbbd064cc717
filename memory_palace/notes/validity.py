"""From when to when a note holds, and what took its place, as its front matter says."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterator, Mapping
from datetime import date, datetime
from typing import Any

from memory_palace.models import Problem, Validity
from memory_palace.notes.dating import date_in_front_matter

_FROM, _UNTIL, _REPLACED, _SINCE = "valid_from", "valid_until", "superseded_by", "superseded_at"
_MONTH = re.compile(r"(\d{4})(?:-(\d{1,2}))?")
_LINK = re.compile(r"!?\[\[([^\[\]]*)\]\]")
_DAY_SECONDS = 86_400.0


def read_validity(
    values: Mapping[str, Any], path: str, *, locale: str = ""
) -> tuple[Validity, tuple[Problem, ...]]:
    """Read ``valid_from``, ``valid_until`` and ``superseded_by``, and say which is no date.

    A day, month or year that ends something is part of it. A note that says when it was superseded
    held until then.
    """
    fields = _fields(values)
    problems = tuple(
        Problem(path, None, "front matter", f"{key} {fields[key]!r} is not a date; it is ignored")
        for key in (_FROM, _UNTIL)
        if fields.get(key) not in (None, "") and _read_span(fields[key], locale) is None
    )
    replaced = superseded_by(values)
    first, last = _read_span(fields.get(_FROM), locale), _read_span(fields.get(_UNTIL), locale)
    since = _read_span(fields.get(_SINCE), locale) if replaced and last is None else None
    until = last[1] if last else since[0] if since else None
    return Validity(first[0] if first else None, until, replaced), problems


def superseded_by(values: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what front matter says took the note's place: names or paths, without brackets.

    An unquoted ``[[link]]`` is a list in a list to YAML.
    """
    return tuple(dict.fromkeys(filter(None, map(_name, _flat(_fields(values).get(_REPLACED))))))


def _fields(values: Mapping[str, Any]) -> dict[str, Any]:
    return {re.sub(r"[-\s]+", "_", key.strip().lower()): value for key, value in values.items()}


def _flat(value: Any) -> Iterator[str]:
    if isinstance(value, list):
        for item in value:
            yield from _flat(item)
    elif value is not None and not isinstance(value, bool | dict):
        yield str(value)


def _name(text: str) -> str:
    link = _LINK.search(text)
    return " ".join((link[1] if link else text).partition("|")[0].partition("#")[0].split())


def _read_span(value: Any, locale: str) -> tuple[float, float] | None:
    """Return the first and last moment of a year, a month, a day or a moment."""
    text = str(value).strip() if isinstance(value, int | str) else ""
    begin, end = value, value
    found = _MONTH.fullmatch(text)
    if found and int(found[1]) and int(found[2] or 1) in range(1, 13):
        year, month, last = int(found[1]), int(found[2] or 1), int(found[2] or 12)
        begin, end = date(year, month, 1), date(year, last, monthrange(year, last)[1])
    elif found:
        return None
    first, ends = (date_in_front_matter({"date": day}, locale=locale) for day in (begin, end))
    if first is None or ends is None:
        return None
    is_moment = isinstance(end, datetime) or (isinstance(end, str) and ":" in text)
    return first.timestamp, ends.timestamp + (0 if is_moment else _DAY_SECONDS - 1)
