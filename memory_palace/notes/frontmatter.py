"""The YAML block at the head of a note."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_OPEN = re.compile(r"\A---[ \t]*\n")
_CLOSE = re.compile(r"^(?:---|\.\.\.)[ \t]*$", re.MULTILINE)
_LIMIT_CHARACTERS = 64 * 1024
_LIMIT_ALIASES = 10
"""Aliases allowed in a block: nine aliases of nine aliases make a YAML bomb."""
_LIMIT_DEPTH = 50
"""Nesting allowed in a block: the C loader recurses, and some thousand levels end the process."""
_LOADING_ERRORS = (ValueError, ArithmeticError, LookupError, TypeError, AttributeError)
"""What PyYAML's constructors raise on values such as ``!!int ""`` or the 99th of a month."""
_PARAGRAPH_END = re.compile(r"\n[ \t]*(?:\n|\Z)")


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """A parsed block, or the reason why it is none."""

    values: Mapping[str, Any] = field(default_factory=dict)
    end: int = 0
    """Where the body starts in the text; 0 where there is no block."""
    error: str | None = None
    """Why a block is kept as text."""
    error_line: int | None = None
    raw: str = ""
    """The block as written, also where it could not be parsed."""


def split_front_matter(text: str) -> FrontMatter:
    """Parse the leading block of a text whose lines end in line feeds.

    A block that is malformed, no mapping, too long or full of aliases stays in the body.
    """
    opening = _OPEN.match(text)
    if opening is None:
        return FrontMatter()
    closing = _CLOSE.search(text, opening.end())
    if closing is None:
        return _unclosed(text, opening.end())
    raw = text[opening.end() : closing.start()]
    if len(raw) > _LIMIT_CHARACTERS:
        if not _looks_like_yaml(raw):
            return FrontMatter()  # two rules with prose between them
        return FrontMatter(error="front matter is longer than 64 kB", error_line=1, raw=raw)
    return _parse(raw, end=min(closing.end() + 1, len(text)))


def _unclosed(text: str, start: int) -> FrontMatter:
    """Take a rule above prose for a rule; what it opens may still say that it is private."""
    end = _PARAGRAPH_END.search(text, start)
    raw = text[start : end.start() if end else len(text)]
    if not _looks_like_yaml(raw):
        return FrontMatter(raw=raw)
    return FrontMatter(error="front matter is not closed by ---", error_line=1, raw=raw)


def _parse(raw: str, *, end: int) -> FrontMatter:
    try:
        excess = _find_excess(raw)
        if excess:
            return FrontMatter(error=f"front matter has {excess}", error_line=1, raw=raw)
        values = yaml.load(raw, _LOADER)
    except yaml.YAMLError as error:
        return _malformed(error, raw)
    except _LOADING_ERRORS as error:
        message = f"front matter is kept as text: it holds an invalid value ({error})"
        return FrontMatter(error=message, error_line=1, raw=raw)
    if values is None:
        values = {}
    if not isinstance(values, dict):
        message = f"front matter is a {type(values).__name__}, not a mapping"
        return FrontMatter(error=message, error_line=2, raw=raw)
    return FrontMatter({str(key): value for key, value in values.items()}, end, raw=raw)


def _find_excess(raw: str) -> str | None:
    """Say what makes a block dangerous to load. Its events are read without recursion."""
    depth = aliases = 0
    for event in yaml.parse(raw, _LOADER):
        if isinstance(event, yaml.AliasEvent):
            aliases += 1
        elif isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if aliases > _LIMIT_ALIASES:
            return "too many aliases"
        if depth > _LIMIT_DEPTH:
            return "too many levels"
    return None


def _malformed(error: yaml.YAMLError, raw: str) -> FrontMatter:
    mark = getattr(error, "problem_mark", None)
    line = 2 + (mark.line if mark is not None else 0)
    what = getattr(error, "problem", None) or "is not valid"
    return FrontMatter(error=f"front matter is kept as text: {what}", error_line=line, raw=raw)


def _looks_like_yaml(text: str) -> bool:
    return re.match(r"[A-Za-z_][\w-]*:(\s|$)", text) is not None
