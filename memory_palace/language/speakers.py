"""Who says what, in texts that are conversations."""

from __future__ import annotations

import re

_LABEL = re.compile(
    r"^[ \t]*(?:[-+>] )?([A-Z][\w.'’-]{0,30}(?: [A-Z][\w.'’-]{0,30}){0,2}):(?=\s)", re.M
)
NOBODY = "i"
"""The writer of a text without labels."""


def split_speakers(text: str) -> list[tuple[str, str]]:
    """Return the parts of a text with who says each, casefolded, in order.

    A part begins at a line such as ``Anna: yes``; the label is left out. What comes before the
    first label is said by the writer. Any short capitalised label counts, "Note:" too.
    """
    if ":" not in text:
        return [(NOBODY, text)]
    parts, speaker, start = [], NOBODY, 0
    for match in _LABEL.finditer(text):
        parts.append((speaker, text[start : match.start()]))
        speaker, start = match[1].casefold(), match.end()
    parts.append((speaker, text[start:]))
    return [(who, part) for who, part in parts if part.strip()]
