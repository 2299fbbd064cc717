"""The block at the head of a note: YAML is read and edited line by line; TOML, JSON are read."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

from memory_palace.errors import PalaceError
from memory_palace.notes.reading import decode_note, decode_stored

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_OPEN = re.compile(r"\A(?:(?:---|\+\+\+)[ \t]*\n|(?=\{\s*\"))")
_CLOSES = {
    "-": re.compile(r"^(?:---|\.\.\.)[ \t]*$", re.MULTILINE),
    "+": re.compile(r"^\+\+\+[ \t]*$", re.MULTILINE),
    "{": re.compile(r"(?:\A\{.*|^)\}[ \t]*$", re.MULTILINE),
}
"""The end of a block of YAML, TOML or JSON, by the first character of the text."""
_OF_A_PAGE = {"title", "date"}
"""JSON with neither of them is text: a page of Hugo has one."""
_LIMIT_CHARACTERS = 64 * 1024
_LIMIT_ALIASES = 10
"""Aliases allowed in a block: nine aliases of nine aliases make a YAML bomb."""
_LIMIT_DEPTH = 50
"""Nesting allowed in a block: the C loader recurses, and some thousand levels end the process."""
_LOADING_ERRORS = (ValueError, ArithmeticError, LookupError, TypeError, AttributeError)
"""Errors that PyYAML's constructors raise on values such as ``!!int ""`` or the 99th of a month."""
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_FORMAT: Mapping[str, Any] = {"allow_unicode": True, "width": 1 << 20, "sort_keys": False}
_TOP_KEY = re.compile(r"\A[^\s#\-][^\n]*?:(\s|$)")
_PARAGRAPH_END = re.compile(r"\n[ \t]*(?:\n|\Z)")


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """A parsed block, or the reason why it could not be parsed."""

    values: Mapping[str, Any] = field(default_factory=dict)
    end: int = 0
    """Where the body starts in the text; 0 where there is no block."""
    error: str | None = None
    """The reason why a block is kept as text."""
    error_line: int | None = None
    raw: str = ""
    """The block as written, also where it could not be parsed."""


def split_front_matter(text: str) -> FrontMatter:
    """Parse the leading block of a text whose lines end in line feeds.

    It is YAML between lines of ``---`` or, as Hugo has them too, TOML between ``+++`` or JSON.
    A block that is malformed, no mapping, too long or full of aliases stays in the body.
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
            return FrontMatter()  # two rules with prose between them
        return _as_text(raw, "is longer than 64 kB")
    matter = _parse(raw, end=min(closing.end() + 1, len(text)), is_toml=text[0] == "+")
    return FrontMatter(raw=raw) if is_json and not _OF_A_PAGE & matter.values.keys() else matter


def write_front_matter(values: Mapping[str, object]) -> str:
    """Return a block for a new note, a list on one line; fields that are ``None`` are left out."""
    return f"---\n{''.join(_dump(key, value) for key, value in values.items())}---\n"


def set_fields(path: str, data: bytes, values: Mapping[str, object]) -> bytes:
    """Change fields of the front matter; ``None`` drops one. Every other byte stays.

    Raise ``PalaceError`` for a note that is not UTF-8, or whose front matter cannot be read.
    """
    text = decode_stored(path, data)
    end = "\r\n" if "\r\n" in text else "\n"
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    clean = decode_note(data, path)[0]
    matter = split_front_matter(clean)
    if matter.error:
        raise PalaceError(f"{path}:{matter.error_line}: {matter.error}; correct it first")
    if matter.end and clean[0] != "-":
        raise PalaceError(f"{path}: its front matter is no YAML; change it by hand")
    if not matter.end:
        block = write_front_matter(values).replace("\n", end)
        return f"{mark}{block}".encode() + data[len(mark.encode()) :]
    lines = matter.raw.split("\n")[:-1]
    first, *rest = text.split("\n")
    rest = rest[len(lines) :]
    for key, value in values.items():
        lines = _set_field(lines, key, value)
    new = f"{first}\n{''.join(f'{line}{end}' for line in lines)}" + "\n".join(rest)
    _check_fields(path, matter.values, new, values)
    return new.encode()


def _unclosed(text: str, start: int) -> FrontMatter:
    """Take a rule above prose for a rule; what it opens may still say that it is private."""
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
        excess = _find_excess(raw)
        if excess:
            return _as_text(raw, f"has {excess}")
        values = yaml.load(raw, _LOADER)
        str(values)  # raises ValueError for a number of thousands of digits
    except yaml.YAMLError as error:
        return _malformed(error, raw)
    except (*_LOADING_ERRORS, RecursionError) as error:
        return _as_text(raw, f"has an invalid value and is kept as text: {error}")
    if values is None:
        values = {}
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


def _malformed(error: yaml.YAMLError, raw: str) -> FrontMatter:
    mark = getattr(error, "problem_mark", None)
    line = 2 + (mark.line if mark is not None else 0)
    what = getattr(error, "problem", None) or "it cannot be parsed"
    return _as_text(raw, f"is not valid YAML and is kept as text: {what}", line=line)


def _as_text(raw: str, why: str, *, line: int = 1) -> FrontMatter:
    """Return a block that stays in the body."""
    return FrontMatter(error=f"front matter {why}", error_line=line, raw=raw)


def _looks_like_yaml(text: str) -> bool:
    return re.match(r"[A-Za-z_][\w-]*:(\s|$)", text) is not None


def _check_fields(
    path: str, before: Mapping[str, Any], text: str, values: Mapping[str, object]
) -> None:
    """Prove that the fields that were meant have changed, and no others."""
    after = split_front_matter(decode_note(text.encode(), path)[0]).values
    kept = {key: value for key, value in before.items() if key not in values}
    wanted = {key for key, value in values.items() if value is not None}
    if {key: value for key, value in after.items() if key not in values} != kept or (
        wanted != after.keys() & values.keys()
    ):
        raise PalaceError(f"{path}: its front matter is too unusual to edit; change it by hand")


def _set_field(lines: list[str], key: str, value: object) -> list[str]:
    start = next((i for i, line in enumerate(lines) if _key_of(line) == key), None)
    new = _dump(key, value).split("\n")[:-1]
    if start is None:
        return [*lines, *new]
    stop = start + 1
    while stop < len(lines) and not _TOP_KEY.match(lines[stop]) and lines[stop][:1] != "#":
        stop += 1
    return [*lines[:start], *new, *lines[stop:]]


def _key_of(line: str) -> str:
    return line.partition(":")[0].strip("\"' ") if _TOP_KEY.match(line) else ""


def _dump(key: str, value: object) -> str:
    """Return one field as YAML, a list on one line; nothing for ``None``."""
    if value is None:
        return ""
    if isinstance(value, str) and _DATE.fullmatch(value):
        return f"{key}: {value}\n"  # quoted, it would no longer be a date to others
    if isinstance(value, list | tuple):
        items = yaml.safe_dump(list(value), default_flow_style=True, **_FORMAT)
        return f"{key}: {items}"
    text: str = yaml.safe_dump({key: value}, default_flow_style=False, **_FORMAT)
    return text
