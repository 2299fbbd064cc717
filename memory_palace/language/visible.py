"""Text from notes is data: what a terminal would obey or hide is made visible."""

from __future__ import annotations

import re

_HIDDEN = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f"
    "\u2028-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufeff\uffa0\ufff9-\ufffb"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_LETTER = rf"[^\x00-\x7f\u200c\u200d{_HIDDEN}]"
_PATTERN = re.compile(rf"[{_HIDDEN}]|(?<!{_LETTER})[\u200c\u200d]|[\u200c\u200d](?!{_LETTER})")


_ANY_HIDDEN = re.compile(rf"[{_HIDDEN}\u200c\u200d]")


def escape_hidden(json_text: str) -> str:
    """Escape in a JSON text what ``visible`` replaces: the same value, safe on a terminal.

    Such characters stand inside of strings alone, where JSON has an escape for each.
    """
    return _ANY_HIDDEN.sub(_escape, json_text)


def _escape(match: re.Match[str]) -> str:
    data = match[0].encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{data[at : at + 4]}" for at in range(0, len(data), 4))


def visible(text: str) -> str:
    """Replace control, bidirectional and zero-width characters by their code in angle brackets.

    Line feed and tab stay, and so do the joiners that scripts and emoji need: those between two
    characters that are neither ASCII nor hidden. Lone surrogates, which no terminal can encode,
    are replaced as well.
    """
    return _PATTERN.sub(lambda match: f"<U+{ord(match[0]):04X}>", text)
