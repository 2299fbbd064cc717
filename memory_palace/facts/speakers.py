"""Who says what, in notes that are conversations."""

from __future__ import annotations

import re
from collections.abc import Iterator

_LABEL = re.compile(
    r"^(?:[-*+>] )?[*_]{0,2}([^\W\d_][\w.'’ -]{0,40}?)[*_]{0,2}:[*_]{0,2}(?=\s|$)", re.M
)
_MOST_WORDS = 3


def find_speakers(text: str) -> Iterator[str]:
    """Yield each word of the labels that lines such as ``Anna: yes`` begin with, casefolded.

    Any short capitalised label counts, "Note:" too: it does no harm, for it is only looked for
    when a question names it.
    """
    for label in _LABEL.findall(text):
        words = label.split()
        if len(words) <= _MOST_WORDS and label[0].isupper():
            yield from (word.casefold() for word in words)
