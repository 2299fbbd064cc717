"""Front matter: read a note's leading block of YAML, or Hugo's TOML or JSON; write YAML."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date
from typing import Any

import yaml

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_OPEN = re.compile(r"\A(?:(?:---|\+\+\+)[ \t]*\n|(?=\{\s*\"))")
_CLOSES = {
    "-": re.compile(r"^(?:---|\.\.\.)[ \t]*$", re.MULTILINE),
    "+": re.compile(r"^\+\+\+[ \t]*$", re.MULTILINE),
    "{": re.compile(r"(?:\A\{.*|^)\}[ \t]*$", re.MULTILINE),
}
"""The end of a block of YAML, TOML or JSON, by the first character of the text."""
_OF_A_PAGE = {"title", "date"}
"""A JSON block with neither of these keys is text: a page of Hugo has one."""
_LIMIT_CHARACTERS = 64 * 1024
_LIMIT_ALIASES = 10
"""Aliases allowed in a block: nine aliases of nine aliases make a YAML bomb."""
_LIMIT_DEPTH = 50
"""Nesting allowed in a block: the C loader recurses, and some thousand levels end the process."""
_LOADING_ERRORS = (ValueError, ArithmeticError, LookupError, TypeError, AttributeError)
"""Errors that PyYAML's constructors raise on values such as ``!!int ""`` or the 99th of a month."""
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_FORMAT: Mapping[str, Any] = {"allow_unicode": True, "width": 1 << 20, "sort_keys": False}
_SAYS_PRIVATE = re.compile(
    r"^[ \t]*[\"']?private[\"']?[ \t]*[:=][ \t]*[\"']?(?:true|yes|on|1)\b",
    re.IGNORECASE | re.MULTILINE,
)
_PARAGRAPH_END = re.compile(r"\n[ \t]*(?:\n|\Z)")


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """A parsed block, or the reason why it could not be parsed."""

    values: Mapping[str, Any] = field(default_factory=dict)
    end: int = 0
    """Offset in the text at which the body starts; 0 if there is no block."""
    error: str | None = None
    """The reason why a block is kept as text."""
    error_line: int | None = None
    raw: str = ""
    """The block as written, also where it could not be parsed."""

    @property
    def is_private(self) -> bool:
        """Whether the block, parsed or not, sets ``private``: the note is not indexed or shown."""
        if not self.end:
            return _SAYS_PRIVATE.search(self.raw) is not None
        asked = (value for key, value in self.values.items() if key.strip().lower() == "private")
        return any(str(value).strip().lower() in ("true", "yes", "on", "1") for value in asked)


def split_front_matter(text: str) -> FrontMatter:
    """Return the leading block of a text whose lines end in line feeds.

    It is YAML between lines of ``---``, TOML between ``+++``, or JSON. A block that is malformed,
    not a mapping, too long or too complex stays in the body, with ``error`` set.
    """
    opening = _OPEN.match(text)
    if opening is None:
        return FrontMatter()
    closing = _CLOSES[text[0]].search(text, opening.end())
    if closing is None:
        return _unclosed(text, opening.end())
    is_json = text[0] == "{"
    raw = text[opening.end() : closing.end() if is_json else closing.start()]
    if len(raw) > _LIMIT_CHARACTERS:
        if not _looks_like_yaml(raw):
            return FrontMatter()  # not front matter: prose between two rules
        return _as_text(raw, "is longer than 64 kB")
    matter = _parse(raw, end=min(closing.end() + 1, len(text)), is_toml=text[0] == "+")
    return FrontMatter(raw=raw) if is_json and not _OF_A_PAGE & matter.values.keys() else matter


def write_front_matter(values: Mapping[str, object]) -> str:
    """Return a YAML block for a new note, lists on one line; ``None`` fields are left out."""
    return f"---\n{''.join(dump_field(key, value) for key, value in values.items())}---\n"


def _unclosed(text: str, start: int) -> FrontMatter:
    """Return an unclosed block as body text, with an error if it looks like YAML."""
    end = _PARAGRAPH_END.search(text, start)
    raw = text[start : end.start() if end else len(text)]
    if not _looks_like_yaml(raw):
        return FrontMatter(raw=raw)
    return _as_text(raw, "is not closed by ---")


def _parse(raw: str, *, end: int, is_toml: bool) -> FrontMatter:
    try:
        if is_toml:
            import tomllib  # delayed: few notes have TOML

            return FrontMatter(tomllib.loads(raw), end, raw=raw)
        if excess := _find_excess(raw):
            return _as_text(raw, f"has {excess}")
        values = yaml.load(raw, _LOADER)
        str(values)  # raises ValueError for a number of thousands of digits
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        what = getattr(error, "problem", None) or "it cannot be parsed"
        why = f"is not valid YAML and is kept as text: {what}"
        return _as_text(raw, why, line=2 + (mark.line if mark else 0))
    except (*_LOADING_ERRORS, RecursionError) as error:
        return _as_text(raw, f"has an invalid value and is kept as text: {error}")
    values = {} if values is None else values
    if not isinstance(values, dict):
        return _as_text(raw, f"is a {type(values).__name__}, not a mapping", line=2)
    return FrontMatter({str(key): value for key, value in values.items()}, end, raw=raw)


def _find_excess(raw: str) -> str | None:
    """Return the reason why a block is dangerous to load, reading its events without recursion."""
    aliases, opened = 0, list[str | None]()
    for event in yaml.parse(raw, _LOADER):
        if isinstance(event, yaml.AliasEvent):
            aliases += 1
            if event.anchor in opened:
                return "a value that holds itself"
        elif isinstance(event, yaml.CollectionStartEvent):
            opened.append(event.anchor)
        elif isinstance(event, yaml.CollectionEndEvent):
            opened.pop()
        if aliases > _LIMIT_ALIASES:
            return "too many aliases"
        if len(opened) > _LIMIT_DEPTH:
            return "too many levels"
    return None


def _as_text(raw: str, why: str, *, line: int = 1) -> FrontMatter:
    """Return the result for a block that stays in the body: its text and the error."""
    return FrontMatter(error=f"front matter {why}", error_line=line, raw=raw)


def _looks_like_yaml(text: str) -> bool:
    return re.match(r"[A-Za-z_][\w-]*:(\s|$)", text) is not None


def dump_field(key: str, value: object) -> str:
    """Return one field as YAML, a list on one line; nothing for ``None``."""
    if value is None:
        return ""
    if isinstance(value, str) and _DATE.fullmatch(value):
        with suppress(ValueError):  # no such day: quoted, as other text is
            date.fromisoformat(value)
            return f"{key}: {value}\n"  # quoted, other programs would not read it as a date
    if isinstance(value, list | tuple):
        items = yaml.safe_dump(list(value), default_flow_style=True, **_FORMAT)
        return f"{key}: {items}"
    text: str = yaml.safe_dump({key: value}, default_flow_style=False, **_FORMAT)
    return text
