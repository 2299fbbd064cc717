"""Markdown without what is no prose: code, addresses, link targets, markup."""

from __future__ import annotations

import re

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,}).*?(?:^ {0,3}\1[`~]*\s*$|\Z)", re.M | re.S)
_CODE = re.compile(r"`[^`\n]+`")
_MATH = re.compile(r"\$\$.*?\$\$|\$[^$\n]+\$", re.S)
_URL = re.compile(r"(?:https?://|www\.)[^\s)\]>]+")
_WIKILINK = re.compile(r"!?\[\[([^\]|#\n]*)(?:#[^\]|\n]*)?(?:\|([^\]\n]*))?\]\]")
_LINK = re.compile(r"!?\[([^\]\n]*)\]\([^)\n]*\)")
_HTML = re.compile(r"</?[a-zA-Z][^>\n]*>")
_EMPHASIS = re.compile(r"\*{1,3}|(?<!\w)_{1,2}|_{1,2}(?!\w)|~~|==")
_BULLET = re.compile(r"^(\s*)\*\s", re.M)


def strip_markup(text: str) -> str:
    """Return the prose of a Markdown text; lines stay lines. Inline code is left out."""
    if "```" in text or "~~~" in text:
        text = _FENCE.sub("\n", text)
    if "`" in text:
        text = _CODE.sub(" . ", text)
    if "$" in text:
        text = _MATH.sub(" . ", text)
    if "[" in text:
        text = _WIKILINK.sub(lambda match: match[2] or match[1].rpartition("/")[2], text)
        text = _LINK.sub(r"\1", text)
    if "://" in text or "www." in text:
        text = _URL.sub(" . ", text)
    if "<" in text:
        text = _HTML.sub(" ", text)
    if "*" in text:
        text = _BULLET.sub(r"\1- ", text)
    if "*" in text or "_" in text or "==" in text or "~~" in text:
        text = _EMPHASIS.sub("", text)
    return text
