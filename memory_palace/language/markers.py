"""The marker of a verification token, ``[Verify: phrase]``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

MARKER = re.compile(
    r"[\[［][ \t]*verify[ \t]*[:：](?P<token>(?:[^\]］\n]++|\n(?![ \t]*(?:\n|#)))*+)"
    r"(?:[\]］]|(?P<open>(?=\n)|\Z))",
    re.IGNORECASE,
)
"""A marker may run over a line end, never over a blank line or a heading: one that is not closed
ends there, so that it is withheld whole."""


@dataclass(frozen=True, slots=True)
class Marker:
    """One marker in a text."""

    token: str
    """On one line; empty where the marker is blank."""
    line: int
    """1-based, in the text."""
    is_closed: bool


def find_markers(text: str) -> Iterator[Marker]:
    """Yield the markers of a text in order."""
    if not may_hold_marker(text):
        return
    for match in MARKER.finditer(text):
        yield Marker(
            " ".join(match["token"].split()),
            1 + text.count("\n", 0, match.start()),
            match["open"] is None,
        )


def drop_markers(text: str) -> str:
    """Return a text without its markers; every line stays where it was."""
    if not may_hold_marker(text):
        return text
    return MARKER.sub(lambda match: "\n" * match[0].count("\n"), text)


def may_hold_marker(text: str) -> bool:
    """Say quickly whether it is worth looking."""
    return ("[" in text or "［" in text) and "verify" in text.casefold()
