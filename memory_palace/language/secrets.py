"""Find keys and passwords in text, so that they never become memory."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from memory_palace.language.words import read_table


@dataclass(frozen=True, slots=True)
class Secret:
    """A line that holds a secret. The secret itself is not kept."""

    line: int
    kind: str


_MAY = re.compile(r"\b\w[\w-]{19}|://[^\s/:@]{1,200}:[^\s/:@]{1,200}@|[aA][wW][sS]", re.ASCII)
"""Every format of ``secrets.txt`` has twenty such characters in a row, is a URL with a password, or
names AWS. Few lines of prose do."""
_TOKEN_KIND = "JSON Web Token"
_KEY = "PRIVATE KEY"
_KEY_KIND = "private key"
_KEY_OPEN = re.compile(r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----")
_KEY_CLOSE = re.compile(r"-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----")

_WINDOW, _STEP = 4000, 2000
"""Long lines are searched in overlapping windows: some formats take quadratic time."""


def find_secrets(text: str) -> list[Secret]:
    """Return the lines of a text (ended by line feeds) that hold secrets, numbered from 1.

    Every line of a private key block is one; a block without an end runs to the last line.
    """
    found = dict.fromkeys(_key_lines(text), _KEY_KIND) if _KEY in text else {}
    for number, line in enumerate(text.split("\n"), start=1) if _MAY.search(text) else ():
        if number not in found and _MAY.search(line) and (kind := _kind(line)):
            found[number] = kind
    return [Secret(number, found[number]) for number in sorted(found)]


def _key_lines(text: str) -> Iterator[int]:
    is_key = False
    for number, line in enumerate(text.split("\n"), start=1):
        if is_key or _KEY_OPEN.search(line):
            is_key = _KEY_CLOSE.search(line) is None
            yield number


def _kind(line: str) -> str | None:
    for start in range(0, max(len(line) - _STEP, 1), _STEP):
        piece = line[start : start + _WINDOW]
        for kind, pattern in _patterns().items():
            if any(kind != _TOKEN_KIND or _is_web_token(m) for m in pattern.finditer(piece)):
                return kind
    return None


@cache
def _patterns() -> dict[str, re.Pattern[str]]:
    """Compile the formats, by kind, when the first candidate turns up."""
    table = read_table("secrets.txt")
    return {kind: re.compile(pattern, re.ASCII) for kind, pattern in table.items()}


def _is_web_token(match: re.Match[str]) -> bool:
    """Whether both parts are JSON in the base64 of RFC 7519."""
    try:
        for part in match.groups():
            json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    except (ValueError, RecursionError):
        return False
    return True
