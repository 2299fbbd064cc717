"""What stands in quotation marks."""

from __future__ import annotations

import re

_QUOTE = re.compile(
    r'"(?P<straight>[^"\n]{3,60})"|“(?P<curly>[^“”\n]{3,60})”|«(?P<angled>[^«»\n]{3,60})»'
    r"|(?<![\w'])'(?P<single>[^'\n]{3,60})'(?!\w)|‘(?P<curved>[^‘’\n]{3,60})’(?!\w)"
)
_MARKS = frozenset("\"“«'‘")
_EDGES = " \t.,;:!?…"


def find_quotes(text: str) -> list[str]:
    """Return the quoted phrases of 3 to 60 characters (SPEC §4.2), in order, once each.

    Punctuation at their edges is dropped. An apostrophe is not a quotation mark.
    """
    if _MARKS.isdisjoint(text):
        return []
    quotes = (match[match.lastgroup or 0].strip(_EDGES) for match in _QUOTE.finditer(text))
    return list(dict.fromkeys(quote for quote in quotes if len(quote) >= 3))
