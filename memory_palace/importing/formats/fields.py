"""Fields of JSON that somebody else wrote: absent, null, or of another type than promised."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from memory_palace.importing.items import ReadReport

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_KIND = re.compile(r"[\w.-]{1,40}", re.ASCII)
_MOST_KINDS = 64
FOLDERS = re.compile(r"[/\\\n]+")
"""What parts a name into folders."""
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


def mapping_of(value: Any) -> Mapping[str, Any]:
    """Return a JSON object; an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def list_of(value: Any) -> list[Any]:
    """Return a JSON array; an empty one for anything else."""
    return value if isinstance(value, list) else []


def text_of(value: Any) -> str:
    """Return a JSON string that can be written as UTF-8, free of control characters.

    Line feeds and tabs stay; half of a surrogate pair becomes U+FFFD. What is no string is empty.
    """
    if not isinstance(value, str):
        return ""
    if not value.isascii():
        value = value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return _CONTROL.sub("", value.replace("\r\n", "\n").replace("\r", "\n"))


def moment_of(value: Any) -> datetime | None:
    """Return the time that a value says: ISO 8601, or seconds, milli- or microseconds of Unix.

    Numbers are in UTC; a text without a zone stays without one. What is no time is ``None``.
    """
    if isinstance(value, str):
        try:
            return datetime.fromisoformat(value.strip())
        except ValueError:
            pass
        try:
            value = float(value)
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        seconds = float(value)
        while abs(seconds) > 1e11:  # the year 5138, or thousandths
            seconds /= 1000
        return datetime.fromtimestamp(seconds, UTC) if math.isfinite(seconds) and seconds else None
    except (ValueError, OverflowError, OSError):
        return None


def order_key(moment: datetime | None, *, late: bool = True) -> float:
    """Return a number to sort by; what has no time is ``late``, or comes first.

    A time without a zone is taken for UTC.
    """
    unknown = math.inf if late else -math.inf
    if moment is None:
        return unknown
    try:
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return unknown


def earliest(moments: Iterable[datetime | None]) -> datetime | None:
    """Return the first of some times; ``None`` where none is known."""
    return min((moment for moment in moments if moment), key=order_key, default=None)


def digest(*parts: str) -> str:
    """Return a name of 32 hexadecimal digits for what does not change."""
    return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()[:32]


def find_uuid(text: str) -> str:
    """Return the last UUID of a text; empty without one."""
    found = _UUID.findall(text)
    return found[-1].lower() if found else ""


def count_unknown(report: ReadReport, kind: object) -> None:
    """Count a part of a type that no version known here has."""
    name = f"unknown {kind}" if isinstance(kind, str) and _KIND.fullmatch(kind) else "unknown"
    known = name in report.dropped or len(report.dropped) < _MOST_KINDS
    report.dropped[name if known else "unknown"] += 1


def name_attachments(values: Iterable[Any], report: ReadReport) -> str:
    """Return one line that names attached files, without their folders; count them."""
    names = []
    for value in values:
        fields = mapping_of(value)
        given = next(
            (fields[key] for key in ("file_name", "name", "filename") if fields.get(key)), ""
        )
        name = re.split(r"[/\\]", text_of(given).replace("\n", " ").strip())[-1]
        names += [name] if name else []
        report.dropped["attachment"] += 1
    return f"Attached: {', '.join(names)}" if names else ""
