"""Text from notes is data: what a terminal would obey or hide is made visible."""

from __future__ import annotations

import re

_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]"
)


def visible(text: str) -> str:
    """Replace control, bidirectional and zero-width characters by their code in angle brackets.

    Line feed and tab stay. A zero-width joiner or variation between other characters stays only
    where it is not in this list, so emoji sequences are shown with their joiners named.
    """
    return _HIDDEN.sub(lambda match: f"<U+{ord(match[0]):04X}>", text)
