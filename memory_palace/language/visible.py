"""Text from notes is data: what a terminal would obey, or nobody would see, is made visible."""

from __future__ import annotations

import re

_MARKS = "\u061c\u200e\u200f"
_JOINERS = "\u200c\u200d"
_SELECTORS = "\u180b-\u180d\u180f\ufe00-\ufe0f"
_HIDDEN = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180e\u200b"
    f"{_MARKS}{_JOINERS}{_SELECTORS}"
    "\u2028-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufeff\uffa0\ufff0-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)

_RIGHT_TO_LEFT = (
    "\u05be\u05c0-\u05f4\u0608-\u061b\u061d-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff"
)
_JOINED = (
    "\u0600-\u061b\u061d-\u109f\u1780-\u17b3\u17b6-\u180a\u1810-\u18af\ua840-\uabff"
    "\ufb50-\ufdff\ufe70-\ufefc"
)
_PICTURE = "\u00a9\u00ae\u2190-\u2bff\U0001f000-\U0001faff"
_SPACELESS = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17b3\u17b6-\u17ff"
_IDEOGRAPH = "\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_KEPT = re.compile(
    "|".join(
        (
            rf"(?<=[{_JOINED}])[{_JOINERS}](?=[{_JOINED}])",
            rf"(?:(?<=[{_PICTURE}])|(?<=[{_PICTURE}]\ufe0f))\u200d(?=[{_PICTURE}])",
            rf"(?<=[^\x00-\x7f{_HIDDEN}])[{_SELECTORS}]",
            r"(?<=[0-9#*])\ufe0f",
            rf"(?<=[{_IDEOGRAPH}])[\U000e0100-\U000e01ef]",
            rf"(?<=[{_RIGHT_TO_LEFT}])[{_MARKS}]|[{_MARKS}](?=[{_RIGHT_TO_LEFT}])",
            rf"(?<=[{_RIGHT_TO_LEFT}][!-/:-?])[{_MARKS}]",
            rf"(?<=[{_SPACELESS}])\u200b(?=[{_SPACELESS}])",
        )
    )
)
"""What scripts and emoji need, where they need it: joiners inside of words and pictures, one
variation selector, the marks beside Hebrew and Arabic, breaks in scripts without spaces."""
_FLAGS = (
    "(?<=\U0001f3f4)\U000e0067\U000e0062(?:"
    "\U000e0065\U000e006e\U000e0067|\U000e0073\U000e0063\U000e0074|\U000e0077\U000e006c\U000e0073"
    ")\U000e007f"
)
"""The tags of the flags of England, Scotland and Wales, the only ones that are in use."""
_FOUND = re.compile(f"{_FLAGS}|[{_HIDDEN}]")


def escape_hidden(json_text: str) -> str:
    """Escape in a JSON text what ``visible`` replaces: the same value, safe on a terminal.

    Such characters stand inside of strings alone, where JSON has an escape for each.
    """
    return _FOUND.sub(lambda match: match[0] if _is_kept(match) else _escape(match[0]), json_text)


def visible(text: str) -> str:
    """Replace control, bidirectional and invisible characters by their code in angle brackets.

    Line feed and tab stay, and so does what scripts and emoji need, see ``_KEPT``. Lone surrogates,
    which no terminal can encode, are replaced as well.
    """
    return _FOUND.sub(
        lambda match: match[0] if _is_kept(match) else f"<U+{ord(match[0]):04X}>", text
    )


def visible_line(text: str) -> str:
    """Do as ``visible`` with what belongs on one line, such as a path: line feeds are shown too."""
    return visible(text).replace("\n", "<U+000A>").replace("\t", "<U+0009>")


def _is_kept(match: re.Match[str]) -> bool:
    """Say whether a hidden character stands where it belongs; a flag has more than one."""
    return len(match[0]) > 1 or _KEPT.match(match.string, match.start()) is not None


def _escape(character: str) -> str:
    data = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{data[at : at + 4]}" for at in range(0, len(data), 4))


def fence_text(text: str, language: str = "") -> str:
    """Show a text in a fence longer than any in it: text of a note is data."""
    longest = max(map(len, re.findall(r"`+|~+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"
