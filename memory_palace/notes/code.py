"""Where code is in Markdown: fences, inline spans and comments, which hold no links or headings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)$")
_TICKS = re.compile(r"`+")
_MARK = re.compile(r"`+|<!--")


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
        elif is_comment or "`" in line or "<!--" in line:
            text, is_comment = _drop_code(line, is_comment)
            yield text
        else:
            yield line


def _drop_code(line: str, is_comment: bool) -> tuple[str, bool]:
    """Drop inline code and comments, whichever opens first; say whether a comment goes on.

    Inline code is a run of ticks up to the next run of the same length.
    """
    later: dict[int, list[re.Match[str]]] = {}
    for run in reversed(list(_TICKS.finditer(line))):
        later.setdefault(len(run[0]), []).append(run)
    kept: list[str] = []
    position = 0
    while True:
        if is_comment:
            end = line.find("-->", position)
            if end < 0:
                return "".join(kept), True
            position, is_comment = end + 3, False
        mark = _MARK.search(line, position)
        if mark is None:
            return "".join([*kept, line[position:]]), False
        if mark[0] == "<!--":
            kept.append(line[position : mark.start()])
            position, is_comment = mark.start() + 2, True  # "<!-->" is a whole comment
            continue
        closing = _take_run(later[len(mark[0])], after=mark.end())
        kept.append(line[position : mark.start() if closing else mark.end()])
        position = closing.end() if closing else mark.end()


def _take_run(runs: list[re.Match[str]], *, after: int) -> re.Match[str] | None:
    """Return the first run that starts later; those before it are never needed again."""
    while runs and runs[-1].start() < after:
        runs.pop()
    return runs[-1] if runs else None
