"""Read and check ``palace.yaml``; imported only where there is one, since it needs YAML."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any
from unicodedata import normalize

import yaml

from memory_palace.config import (
    ARCHIVE,
    FOLDERS,
    ROOMS,
    TRUST,
    AnchorSettings,
    Config,
    PalacePaths,
)
from memory_palace.errors import ConfigError


def read_config(path: Path) -> Config:
    """Return the settings of a palace; a missing or empty file means the defaults."""
    try:
        text = path.read_text("utf-8")
    except FileNotFoundError:
        return Config()
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} cannot be read: {error}") from error
    return parse_settings(text, str(path))


def parse_settings(text: str, source: str) -> Config:
    """Return the settings that a file holds; ``source`` is its name, for messages."""
    try:
        values = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ConfigError(f"{source} cannot be read: {error}") from error
    if values is None:
        return Config()
    if not isinstance(values, dict):
        raise ConfigError(f"{source} must be a mapping of settings, not a {type(values).__name__}")
    return parse_config(values, source=source)


def parse_anchor_settings(value: Any, source: str) -> AnchorSettings:
    """Check the mapping ``anchors`` of a settings file."""
    if not isinstance(value, Mapping):
        raise ConfigError(f"{source}: anchors must be a mapping of settings, not {value!r}")
    known = {field.name for field in fields(AnchorSettings)}
    checked: dict[str, Any] = {}
    for name, given in value.items():
        if name not in known:
            raise ConfigError(
                f"{source}: unknown setting anchors.{name}; known: {', '.join(sorted(known))}"
            )
        checked[name] = _check_anchor(str(name), given, source)
    return AnchorSettings(**checked)


def parse_sources(value: Any, source: str) -> dict[str, str]:
    """Check the mapping ``sources``: path prefixes below the root, each with its trust."""
    if not isinstance(value, Mapping):
        raise ConfigError(f"{source}: sources must map path prefixes to a trust, not {value!r}")
    for prefix, trust in value.items():
        parts = str(prefix).split("/")
        if str(prefix).startswith("/") or ".." in parts or not parts[0]:
            raise ConfigError(f"{source}: source {prefix!r} must be a path below the root")
        if trust not in TRUST:
            raise ConfigError(
                f"{source}: trust of {prefix!r} must be one of {', '.join(TRUST)}, not {trust!r}"
            )
    return {str(prefix): str(trust) for prefix, trust in value.items()}


def parse_rooms(value: Any, source: str) -> dict[str, str]:
    """Check the mapping ``rooms``: folders below the notes, each with the room that it is."""
    if value is None:  # every line below is a comment
        return {}
    if not isinstance(value, Mapping):
        raise ConfigError(f"{source}: rooms must map folders to rooms, not {value!r}")
    checked = {}
    for given, room in value.items():
        folder = normalize("NFC", str(given)).strip("/") if isinstance(given, str) else ""
        parts = folder.split("/")
        if not folder or str(given).startswith("/") or {"", ".", ".."} & set(parts):
            raise ConfigError(
                f"{source}: rooms: {given!r} must be a folder inside this one, such as "
                f"`{FOLDERS[ARCHIVE]}`"
            )
        if any(part.startswith(".") for part in parts):
            raise ConfigError(f"{source}: rooms: {given!r} is hidden, and hidden is never read")
        if room not in ROOMS:
            near = get_close_matches(str(room), ROOMS, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else f"; they are {', '.join(ROOMS)}"
            raise ConfigError(f"{source}: rooms: there is no room {room!r}{hint}")
        checked[folder] = str(room)
    return checked


def map_rooms(paths: PalacePaths, mapped: Mapping[str, str]) -> PalacePaths:
    """Return the paths with the rooms that the settings name; those named come first.

    Raise ``ConfigError`` for a folder that leads out of the notes, links followed.
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


def _check_anchor(name: str, given: Any, source: str) -> Any:
    if name in ("deny", "allow"):
        if not isinstance(given, list) or not all(isinstance(item, str) for item in given):
            raise ConfigError(f"{source}: anchors.{name} must be a list of strings")
        return tuple(given)
    is_whole = name in ("k", "k_max", "max_chunks", "vocabulary")
    number = type(given) is int or (type(given) is float and not is_whole)
    if not number or given < (1 if is_whole else 0) or (not is_whole and given > 1):
        wanted = "a whole number above 0" if is_whole else "a number from 0 to 1"
        raise ConfigError(f"{source}: anchors.{name} must be {wanted}, not {given!r}")
    return given if is_whole else float(given)


CHOICES: Mapping[str, tuple[str, ...]] = {
    "ignore": ("palaceignore", "git"),
    "manifest": ("append", "frozen"),
}

PARSERS: Mapping[str, Callable[[Any, str], Any]] = {
    "anchors": parse_anchor_settings,
    "rooms": parse_rooms,
    "sources": parse_sources,
}
"""Settings that have settings of their own."""


def parse_config(values: Mapping[str, Any], *, source: str = "palace.yaml") -> Config:
    """Check a parsed settings file. Unknown keys and wrong types raise ``ConfigError``."""
    known = {f.name: f for f in fields(Config)}
    checked: dict[str, Any] = {}
    for key, value in values.items():
        if key not in known:
            near = get_close_matches(str(key), known, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else f"; known: {', '.join(known)}"
            raise ConfigError(f"{source}: unknown setting {key!r}{hint}")
        checked[key] = _check(key, value, source)
    return Config(**checked)


def _check(key: str, value: Any, source: str) -> Any:
    if key in PARSERS:
        return PARSERS[key](value, source)
    default = getattr(Config(), key)
    if key == "embedder" and str(value).startswith("llm:"):
        raise ConfigError(
            f"{source}: {value} may send notes to another machine, which a palace cannot choose; "
            f"run `palace index --force --embedder {value}`"
        )
    if key in CHOICES and value not in CHOICES[key]:
        raise ConfigError(f"{source}: {key} must be one of {', '.join(CHOICES[key])}")
    expected = str if default is None else type(default)
    if expected is float and type(value) is int:
        value = float(value)
    if type(value) is not expected:
        raise ConfigError(f"{source}: {key} must be {expected.__name__}, not {value!r}")
    if isinstance(value, int | float) and expected is not bool and value <= 0:
        raise ConfigError(f"{source}: {key} must be above 0, not {value!r}")
    return value
