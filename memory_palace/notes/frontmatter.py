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
_REFERENCE = re.compile(r"(?:^|[\s\[{,:-])[&*][A-Za-z0-9_]")
_LIMIT_REFERENCES = 10
"""Anchors and aliases allowed in a block: nine aliases of nine aliases make a YAML bomb."""


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
    closing = _CLOSE.search(text, opening.end(), opening.end() + _LIMIT_CHARACTERS)
    if closing is None:
        if not _looks_like_yaml(text[opening.end() :]):
            return FrontMatter()  # a thematic break, not an unclosed block
        return FrontMatter(error="front matter is not closed by ---", error_line=1)
    raw = text[opening.end() : closing.start()]
    return _parse(raw, end=min(closing.end() + 1, len(text)))


def _parse(raw: str, *, end: int) -> FrontMatter:
    if len(_REFERENCE.findall(raw)) > _LIMIT_REFERENCES:
        return FrontMatter(error="front matter has too many aliases", error_line=1, raw=raw)
    try:
        values = yaml.load(raw, _LOADER)
    except yaml.YAMLError as error:
        return _malformed(error, raw)
    except (ValueError, RecursionError) as error:
        message = f"front matter cannot be read: {type(error).__name__}"
        return FrontMatter(error=message, error_line=1, raw=raw)
    if values is None:
        values = {}
    if not isinstance(values, dict):
        message = f"front matter is a {type(values).__name__}, not a mapping"
        return FrontMatter(error=message, error_line=2, raw=raw)
    return FrontMatter({str(key): value for key, value in values.items()}, end, raw=raw)


def _malformed(error: yaml.YAMLError, raw: str) -> FrontMatter:
    mark = getattr(error, "problem_mark", None)
    line = 2 + (mark.line if mark is not None else 0)
    what = getattr(error, "problem", None) or "is not valid"
    return FrontMatter(error=f"front matter is kept as text: {what}", error_line=line, raw=raw)


def _looks_like_yaml(text: str) -> bool:
    return re.match(r"[A-Za-z_][\w-]*:(\s|$)", text) is not None
