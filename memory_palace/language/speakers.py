"""Who says what, in texts that are conversations: lines such as ``Anna: yes``."""

from __future__ import annotations

import re
from collections.abc import Iterator

_LABEL = re.compile(
    r"^[ \t]*(?:[-*+>] )?[*_]{0,2}([^\W\d_][\w.'’ -]{0,40}?)[*_]{0,2}:[*_]{0,2}(?=\s|$)", re.M
)
_MOST_WORDS = 3
WRITER = "i"
"""Who says what stands above the first label."""


def split_speakers(text: str) -> list[tuple[str, str]]:
    """Return the parts of a text with who says each, casefolded, in order; labels are left out.

    Any short capitalised label counts, "Note:" too: it does no harm, for it is only looked for
    when a question names it.
    """
    parts, speaker, start = [], WRITER, 0
    for label in _find_labels(text):
        parts.append((speaker, text[start : label.start()]))
        speaker, start = label[1].casefold(), label.end()
    parts.append((speaker, text[start:]))
    return [(who, part) for who, part in parts if part.strip()]


def find_speakers(text: str) -> Iterator[str]:
    """Yield each word of the labels of a text, casefolded."""
    for label in _find_labels(text):
        yield from label[1].casefold().split()


def _find_labels(text: str) -> Iterator[re.Match[str]]:
    for label in _LABEL.finditer(text) if ":" in text else ():
        if label[1][0].isupper() and len(label[1].split()) <= _MOST_WORDS:
            yield label
