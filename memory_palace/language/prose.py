"""Markdown without what is no prose: code, addresses, link targets, markup."""

from __future__ import annotations

import re
from collections.abc import Callable

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,}).*?(?:^ {0,3}\1[`~]*\s*$|\Z)", re.M | re.S)
_CODE = re.compile(r"`[^`\n]+`")
_MATH = re.compile(r"\$\$.*?\$\$|\$[^$\n]+\$", re.S)
_URL = re.compile(r"(?:https?://|www\.)[^\s)\]>]+")
_WIKILINK = re.compile(r"!?\[\[([^\]|#\n]*)(?:#[^\]|\n]*)?(?:\|([^\]\n]*))?\]\]")
_LINK = re.compile(r"!?\[([^\]\n]*)\]\([^)\n]*\)")
_HTML = re.compile(r"</?[a-zA-Z][^>\n]*>")
_HEADING = re.compile(r"^ {0,3}#{1,6} .*$", re.M)
_EMPHASIS = re.compile(r"\*{1,3}|(?<!\w)_{1,2}|_{1,2}(?!\w)|~~|==")
_BULLET = re.compile(r"^(\s*)\*\s", re.M)


def strip_markup(text: str) -> str:
    """Return the prose of a Markdown text; lines stay lines. Inline code is left out.

    Headings become small letters: their capitals say nothing.
    """
    for marks, pattern, replacement in _STEPS:
        if any(mark in text for mark in marks):
            text = pattern.sub(replacement, text)
    return text


def _shown_name(match: re.Match[str]) -> str:
    target, alias = match[1], match[2]
    return str(alias or target.rpartition("/")[2])


def _small(match: re.Match[str]) -> str:
    return match[0].lower()


_Replacement = str | Callable[[re.Match[str]], str]
_STEPS: tuple[tuple[tuple[str, ...], re.Pattern[str], _Replacement], ...] = (
    (("```", "~~~"), _FENCE, "\n"),
    (("# ",), _HEADING, _small),
    (("`",), _CODE, " . "),
    (("$",), _MATH, " . "),
    (("[[",), _WIKILINK, _shown_name),
    (("](",), _LINK, r"\1"),
    (("://", "www."), _URL, " . "),
    (("<",), _HTML, " "),
    (("*",), _BULLET, r"\1- "),
    (("*", "_", "==", "~~"), _EMPHASIS, ""),
)
"""In order: marks without which the step is skipped, what is replaced, and by what."""
