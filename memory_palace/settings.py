"""Read and validate ``palace.yaml``; imported only if there is one, since it needs YAML."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any
from unicodedata import normalize

import yaml

from memory_palace.config import (
    FOLDERS,
    LANGUAGES,
    ROOMS,
    TRUST,
    USERS_ONLY,
    AnchorSettings,
    ChangeSettings,
    Config,
    PalacePaths,
)
from memory_palace.errors import ConfigError, did_you_mean
from memory_palace.places import ARCHIVE
from memory_palace.signals import SHIPPED, extensions, find_profile
from memory_palace.system import read_file

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_MOST_BYTES = 256 * 1024
_MOST_LEVELS = 10
_MOST_SHOWN = 60
_VALUE_ERRORS = (ValueError, ArithmeticError, LookupError, TypeError, AttributeError)
"""Errors of PyYAML's constructors for values such as ``!!int ""`` or the 99th of a month."""
_LARGEST = 1 << 40
"""Maximum of every number: larger ones are typing errors, and overflow."""
_SMALLEST = 1e-6
_LOCALE = re.compile(r"([A-Za-z]{2})(?:[-_]([A-Za-z]{2}))?")
_TYPE_NAMES = {str: "a word", bool: "true or false"}


class _Wrong(Exception):  # noqa: N818 - it says what the value is
    """An invalid value; ``line`` 0 stands for the line of its setting."""

    def __init__(self, why: str, line: int = 0) -> None:
        super().__init__(why)
        self.line = line


def read_config(path: Path) -> Config:
    """Return the settings of a palace; a missing or empty file means the defaults.

    Raise ``ConfigError``, with the line, if the file is unreadable or invalid.
    """
    try:
        data = read_file(path, _MOST_BYTES + 1)
    except FileNotFoundError:
        return Config()
    except OSError as error:
        why = error.strerror or str(error)
        raise ConfigError(f"{path} cannot be read ({why}); make it a readable file") from error
    if len(data) > _MOST_BYTES:
        raise ConfigError(f"{path} has more than {_MOST_BYTES:,} bytes; settings are short")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = 1 + data.count(b"\n", 0, error.start)
        raise ConfigError(f"{path}:{line}: it is not UTF-8; save it as UTF-8") from error
    return parse_settings(text, str(path))


def parse_settings(text: str, source: str) -> Config:
    """Parse settings from YAML text; ``source`` names it in messages."""
    try:
        values, lines = _read_yaml(text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = 1 + (mark.line if mark is not None else 0)
        raise ConfigError(f"{source}:{line}: it is not valid YAML: {error.problem}") from error
    except yaml.reader.ReaderError as error:
        line = 1 + text.count("\n", 0, error.position)
        raise ConfigError(f"{source}:{line}: it holds a character that YAML forbids") from error
    except _Wrong as wrong:
        raise ConfigError(f"{source}:{wrong.line}: {wrong}") from None
    return parse_config(values, source=source, lines=lines)


def _read_yaml(text: str) -> tuple[dict[Any, Any], dict[Any, int]]:
    """Return the mapping in a YAML text, and the 1-based line of each of its keys.

    Aliases and deep nesting are rejected before any value is constructed.
    """
    depth = 0
    for event in yaml.parse(text, _LOADER):
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if isinstance(event, yaml.AliasEvent):
            raise _Wrong("aliases (*name) are not used here; write the value out", _line(event))
        if depth > _MOST_LEVELS:
            raise _Wrong("it is nested too deeply", _line(event))
    loader, values, lines = _LOADER(text), dict[Any, Any](), dict[Any, int]()
    node = loader.get_single_node()
    if node is not None and not isinstance(node, yaml.MappingNode):
        raise _Wrong(f"it must be a mapping of settings, not a {node.id}", _line(node))
    _check_node(loader, node)
    for name, value in node.value if node is not None else ():
        key = loader.construct_object(name)
        values[key], lines[key] = loader.construct_object(value, deep=True), _line(name)
    return values, lines


def _check_node(loader: Any, node: Any) -> None:
    """Raise ``_Wrong`` for an invalid value, a key that is not a scalar, and a duplicate key."""
    if isinstance(node, yaml.ScalarNode):
        try:
            loader.construct_object(node)
        except _VALUE_ERRORS as error:
            raise _Wrong(f"{_shorten(node.value)} is not a value: {error}", _line(node)) from error
    first: dict[str, int] = {}
    for name, value in node.value if isinstance(node, yaml.MappingNode) else ():
        if not isinstance(name, yaml.ScalarNode):
            raise _Wrong("the name of a setting must be a word", _line(name))
        if name.value in first:
            again = f"{_shorten(name.value)} is set again (first on line {first[name.value]})"
            raise _Wrong(again, _line(name))
        first[name.value] = _line(name)
        _check_node(loader, name)
        _check_node(loader, value)
    for value in node.value if isinstance(node, yaml.SequenceNode) else ():
        _check_node(loader, value)


def _line(node: Any) -> int:
    line: int = node.start_mark.line + 1
    return line


def parse_config(
    values: Mapping[Any, Any],
    *,
    source: str = "palace.yaml",
    lines: Mapping[Any, int] = MappingProxyType({}),
) -> Config:
    """Validate parsed settings; raise ``ConfigError`` for unknown keys and invalid values.

    ``source`` and ``lines``, which maps keys to lines, locate a setting in the message.
    """
    known = {field.name for field in fields(Config)}
    checked: dict[str, Any] = {}
    for key, value in values.items():
        try:
            if not isinstance(key, str) or key not in known:
                raise _Wrong(f"unknown setting {_shorten(key)}{_hint(key, sorted(known))}")
            checked[key] = _check(key, value)
        except _Wrong as wrong:
            place = f"{source}:{lines[key]}" if key in lines else source
            raise ConfigError(f"{place}: {wrong}") from None
    return Config(**checked)


def map_rooms(paths: PalacePaths, mapped: Mapping[str, str]) -> PalacePaths:
    """Return the paths with the rooms of the settings before the default ones.

    Raise ``ConfigError`` for a folder that a symbolic link leads out of the notes.
    """
    home = os.path.realpath(paths.notes)
    for folder in mapped:
        real = os.path.realpath(paths.notes / folder)
        if not real.startswith(home.rstrip(os.sep) + os.sep):
            where = paths.shown(paths.settings)
            raise ConfigError(f"{where}: rooms: {folder!r} is a link that leads out of the notes")
    rooms = {paths.prefix + folder: room for folder, room in mapped.items()}
    rooms |= {folder: room for folder, room in paths.rooms.folders.items() if folder not in rooms}
    return replace(paths, rooms=replace(paths.rooms, folders=rooms))


def _check(key: str, value: Any) -> Any:
    if key in PARSERS:
        return PARSERS[key](value)
    if key in CHOICES:
        word = ("off", "on")[value] if isinstance(value, bool) else value  # as YAML reads them
        if word not in CHOICES[key]:
            raise _Wrong(f"{key} must be one of {', '.join(CHOICES[key])}, not {_shorten(value)}")
        return word
    if key == "embedder" and str(value).startswith(USERS_ONLY):
        name = _shorten(value).strip("'")
        message = f"{name} is for you to choose, and not for a palace; run"
        raise _Wrong(f"{message} `palace index --force --embedder {name}`")
    default = getattr(Config(), key)
    expected = str if default is None else type(default)
    if expected in (int, float):
        limits = f"above 0, {_LARGEST:,} at most"
        return _check_number(key, value, expected is int, _SMALLEST, _LARGEST, limits)
    if type(value) is not expected:
        raise _Wrong(f"{key} must be {_TYPE_NAMES[expected]}, not {_shorten(value)}")
    return value


def _check_number(
    name: str, value: Any, is_whole: bool, least: float, most: float, limits: str
) -> Any:
    """Return a number in its bounds; an integer is converted where any number is allowed."""
    is_number = type(value) is int or (type(value) is float and not is_whole)
    if not is_number or not least <= value <= most:
        wanted = "a whole number" if is_whole else "a number"
        raise _Wrong(f"{name} must be {wanted} {limits}, not {_shorten(value)}")
    return value if is_whole else float(value)


def _parse_anchors(value: Any) -> AnchorSettings:
    known = sorted(field.name for field in fields(AnchorSettings))
    checked: dict[str, Any] = {}
    for name, given in _mapping(value, "anchors must be a mapping of settings").items():
        if name not in known:
            raise _Wrong(f"unknown setting anchors.{name}; known: {', '.join(known)}")
        checked[name] = _check_anchor(name, given)
    return AnchorSettings(**checked)


def _check_anchor(name: str, given: Any) -> Any:
    if name in ("deny", "allow"):
        if not isinstance(given, list) or not all(isinstance(item, str) for item in given):
            raise _Wrong(f"anchors.{name} must be a list of strings")
        return tuple(given)
    if name in ("k", "k_max", "max_chunks", "vocabulary"):
        return _check_number(f"anchors.{name}", given, True, 1, _LARGEST, "above 0")
    return _check_number(f"anchors.{name}", given, False, 0, 1, "from 0 to 1")


def _parse_changes(value: Any) -> ChangeSettings:
    known = isinstance(value, dict) and value.keys() <= {"allow_uncommitted"}
    if not known or not all(isinstance(each, bool) for each in value.values()):
        raise _Wrong(f"changes must be `allow_uncommitted: true`, not {_shorten(value)}")
    return ChangeSettings(**value)


def _parse_deciders(value: Any) -> tuple[str, ...]:
    """Return the names of people, white space normalized, without duplicates."""
    names = value if isinstance(value, list) else [None]
    checked = [" ".join(name.split()) for name in names if isinstance(name, str)]
    if len(checked) < len(names) or not all(any(map(str.isalpha, name)) for name in checked):
        message = "deciders must be a list of names such as [Ilse Brandt]"
        raise _Wrong(f"{message}, not {_shorten(value)}")
    return tuple(dict.fromkeys(checked))


def _parse_languages(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise _Wrong(f"languages must be a list such as [en, de], not {_shorten(value)}")
    codes = ["no" if code is False else code for code in value]  # YAML 1.1 reads `no` as false
    for code in codes:
        if not isinstance(code, str) or code not in LANGUAGES:
            known = ", ".join(sorted(LANGUAGES))
            raise _Wrong(f"languages: {_shorten(code)} is not known; known: {known}")
    return tuple(sorted(set(codes)))


def _parse_locale(value: Any) -> str:
    """Return a normalized locale such as ``de`` or ``en-GB``, by which numeric dates are read."""
    found = _LOCALE.fullmatch(value) if isinstance(value, str) else None
    if not found or found[1].lower() not in LANGUAGES:
        raise _Wrong(f"locale must be such as en-GB, de or zh-CN, not {_shorten(value)}")
    return f"{found[1].lower()}-{found[2].upper()}" if found[2] else found[1].lower()


def _parse_profile(value: Any) -> str:
    if not isinstance(value, str):
        raise _Wrong(f"profile must be a word, not {_shorten(value)}")
    if value not in SHIPPED and find_profile(value) is None:
        known = (*SHIPPED, *(name for each in extensions() for name in each.profiles))
        raise _Wrong(f"there is no profile {_shorten(value)}{_hint(value, known)}")
    return value


def _parse_rooms(value: Any) -> dict[str, str]:
    checked = {}
    for given, room in _mapping(value, "rooms must map folders to rooms").items():
        folder = _check_folder("rooms", given, example=FOLDERS[ARCHIVE])
        if not isinstance(room, str) or room not in ROOMS:
            raise _Wrong(f"rooms: there is no room {_shorten(room)}{_hint(room, ROOMS)}")
        checked[folder] = room
    return checked


def _check_folder(setting: str, given: Any, *, example: str = "Inbox") -> str:
    """Return a normalized folder below the notes; raise ``_Wrong`` for a hidden or outside one."""
    folder = normalize("NFC", given).strip("/") if isinstance(given, str) else ""
    parts = folder.split("/")
    if not folder or str(given).startswith("/") or {"", ".", ".."} & set(parts):
        message = f"{setting}: {_shorten(given)} must be a folder inside this one, such as"
        raise _Wrong(f"{message} `{example}`")
    if any(part.startswith(".") for part in parts):
        raise _Wrong(f"{setting}: {_shorten(given)} is hidden, and hidden is never read")
    return folder


def _parse_sources(value: Any) -> dict[str, str]:
    sources = _mapping(value, "sources must map path prefixes to a trust")
    for prefix, trust in sources.items():
        parts = str(prefix).split("/")
        if str(prefix).startswith("/") or ".." in parts or not parts[0]:
            raise _Wrong(f"source {_shorten(prefix)} must be a path below the root")
        if not isinstance(trust, str) or trust not in TRUST:
            given = f"{', '.join(TRUST)}, not {_shorten(trust)}"
            raise _Wrong(f"trust of {_shorten(prefix)} must be one of {given}")
    return {str(prefix): trust for prefix, trust in sources.items()}


CHOICES: Mapping[str, tuple[str, ...]] = {
    "ignore": ("palaceignore", "git"),
    "manifest": ("append", "frozen"),
    "usage_log": ("auto", "on", "off"),
}
PARSERS: Mapping[str, Callable[[Any], Any]] = {
    "anchors": _parse_anchors,
    "changes": _parse_changes,
    "deciders": _parse_deciders,
    "inbox": lambda value: _check_folder("inbox", value),
    "languages": _parse_languages,
    "locale": _parse_locale,
    "profile": _parse_profile,
    "rooms": _parse_rooms,
    "sources": _parse_sources,
}
"""Parsers of the settings that are not a single value of a type."""


def _mapping(value: Any, why: str) -> Mapping[Any, Any]:
    """Return a mapping; ``None``, from a key with only comments below it, becomes empty."""
    if value is not None and not isinstance(value, Mapping):
        raise _Wrong(f"{why}, not {_shorten(value)}")
    return value or {}


def _hint(name: object, known: Iterable[str]) -> str:
    return did_you_mean(str(name), known := [*known], f"; known: {', '.join(known)}")


def _shorten(value: object) -> str:
    try:
        text = repr(value)
    except ValueError:  # a whole number of more than 4,300 digits
        text = "this number"
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}…"
