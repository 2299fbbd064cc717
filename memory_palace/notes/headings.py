"""Recognise one Markdown heading. A regular expression for this takes quadratic time."""

from __future__ import annotations

import re

_MARK = re.compile(r" {0,3}(#{1,6})(?=[ \t]|$)")


def parse_heading(line: str) -> tuple[int, str] | None:
    """Return level and title of an ATX heading (CommonMark 4.2), its closing marks dropped."""
    match = _MARK.match(line)
    if match is None:
        return None
    title = line[match.end() :].strip(" \t")
    without = title.rstrip("#")
    if not without or without[-1] in " \t":
        title = without.rstrip(" \t")
    return len(match[1]), title
