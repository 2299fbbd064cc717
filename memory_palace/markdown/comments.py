"""What is written beside the text: HTML comments, and the ``%% comments %%`` of Obsidian."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memory_palace.markdown.markup import Markup

_MARK = "%%"
_BEGINS_LINE = re.compile(r"^[ \t>]*+(?=%%)", re.M)
_BLANK_LINE = re.compile(r"\n[ \t]*+\r?\n")


def drop_comments(text: str) -> tuple[str, int | None]:
    """Return a text without its comments, and the 0-based line of one that is never closed.

    Lines stay. A ``%%`` that begins a line opens a comment up to the next ``%%``, or to the end of
    the text; within a line it needs another in its paragraph. In code it is text. Linear.
    """
    if _MARK not in text and "<!--" not in text:
        return text, None
    markup = Markup(text)
    spans = [(part.start, part.end) for part in markup.hidden if part.kind == "comment"]
    spans += _find_percent(text, markup.plain) if _MARK in text else ()
    kept: list[str] = []
    position = 0
    open_line: int | None = None
    for start, end in sorted(spans):
        if end <= position:
            continue
        if open_line is None and not text.endswith((_MARK, "-->"), start + 2, end):
            open_line = markup.line_at(start)
        first = max(start, position)
        kept += [text[position:first], "\n" * text.count("\n", first, end)]
        position = end
    return "".join([*kept, text[position:]]), open_line


def _find_percent(text: str, plain: str) -> Iterator[tuple[int, int]]:
    """Yield where ``%%`` comments are. ``plain`` is the text with code and escapes blank."""
    begins = {found.end() for found in _BEGINS_LINE.finditer(text)}
    position = 0
    while (start := plain.find(_MARK, position)) >= 0:
        closing = plain.find(_MARK, start + 2)
        if start in begins:
            # Code that is opened in a comment and not closed would hide the end of the comment.
            closing = closing if closing >= 0 else text.find(_MARK, start + 2)
            position = len(text) if closing < 0 else closing + 2
            yield start, position
        elif closing >= 0 and not _BLANK_LINE.search(text, start, closing):
            position = closing + 2
            yield start, position
        else:
            position = start + 2
