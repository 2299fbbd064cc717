"""Make text safe to show: control characters, markup, verification markers and secrets.

Control and invisible characters are made visible; HTML, template tags and verification markers are
left out; keys and passwords are found, so that they are never stored.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

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
_KEPT = (
    rf"(?<=[{_JOINED}])[{_JOINERS}](?=[{_JOINED}])|"
    rf"(?:(?<=[{_PICTURE}])|(?<=[{_PICTURE}]\ufe0f))\u200d(?=[{_PICTURE}])|"
    rf"(?<=[^\x00-\x7f{_HIDDEN}])[{_SELECTORS}]|"
    r"(?<=[0-9#*])\ufe0f|"
    rf"(?<=[{_IDEOGRAPH}])[\U000e0100-\U000e01ef]|"
    rf"(?<=[{_RIGHT_TO_LEFT}])[{_MARKS}]|[{_MARKS}](?=[{_RIGHT_TO_LEFT}])|"
    rf"(?<=[{_RIGHT_TO_LEFT}][!-/:-?])[{_MARKS}]|"
    rf"(?<=[{_SPACELESS}])\u200b(?=[{_SPACELESS}])"
)
"""Hidden characters that scripts and emoji need, in their places: joiners inside words and emoji,
one variation selector, the marks beside Hebrew and Arabic, breaks in scripts without spaces.
Compiled where one is found: that takes 8 ms."""
_FLAGS = (
    "(?<=\U0001f3f4)\U000e0067\U000e0062(?:"
    "\U000e0065\U000e006e\U000e0067|\U000e0073\U000e0063\U000e0074|\U000e0077\U000e006c\U000e0073"
    ")\U000e007f"
)
"""The tags of the flags of England, Scotland and Wales, the only ones that are in use."""
_FOUND = re.compile(f"{_FLAGS}|[{_HIDDEN}]")


def escape_hidden(json_text: str) -> str:
    """Return a JSON text with the characters that ``visible`` replaces escaped: an equal value.

    They occur only inside strings, where JSON has an escape for each.
    """
    return _FOUND.sub(lambda match: match[0] if _is_kept(match) else _escape(match[0]), json_text)


def visible(text: str) -> str:
    """Return a text with control, bidirectional and invisible characters as ``<U+XXXX>``.

    Line feeds and tabs stay, and so do hidden characters that scripts and emoji need (``_KEPT``).
    Lone surrogates, which no terminal can encode, are replaced as well.
    """
    return _FOUND.sub(
        lambda match: match[0] if _is_kept(match) else f"<U+{ord(match[0]):04X}>", text
    )


def visible_line(text: str) -> str:
    """Return ``visible`` of a one-line text such as a path, line feeds and tabs replaced too."""
    return visible(text).replace("\n", "<U+000A>").replace("\t", "<U+0009>")


def _is_kept(match: re.Match[str]) -> bool:
    """Whether a hidden character is needed where it stands; a longer match is a flag."""
    return len(match[0]) > 1 or re.compile(_KEPT).match(match.string, match.start()) is not None


def _escape(character: str) -> str:
    data = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{data[at : at + 4]}" for at in range(0, len(data), 4))


def fence_text(text: str, language: str = "") -> str:
    """Return a text in a code fence longer than any in it, so that all of it stays data."""
    longest = max(map(len, re.findall(r"`+|~+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


_NAME = re.compile(r"^(?:[a-z][a-z0-9+.-]*://)?(?:[^#]*/(?=[^/]))?|#\^.*$|^#")
"""Parts of a link target that do not name the note: folders, a block reference, ``#``."""
_TAGS = (
    "a|abbr|article|audio|b|blockquote|br|button|center|code|col|d[dlt]|del|details|div|em|embed|fig\\w+"
    "|font|h[1-6r]|i|iframe|img|input|ins|kbd|li|link|mark|[ou]l|p|picture|pre|q|s|script|section|small"
    "|source|span|strong|style|su[bp]|summary|svg|table|t[dhr]|tbody|thead|u|video|wbr"
)
_UNSEEN = re.compile(
    r"(?P<kept>```.*?(?:```|\Z)|`[^`\n]*`|\$\$.+?\$\$)"
    r"|(?P<noise>(?<![\w}\\])\{\{[^{}]{1,300}\}\}|\{%[^%]{1,300}%\}|<%[^%]{1,300}%>"
    rf"|\(\([0-9a-f-]{{36}}\)\)|<!--.*?(?:-->|\Z)|</?(?:{_TAGS})\b(?! [^<>=/]*>)[^<>]*(?:>|\Z))"
    r"|(?P<link>!?\[\[(?P<wiki>[^\[\]\n]*)\]\]|!?\[(?P<text>[^\[\]\n]*)\]"
    r"\((?:<[^<>\n]*>|[^()\s]*(?:\([^()\s]*\)[^()\s]*)*)(?:\s+[\"'][^\"'\n]*[\"'])?\)|\*\*)",
    re.S,
)
"""Code and formulas, which stay; template tags, comments and HTML; links and bold marks."""
_PLACE = re.compile(r"\A(?:[a-z][a-z0-9+.-]*://\S+|[a-z][\w-]+(?:\.[a-z][\w-]*)+(?:#\S*)?)")
"""The URL of a note, or its dotted name in Dendron."""


def shown_text(text: str, *, keep_links: bool = False) -> str:
    """Return a text as displayed: without HTML and template tags, links as their text.

    With ``keep_links`` links stay, but Dendron's are written with the note first.
    """

    def show(match: re.Match[str]) -> str:
        if match["kept"] is not None or (keep_links and match["link"] and match["wiki"] is None):
            return match[0]
        if match["noise"] is not None:
            return "\n" * match[0].count("\n")
        name, label = _read_wiki(match["wiki"] or "")
        if keep_links:
            return f"[[{name}|{label}]]" if _PLACE.fullmatch(name) and label else match[0]
        return (label or _NAME.sub("", name) or match["text"] or "").replace("**", "")

    return _UNSEEN.sub(show, text)


def _read_wiki(inside: str) -> tuple[str, str]:
    """Return the note and the label of a wikilink; Dendron writes the label first."""
    first, _, second = (part.strip() for part in inside.replace("\\|", "|").partition("|"))
    is_turned = _PLACE.fullmatch(second) and not _PLACE.fullmatch(first)
    return (second, first) if is_turned else (first, second)


MARKER = re.compile(
    r"[\[［][ \t]*verify[ \t]*[:：](?P<token>(?:[^\]］\n]++|\n(?![ \t]*(?:\n|#)))*)"
    r"(?:[\]］]|(?P<open>(?=\n)|\Z))",
    re.IGNORECASE,
)
"""A verification marker. It may run over a line end, but not over a blank line or a heading: an
unclosed one ends there, so that it is withheld whole."""


@dataclass(frozen=True, slots=True)
class Marker:
    """A verification marker in a text."""

    token: str
    """The token on one line; empty if the marker is blank."""
    line: int
    """1-based, in the text."""
    is_closed: bool


def find_markers(text: str) -> Iterator[Marker]:
    """Yield the verification markers of a text in order."""
    if not may_hold_marker(text):
        return
    for match in MARKER.finditer(text):
        yield Marker(
            " ".join(match["token"].split()),
            1 + text.count("\n", 0, match.start()),
            match["open"] is None,
        )


def drop_markers(text: str) -> str:
    """Return a text without its verification markers; line numbers stay."""
    if not may_hold_marker(text):
        return text
    return MARKER.sub(lambda match: "\n" * match[0].count("\n"), text)


def may_hold_marker(text: str) -> bool:
    """Whether a text may contain a verification marker: a fast test."""
    return ("[" in text or "［" in text) and "verify" in text.casefold()


@dataclass(frozen=True, slots=True)
class Secret:
    """A line that holds a secret. The secret itself is not kept."""

    line: int
    kind: str


_MAY = re.compile(r"\b\w[\w-]{19}|://[^\s/:@]{1,200}:[^\s/:@]{1,200}@|[aA][wW][sS]", re.ASCII)
"""Every format in ``secrets.txt`` has twenty word characters in a row, is a URL with a password, or
names AWS. Few lines of prose match."""
_TOKEN_KIND = "JSON Web Token"
_KEY = "PRIVATE KEY"
_KEY_KIND = "private key"
_KEY_OPEN = re.compile(r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----")
_KEY_CLOSE = re.compile(r"-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----")

_WINDOW, _STEP = 4000, 2000
"""Long lines are searched in overlapping windows: some formats take quadratic time."""


def find_secrets(text: str) -> list[Secret]:
    """Return the lines of a text (ended by line feeds) that hold secrets, numbered from 1.

    Every line of a private key block is one; a block without an end runs to the last line.
    """
    found = dict.fromkeys(_key_lines(text), _KEY_KIND) if _KEY in text else {}
    for number, line in enumerate(text.split("\n"), start=1) if _MAY.search(text) else ():
        if number not in found and _MAY.search(line) and (kind := _kind(line)):
            found[number] = kind
    return [Secret(number, found[number]) for number in sorted(found)]


def _key_lines(text: str) -> Iterator[int]:
    is_key = False
    for number, line in enumerate(text.split("\n"), start=1):
        if is_key or _KEY_OPEN.search(line):
            is_key = _KEY_CLOSE.search(line) is None
            yield number


def _kind(line: str) -> str | None:
    for start in range(0, max(len(line) - _STEP, 1), _STEP):
        piece = line[start : start + _WINDOW]
        for kind, pattern in _patterns().items():
            if any(kind != _TOKEN_KIND or _is_web_token(m) for m in pattern.finditer(piece)):
                return kind
    return None


@cache
def _patterns() -> dict[str, re.Pattern[str]]:
    """Return the patterns of ``secrets.txt`` by kind, compiled on first use."""
    from memory_palace.language.words import read_table  # delayed: it needs a stemmer

    table = read_table("secrets.txt")
    return {kind: re.compile(pattern, re.ASCII) for kind, pattern in table.items()}


def _is_web_token(match: re.Match[str]) -> bool:
    """Whether each group of a match is JSON in base64url (RFC 7519)."""
    try:
        for part in match.groups():
            json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    except (ValueError, RecursionError):
        return False
    return True
