"""Reference definitions, ``[label]: destination "title"``, at the start of a paragraph."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_DEFINITION = re.compile(
    r"[ \t>]*\[((?:[^\\\[\]]|\\.){1,999}+)\]:[ \t]*+(?:\r?\n[ \t>]*+)?"
    r"(<(?:[^<>\n\\]|\\.)*+>|[^\s<]\S*+)"
    r"(?:(?:[ \t]++|[ \t\r]*+\n[ \t>]*+)"
    r"(?:\"(?:[^\"\\]|\\.)*+\"|'(?:[^'\\]|\\.)*+'|\((?:[^()\\]|\\.)*+\)))?[ \t\r]*(?:\n|\Z)",
    re.S,
)


class Definition(NamedTuple):
    """Where a reference definition, ``[label]: destination``, has its destination in the text."""

    start: int
    end: int


def take_definitions(text: str, start: int, end: int) -> Iterator[tuple[str, Definition, int]]:
    """Yield the definitions that a paragraph begins with: label, destination, and where it ends."""
    if not text.startswith("[", start):
        return
    while start < end and (found := _DEFINITION.match(text, start, end)):
        label = fold_label(found[1])
        if not label:
            return
        start = found.end()
        yield label, Definition(*found.span(2)), start


def fold_label(label: str) -> str:
    """Return a link label as labels are compared."""
    return " ".join(label.replace("\n>", "\n").split()).casefold()
