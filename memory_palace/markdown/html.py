"""What begins and ends an HTML block (CommonMark 4.6)."""

from __future__ import annotations

import re
from typing import NamedTuple


class HtmlBlock(NamedTuple):
    """A kind of HTML block."""

    start: re.Pattern[str]
    end: re.Pattern[str] | None
    """What its last line contains; ``None`` where a blank line ends it."""
    can_interrupt: bool
    """Whether it may end a paragraph."""


_TAG_NAMES = (
    "address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|"
    "dialog|dir|div|dl|dt|fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|"
    "hr|html|iframe|legend|li|link|main|menu|menuitem|nav|noframes|ol|optgroup|option|p|param|"
    "search|section|summary|table|tbody|td|tfoot|th|thead|title|tr|track|ul"
)
_ATTRIBUTE = r"\s++[A-Za-z_:][\w.:-]*+(?:\s*+=\s*+(?:[^\s\"'=<>`]++|'[^']*+'|\"[^\"]*+\"))?+"
_BLOCKS = tuple(
    HtmlBlock(re.compile(start, re.I), re.compile(end, re.I) if end else None, can_interrupt)
    for start, end, can_interrupt in (
        (r"<!--", r"-->", True),
        (r"<(?:script|pre|style|textarea)(?:\s|>|$)", r"</(?:script|pre|style|textarea)>", True),
        (r"<\?", r"\?>", True),
        (r"<!\[CDATA\[", r"\]\]>", True),
        (r"<![a-z]", r">", True),
        (rf"</?(?:{_TAG_NAMES})(?:\s|/?>|$)", "", True),
        (rf"<[a-z][a-z0-9-]*+(?:{_ATTRIBUTE})*+\s*+/?>\s*$", "", False),
        (r"</[a-z][a-z0-9-]*+\s*+>\s*$", "", False),
    )
)


def match_html(line: str, start: int, *, is_in_paragraph: bool) -> HtmlBlock | None:
    """Return the kind of HTML block that begins in a line, where one does."""
    for kind in _BLOCKS:
        if kind.start.match(line, start) and (kind.can_interrupt or not is_in_paragraph):
            return kind
    return None
