"""Splice one entry into the text of a JSON or TOML file, and out of it: no other byte changes.

Comments and trailing commas of JSON are replaced by blanks of the same length, so that the places
found in what is left are places in the text.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Any

_STRING = r'"(?:[^"\\\n]|\\.)*"'
_COMMENT = re.compile(rf"{_STRING}|//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_TRAILING = re.compile(rf"{_STRING}|,(?=\s*[}}\]])")
_SPACE = re.compile(r"\s*")
_LINE_COMMENT = re.compile(r"(?<![ \t])[ \t]*+//[^\r\n]*")


class BrokenTextError(ValueError):
    """A text that is not of its format, or has something else where the entry belongs."""

    @property
    def line(self) -> int:
        """The line that the message names, else the first."""
        found = re.search(r"line (\d+)", str(self))
        return int(found[1]) if found else 1


@dataclass(frozen=True, slots=True)
class Edit:
    """One place of a text, what goes there, and what comes."""

    at: int
    before: str
    after: str

    def apply(self, text: str) -> str:
        return text[: self.at] + self.after + text[self.at + len(self.before) :]


def parse(text: str, kind: str) -> dict[str, Any]:
    """Parse a text of ``kind`` json, jsonc (with comments and trailing commas) or toml.

    Raise ``BrokenTextError`` if it is no object. An empty text is an empty object.
    """
    try:
        if kind == "toml":
            return tomllib.loads(text.removeprefix("\ufeff"))
        plain = _blank(text, kind)
        data = json.loads(plain) if plain.strip() else {}
    except (ValueError, RecursionError) as error:
        raise BrokenTextError(str(error)) from error
    if not isinstance(data, dict):
        raise BrokenTextError("it is no object")
    return data


def find_entry(data: Mapping[str, Any], keys: Sequence[str]) -> object:
    """Return the value at a path of keys, or ``None``; raise ``BrokenTextError`` if none can be."""
    for key in keys[:-1]:
        data = data.get(key, {})
        if not isinstance(data, dict):
            raise BrokenTextError(f"{key!r} is no object")
    return data.get(keys[-1])


def place_entry(text: str, kind: str, keys: Sequence[str], entry: Mapping[str, object]) -> Edit:
    """Return the edit that adds an entry: first in its object, or as the last table of TOML."""
    if kind == "toml":
        rows = [f"{key} = {json.dumps(one, ensure_ascii=False)}\n" for key, one in entry.items()]
        lead = "" if not text.strip("\ufeff") else "\n" if text.endswith("\n") else "\n\n"
        at, added = len(text), f"{lead}[{'.'.join(keys)}]\n{''.join(rows)}"
    else:
        at, added = _place_in_json(text, keys, entry)
    edit = Edit(at, "", added.replace("\n", "\r\n") if "\r\n" in text else added)
    if not _is_only(edit, text, kind, keys, entry):
        raise BrokenTextError(f"there is no place for {'.'.join(keys)!r} in it")
    return edit


def cut_entry(text: str, kind: str, keys: Sequence[str], added: str) -> Edit | None:
    """Return the edit that takes an entry out: all that was ``added``, if that is still there.

    Else, in JSON, the entry with one comma and the blanks before it. ``None`` if nothing can be cut
    without a byte of somebody else.
    """
    spans = [(text.index(added), text.index(added) + len(added))] if text.count(added) == 1 else []
    if kind != "toml":
        spans += _span_in_json(text, kind, keys)
    for start, end in spans:
        edit = Edit(start, text[start:end], "")
        if _is_only(edit, text, kind, keys, None):
            return edit
    return None


def _is_only(edit: Edit, text: str, kind: str, keys: Sequence[str], entry: object) -> bool:
    """Whether an edit changes nothing but this entry."""
    try:
        old, new = parse(text, kind), parse(edit.apply(text), kind)
    except BrokenTextError:
        return False
    return find_entry(new, keys) == entry and _rest(old, keys) == _rest(new, keys)


def _rest(data: Mapping[str, Any], keys: Sequence[str]) -> dict[str, Any]:
    """Return a copy without the entry and the objects that would be empty without it."""
    rest = dict(data)
    below = rest.pop(keys[0], None)
    if len(keys) > 1 and isinstance(below, dict) and (kept := _rest(below, keys[1:])):
        rest[keys[0]] = kept
    return rest


def _blank(text: str, kind: str) -> str:
    """Return JSON of the same length without byte order mark, comments and trailing commas."""

    def erase(found: re.Match[str]) -> str:
        is_open = found[0].startswith("/*") and not found[0].endswith("*/", 2)
        is_kept = (found[0][0] == '"' or is_open) or (
            found[0] == "," and found.string[: found.start()].rstrip()[-1:] in ("[", "{", ",", "")
        )
        return found[0] if is_kept else re.sub(r"[^\r\n]", " ", found[0])

    text = re.sub("^\ufeff", " ", text)
    return text if kind == "json" else _TRAILING.sub(erase, _COMMENT.sub(erase, text))


def _members(plain: str, start: int) -> Iterator[tuple[str, int, int, int]]:
    """Yield key, its place, and begin and end of the value for each member of an object."""
    decoder = json.JSONDecoder()
    at = _skip(plain, start + 1)
    while plain[at] != "}":
        key, end = scanstring(plain, at + 1)
        begin = _skip(plain, _skip(plain, end) + 1)
        end = decoder.raw_decode(plain, begin)[1]
        yield key, at, begin, end
        at = _skip(plain, end)
        at = _skip(plain, at + 1) if plain[at] == "," else at


def _skip(plain: str, at: int) -> int:
    found = _SPACE.match(plain, at)
    return found.end() if found else at


def _descend(plain: str, keys: Sequence[str]) -> tuple[int, Sequence[str]]:
    """Return the innermost object there is on a path of keys, and the keys that are missing."""
    start = _skip(plain, 0)
    for depth, key in enumerate(keys[:-1]):
        found = [begin for name, _, begin, _ in _members(plain, start) if name == key]
        if not found:
            return start, keys[depth:]
        start = found[-1]
    return start, keys[-1:]


def _indent(text: str, at: int) -> str:
    """Return the blanks that begin the line of a place."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _place_in_json(text: str, keys: Sequence[str], entry: object) -> tuple[int, str]:
    plain = _blank(text, "jsonc")
    if not plain.strip():
        lead = "" if not text or text.endswith(("\n", "\ufeff")) else "\n"
        return len(text), f"{lead}{json.dumps(_nest(keys, entry), ensure_ascii=False, indent=2)}\n"
    start, missing = _descend(plain, keys)
    key, value = json.dumps(missing[0]), _nest(missing[1:], entry)
    root = next(_members(plain, _skip(plain, 0)), ("", 0))
    first = next(_members(plain, start), None)
    if first and "\n" not in plain[start : first[1]]:
        return start + 1, f" {key}: {json.dumps(value, ensure_ascii=False)},"
    step = _indent(text, root[1]) or "  "
    around = _indent(text, start)
    inner = _indent(text, first[1]) if first else around + step
    body = json.dumps(value, ensure_ascii=False, indent=step).replace("\n", f"\n{inner}")
    comment = _LINE_COMMENT.match(text, start + 1)
    at = comment.end() if comment else start + 1
    is_open = "\n" in plain[at : _skip(plain, at)]
    return at, f"\n{inner}{key}: {body}{',' if first else '' if is_open else chr(10) + around}"


def _nest(keys: Sequence[str], value: object) -> object:
    return {keys[0]: _nest(keys[1:], value)} if keys else value


def _span_in_json(text: str, kind: str, keys: Sequence[str]) -> list[tuple[int, int]]:
    """Return the range of a member with one comma; nothing if a comment is in the way."""
    plain = _blank(text, kind)
    start, _ = _descend(plain, keys)
    at, end = [(at, end) for key, at, _, end in _members(plain, start) if key == keys[-1]][-1]
    if plain[at:end] != text[at:end]:
        return []
    begin = len(text[:at].rstrip())
    comma = _skip(text, end)
    if text[comma] == ",":
        return [(begin, comma + 1)]
    if text[begin - 1] == ",":
        return [(begin - 1, end)]
    return [] if plain[:at].rstrip().endswith(",") else [(begin, end)]
