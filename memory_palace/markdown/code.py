"""Code spans, comments and escaped characters inside of a paragraph."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple, TypeAlias

HiddenKind: TypeAlias = Literal["block", "code", "comment", "escape"]
"""A block is a fence or indented code, whole lines of it."""


class Hidden(NamedTuple):
    """A part of a text, by its offsets, in which no link, tag or heading is looked for."""

    kind: HiddenKind
    start: int
    end: int


_TICKS = re.compile(r"`+")
_MARK = re.compile(r"\\[!-/:-@\[-`{-~]|`+|<!--")


def find_hidden(
    text: str, start: int, end: int, *, is_open_comment: bool = False
) -> Iterator[Hidden]:
    """Yield what is hidden between two offsets of a text, whichever opens first.

    Code is a run of ticks up to the next run of the same length (CommonMark 6.1), a comment
    ``<!--`` up to ``-->``. What is not closed is text, but for a comment where
    ``is_open_comment`` says that its block is nothing else.
    """
    runs: dict[int, list[int]] | None = None
    position = start
    while mark := _MARK.search(text, position, end):
        position = mark.end()
        if mark[0][0] == "\\":
            yield Hidden("escape", mark.start(), position)
        elif mark[0][0] == "`":
            if runs is None:
                runs = _runs_by_length(text, position, end)
            closing = _first_after(runs.get(len(mark[0]), []), position)
            if closing is not None:
                position = closing + len(mark[0])
                yield Hidden("code", mark.start(), position)
        elif start >= 0:
            closing = text.find("-->", mark.start() + 2, end)  # "<!-->" is a whole comment
            if closing < 0 and not is_open_comment:
                start = -1  # no later comment is closed either
                continue
            position = end if closing < 0 else closing + 3
            yield Hidden("comment", mark.start(), position)


def _runs_by_length(text: str, start: int, end: int) -> dict[int, list[int]]:
    """Return where the runs of ticks start, by their length, the last run first."""
    runs: dict[int, list[int]] = {}
    for run in reversed(list(_TICKS.finditer(text, start, end))):
        runs.setdefault(len(run[0]), []).append(run.start())
    return runs


def _first_after(starts: list[int], position: int) -> int | None:
    """Return the first start from ``position`` on; those before it are never needed again."""
    while starts and starts[-1] < position:
        starts.pop()
    return starts[-1] if starts else None
