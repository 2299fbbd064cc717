"""Find keys and passwords in text, so that they never become memory."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from memory_palace.language.word_lists import read_table


@dataclass(frozen=True, slots=True)
class Secret:
    """A line that holds a secret. The secret itself is not kept."""

    line: int
    kind: str


_RUN = re.compile(r"\b\w[\w-]{19}", re.ASCII)
_LOGIN = re.compile(r"://[^\s/:@]{1,200}:[^\s/:@]{1,200}@")
_AWS = re.compile("aws", re.IGNORECASE)
"""Every format of ``secrets.txt`` has twenty such characters in a row, is a URL with
a password, or names AWS. Few lines of prose do: most of them cost one scan of the first one."""
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
    patterns = [_RUN]
    if "://" in text:
        patterns.append(_LOGIN)
    if "aws" in text.lower():
        patterns.append(_AWS)
    found = dict.fromkeys(_key_lines(text), _KEY_KIND) if _KEY in text else {}
    for number, line in _candidates(text, patterns):
        kind = None if number in found else _kind(line)
        if kind is not None:
            found[number] = kind
    return [Secret(number, found[number]) for number in sorted(found)]


def _key_lines(text: str) -> Iterator[int]:
    is_key = False
    for number, line in enumerate(text.split("\n"), start=1):
        if is_key or _KEY_OPEN.search(line):
            is_key = _KEY_CLOSE.search(line) is None
            yield number


def _candidates(text: str, patterns: list[re.Pattern[str]]) -> Iterator[tuple[int, str]]:
    """Yield lines that any pattern occurs in, with their numbers."""
    for pattern in patterns:
        number, counted, position = 1, 0, 0
        while match := pattern.search(text, position):
            start = text.rfind("\n", 0, match.start()) + 1
            end = text.find("\n", match.end())
            end = len(text) if end < 0 else end
            number += text.count("\n", counted, start)
            yield number, text[start:end]
            counted, position = start, end


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
