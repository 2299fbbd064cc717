"""Where code is in Markdown: fences, inline spans and comments, which hold no links or headings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)$")
_TICKS = re.compile(r"`+")


def fenced_lines(lines: Sequence[str]) -> list[bool]:
    """Say of every line whether it belongs to a fenced block, the fences included.

    A fence is closed by one of the same kind that is at least as long (CommonMark 4.5); an open
    one runs to the end.
    """
    inside: list[bool] = []
    fence = ""
    for line in lines:
        match = _FENCE.match(line)
        if fence:
            inside.append(True)
            is_close = match and match[1][0] == fence[0] and len(match[1]) >= len(fence)
            if is_close and match and not match[2].strip():
                fence = ""
        elif match and not (match[1][0] == "`" and "`" in match[2]):
            fence = match[1]
            inside.append(True)
        else:
            inside.append(False)
    return inside


def without_code(lines: Sequence[str]) -> Iterator[str]:
    """Yield every line with code and HTML comments blanked, so that line numbers stay."""
    is_comment = False
    for line, is_fenced in zip(lines, fenced_lines(lines), strict=True):
        if is_fenced:
            yield ""
            continue
        text, is_comment = _drop_comments(line, is_comment)
        yield _drop_spans(text)


def _drop_comments(line: str, is_comment: bool) -> tuple[str, bool]:
    kept: list[str] = []
    rest = line
    while rest:
        if is_comment:
            _, found, rest = rest.partition("-->")
            is_comment = not found
        else:
            before, found, rest = rest.partition("<!--")
            kept.append(before)
            is_comment = bool(found)
    return "".join(kept), is_comment


def _drop_spans(line: str) -> str:
    """Drop inline code: a run of ticks up to the next run of the same length."""
    runs = list(_TICKS.finditer(line))
    if not runs:
        return line
    later: dict[int, list[int]] = {}
    for number in range(len(runs) - 1, -1, -1):
        later.setdefault(len(runs[number][0]), []).append(number)
    kept, position, number = [], 0, 0
    while number < len(runs):
        same = later[len(runs[number][0])]
        while same and same[-1] <= number:
            same.pop()
        if not same:
            number += 1
            continue
        kept.append(line[position : runs[number].start()])
        position, number = runs[same[-1]].end(), same[-1] + 1
    return "".join([*kept, line[position:]])
