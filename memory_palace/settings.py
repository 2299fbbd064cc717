"""Check ``palace.yaml``; imported only where there is one, since it needs YAML."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType
from typing import Any
from unicodedata import normalize

from memory_palace.config import (
    FOLDERS,
    LANGUAGES,
    ROOMS,
    USERS_ONLY,
    ChangeSettings,
    Config,
    PalacePaths,
)
from memory_palace.errors import ConfigError
from memory_palace.places import ARCHIVE
from memory_palace.ranking import TRUST, AnchorSettings
from memory_palace.settings_file import Lines, SettingPlace, parse_lines, read_settings, shorten
from memory_palace.settings_profiles import check_profile, parse_profiles

_LARGEST = 1 << 40
"""Of any amount: above it numbers are slips, and arithmetic fails."""
_SMALLEST = 1e-6
_LOCALE = re.compile(r"([A-Za-z]{2})(?:[-_]([A-Za-z]{2}))?")
_TYPE_NAMES: Mapping[type, str] = {
    str: "a word",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
}


def read_config(path: Path) -> Config:
    """Return the settings of a palace; a missing or empty file means the defaults.

    Whatever is wrong raises ``ConfigError`` with the line.
    """
    values, lines = read_settings(path)
    return parse_config(values, source=str(path), lines=lines)


def parse_settings(text: str, source: str) -> Config:
    """Return the settings that a text holds; ``source`` is its name, for messages."""
    values, lines = parse_lines(text, source)
    return parse_config(values, source=source, lines=lines)


def parse_anchor_settings(value: Any, where: SettingPlace) -> AnchorSettings:
    """Check the mapping ``anchors`` of a settings file."""
    if not isinstance(value, Mapping):
        raise where.wrong(f"anchors must be a mapping of settings, not {shorten(value)}")
    known = {field.name for field in fields(AnchorSettings)}
    checked: dict[str, Any] = {}
    for name, given in value.items():
        if name not in known:
            listed = ", ".join(sorted(known))
            raise where.at(name).wrong(f"unknown setting anchors.{name}; known: {listed}")
        checked[name] = _check_anchor(str(name), given, where.at(name))
    return AnchorSettings(**checked)


def parse_sources(value: Any, where: SettingPlace) -> dict[str, str]:
    """Check the mapping ``sources``: path prefixes below the root, each with its trust."""
    if not isinstance(value, Mapping):
        raise where.wrong(f"sources must map path prefixes to a trust, not {shorten(value)}")
    for prefix, trust in value.items():
        parts = str(prefix).split("/")
        if str(prefix).startswith("/") or ".." in parts or not parts[0]:
            raise where.at(prefix).wrong(f"source {shorten(prefix)} must be a path below the root")
        if not isinstance(trust, str) or trust not in TRUST:
            known, given = ", ".join(TRUST), shorten(trust)
            message = f"trust of {shorten(prefix)} must be one of {known}, not {given}"
            raise where.at(prefix).wrong(message)
    return {str(prefix): str(trust) for prefix, trust in value.items()}


def parse_languages(value: Any, where: SettingPlace) -> tuple[str, ...]:
    """Check the list ``languages``: codes of languages whose endings the search knows."""
    if not isinstance(value, list):
        raise where.wrong(f"languages must be a list such as [en, de], not {shorten(value)}")
    for code in value:
        code = "no" if code is False else code  # YAML reads Norwegian so
        if not isinstance(code, str) or code not in LANGUAGES:
            known = ", ".join(sorted(LANGUAGES))
            raise where.wrong(f"languages: {shorten(code)} is not known; known: {known}")
    return tuple(sorted({"no" if code is False else code for code in value}))


def parse_locale(value: Any, where: SettingPlace) -> str:
    """Check ``locale``: a language, or one and a region, by which dates of digits are read."""
    found = _LOCALE.fullmatch(value) if isinstance(value, str) else None
    if not found or found[1].lower() not in LANGUAGES:
        raise where.wrong(f"locale must be such as en-GB, de or zh-CN, not {shorten(value)}")
    return f"{found[1].lower()}-{found[2].upper()}" if found[2] else found[1].lower()


def parse_rooms(value: Any, where: SettingPlace) -> dict[str, str]:
    """Check the mapping ``rooms``: folders below the notes, each with the room that it is."""
    checked = {}
    for given, room in where.mapping(value, "rooms must map folders to rooms").items():
        folder = _check_folder("rooms", given, where.at(given), example=FOLDERS[ARCHIVE])
        if not isinstance(room, str) or room not in ROOMS:
            near = get_close_matches(str(room), ROOMS, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else f"; they are {', '.join(ROOMS)}"
            raise where.at(given).wrong(f"rooms: there is no room {shorten(room)}{hint}")
        checked[folder] = room
    return checked


def parse_inbox(value: Any, where: SettingPlace) -> str:
    """Check ``inbox``: the folder below the notes in which agents keep what they remember."""
    return _check_folder("inbox", value, where, example="Inbox")


def parse_changes(value: Any, where: SettingPlace) -> ChangeSettings:
    """Check ``changes``, a mapping whose one key is ``allow_uncommitted``."""
    known = isinstance(value, dict) and value.keys() <= {"allow_uncommitted"}
    if not known or not all(isinstance(each, bool) for each in value.values()):
        raise where.wrong(f"changes must be `allow_uncommitted: true`, not {shorten(value)}")
    return ChangeSettings(**value)


def parse_deciders(value: Any, where: SettingPlace) -> tuple[str, ...]:
    """Check the list ``deciders``: names of people, each on one line."""
    names = value if isinstance(value, list) else [None]
    checked = [" ".join(name.split()) for name in names if isinstance(name, str)]
    if len(checked) < len(names) or not all(any(map(str.isalpha, name)) for name in checked):
        message = "deciders must be a list of names such as [Ilse Brandt]"
        raise where.wrong(f"{message}, not {shorten(value)}")
    return tuple(dict.fromkeys(checked))


def _check_folder(setting: str, given: Any, where: SettingPlace, *, example: str) -> str:
    folder = normalize("NFC", given).strip("/") if isinstance(given, str) else ""
    parts = folder.split("/")
    if not folder or str(given).startswith("/") or {"", ".", ".."} & set(parts):
        message = f"{setting}: {shorten(given)} must be a folder inside this one, such as"
        raise where.wrong(f"{message} `{example}`")
    if any(part.startswith(".") for part in parts):
        raise where.wrong(f"{setting}: {shorten(given)} is hidden, and hidden is never read")
    return folder


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


def _check_anchor(name: str, given: Any, where: SettingPlace) -> Any:
    if name in ("deny", "allow"):
        if not isinstance(given, list) or not all(isinstance(item, str) for item in given):
            raise where.wrong(f"anchors.{name} must be a list of strings")
        return tuple(given)
    is_whole = name in ("k", "k_max", "max_chunks", "vocabulary")
    least, most = (1, _LARGEST) if is_whole else (0, 1)
    number = type(given) is int or (type(given) is float and not is_whole)
    if not number or not least <= given <= most:
        wanted = "a whole number above 0" if is_whole else "a number from 0 to 1"
        raise where.wrong(f"anchors.{name} must be {wanted}, not {shorten(given)}")
    return given if is_whole else float(given)


CHOICES: Mapping[str, tuple[str, ...]] = {
    "ignore": ("palaceignore", "git"),
    "manifest": ("append", "frozen"),
}


def parse_usage_log(value: Any, where: SettingPlace) -> str:
    """Check ``usage_log``: YAML reads a bare ``on`` and ``off`` as true and false."""
    word = {True: "on", False: "off"}.get(value) if isinstance(value, bool) else value
    if word not in ("auto", "on", "off"):
        raise where.wrong(f"usage_log must be one of auto, on, off, not {shorten(value)}")
    return str(word)


PARSERS: Mapping[str, Callable[[Any, SettingPlace], Any]] = {
    "anchors": parse_anchor_settings,
    "changes": parse_changes,
    "deciders": parse_deciders,
    "inbox": parse_inbox,
    "languages": parse_languages,
    "locale": parse_locale,
    "profiles": parse_profiles,
    "rooms": parse_rooms,
    "sources": parse_sources,
    "usage_log": parse_usage_log,
}
"""Settings that are more than one value."""


def parse_config(
    values: Mapping[Any, Any], *, source: str = "palace.yaml", lines: Lines = MappingProxyType({})
) -> Config:
    """Check a parsed settings file. Unknown keys and wrong types raise ``ConfigError``.

    ``source`` and ``lines`` say where each setting stands, for the message.
    """
    known = {f.name: f for f in fields(Config)}
    checked: dict[str, Any] = {}
    for key, value in values.items():
        where = SettingPlace(source, lines).at(key)
        if not isinstance(key, str) or key not in known:
            near = get_close_matches(str(key), known, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else f"; known: {', '.join(known)}"
            raise where.wrong(f"unknown setting {shorten(key)}{hint}")
        checked[key] = _check(key, value, where)
    if "profile" in checked:
        where = SettingPlace(source, lines).at("profile")
        check_profile(checked["profile"], checked.get("profiles", {}), where)
    return Config(**checked)


def _check(key: str, value: Any, where: SettingPlace) -> Any:
    if key in PARSERS:
        return PARSERS[key](value, where)
    default = getattr(Config(), key)
    if key == "embedder" and str(value).startswith(USERS_ONLY):
        name = shorten(value).strip("'")
        message = f"{name} is for you to choose, and not for a palace; run"
        raise where.wrong(f"{message} `palace index --force --embedder {name}`")
    if key in CHOICES and value not in CHOICES[key]:
        raise where.wrong(f"{key} must be one of {', '.join(CHOICES[key])}, not {shorten(value)}")
    expected = str if default is None else type(default)
    if expected is float and type(value) is int and abs(value) <= _LARGEST:
        value = float(value)
    if type(value) is not expected:
        wanted = _TYPE_NAMES[expected]
        raise where.wrong(f"{key} must be {wanted}, not {shorten(value)}")
    if isinstance(value, int | float) and expected is not bool:
        _check_amount(key, value, where)
    return value


def _check_amount(key: str, value: float, where: SettingPlace) -> None:
    if not value > 0:
        raise where.wrong(f"{key} must be above 0, not {shorten(value)}")
    if not _SMALLEST <= value <= _LARGEST:
        limits = f"between {_SMALLEST:g} and {_LARGEST:,}"
        raise where.wrong(f"{key} must be {limits}, not {shorten(value)}")
