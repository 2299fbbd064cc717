"""Fields of JSON that somebody else wrote: absent, null, or of another type than promised."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from memory_palace.features.importing.items import ReadReport

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_KIND = re.compile(r"[\w.-]{1,40}", re.ASCII)
_MOST_KINDS = 64
FOLDERS = re.compile(r"[/\\\n]+")
"""What parts a name into folders."""
_ROOTS = (None, "", "00000000-0000-4000-8000-000000000000")
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
    """Return the time of a value: ISO 8601, or seconds, milli- or microseconds of Unix.

    A time without a zone is taken for UTC. What is no time is ``None``.
    """
    if isinstance(value, str):
        try:
            said = datetime.fromisoformat(value.strip())
        except ValueError:
            pass
        else:
            return said if said.tzinfo else said.replace(tzinfo=UTC)
    if isinstance(value, bool) or not isinstance(value, (str, int, float, Decimal)):
        return None
    try:
        seconds = float(value)
        while 1e11 < abs(seconds) < math.inf:  # the year 5138, or thousandths
            seconds /= 1000
        return datetime.fromtimestamp(seconds, UTC) if math.isfinite(seconds) and seconds else None
    except (ValueError, OverflowError, OSError):
        return None


def digest(*parts: str) -> str:
    """Return a name of 32 hexadecimal digits for what does not change."""
    return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()[:32]


def find_uuid(text: str) -> str:
    """Return the last UUID of a text; empty without one."""
    found = _UUID.findall(text)
    return found[-1].lower() if found else ""


def find_branch(parents: Mapping[str, Any], leaf: Any) -> list[str]:
    """Return the ids from the root to a leaf; none where a parent is missing or in a circle.

    The caller then keeps all, so that nothing said is lost.
    """
    branch: dict[str, None] = {}
    while leaf not in _ROOTS:
        if not isinstance(leaf, str) or leaf in branch or leaf not in parents:
            return []
        branch[leaf] = None
        leaf = parents[leaf]
    return list(reversed(branch))


def count_part(report: ReadReport, kind: object) -> None:
    """Count a part that is no text by the kind that the export gives it."""
    name = kind if isinstance(kind, str) and _KIND.fullmatch(kind) else "unknown"
    known = name in report.dropped or len(report.dropped) < _MOST_KINDS
    report.dropped[name if known else "unknown"] += 1


def read_blocks(
    content: Any, report: ReadReport, kinds: Collection[str] = ("text",)
) -> Iterator[str]:
    """Give the texts of a message, a string or a list of blocks; count blocks of other kinds."""
    for block in [content] if isinstance(content, str) else list_of(content):
        fields = mapping_of(block)
        if isinstance(block, str):
            yield text_of(block)
        elif fields.get("type") in kinds:
            yield text_of(fields.get("text"))
        else:
            count_part(report, fields.get("type"))


def join_texts(texts: Iterable[str]) -> str:
    """Return texts as paragraphs, without the empty ones."""
    return "\n\n".join(text.strip() for text in texts if text.strip())


def name_attachments(values: Iterable[Any], report: ReadReport) -> str:
    """Return one line that names attached files, without their folders; count them."""
    names = []
    for fields in map(mapping_of, values):
        given = fields.get("file_name") or fields.get("name") or fields.get("filename")
        name = re.split(r"[/\\]", text_of(given).replace("\n", " ").strip())[-1]
        names += [name] if name else []
        report.dropped["attachment"] += 1
    return f"Attached: {', '.join(names)}" if names else ""
