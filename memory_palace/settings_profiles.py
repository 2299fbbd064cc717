"""Check the profiles of a settings file: which signals count, how much, and what caps them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import fields
from difflib import get_close_matches
from typing import Any

from memory_palace.ranking import SHIPPED, SIGNALS, ProfileSettings
from memory_palace.settings_file import SettingPlace, shorten
from memory_palace.signals import extensions, find_profile, find_signal

_NAME = re.compile(r"[^\W_][\w-]{0,39}")
_LEAST, _MOST = 1e-6, 10_000.0
"""Weights are shown with six decimals; above the most one signal would be all there is."""
_KNOWN = [field.name for field in fields(ProfileSettings)]


def parse_profiles(value: Any, where: SettingPlace) -> dict[str, ProfileSettings]:
    """Check the mapping ``profiles``: names, each with weights by signal and what else it says."""
    checked = {}
    for name, given in where.mapping(value, "profiles must map names to profiles").items():
        place = where.at(name)
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            message = "is no name for a profile; use letters, digits, - and _"
            raise place.wrong(f"profiles: {shorten(name)} {message}")
        if name in SHIPPED:
            message = f"the profile {name} ships with palace; choose another name, and"
            raise place.wrong(f"profiles: {message} `extends: {name}`")
        checked[name] = _parse_profile(name, given, place)
    return checked


def check_profile(name: str, own: Collection[str], where: SettingPlace) -> None:
    """Raise ``ConfigError`` unless a profile of that name ships or is in the settings."""
    if name not in own and name not in SHIPPED and find_profile(name) is None:
        others = (profile for each in extensions() for profile in each.profiles)
        known = (*own, *SHIPPED, *others)
        raise where.wrong(f"there is no profile {shorten(name)}{_hint(name, known)}")


def _parse_profile(name: str, value: Any, where: SettingPlace) -> ProfileSettings:
    if not isinstance(value, Mapping):
        message = f"the profile {name} must be a mapping such as {{extends: hybrid}}"
        raise where.wrong(f"{message}, not {shorten(value)}")
    checked: dict[str, Any] = {}
    for key, given in value.items():
        place = where.at(key)
        if key not in _KNOWN:
            message = f"unknown setting {shorten(key)} of the profile {name}"
            raise place.wrong(f"{message}{_hint(key, _KNOWN)}")
        checked[key] = _parse_part(key, given, place)
    profile = ProfileSettings(**checked)
    _check_whole(name, profile, where)
    return profile


def _parse_part(key: str, value: Any, where: SettingPlace) -> Any:
    if key == "weights":
        return dict(_parse_weights(value, where))
    if key in ("gated", "capped"):
        return _parse_signals(key, value, where)
    if key == "extends":
        check_profile(value if isinstance(value, str) else str(value), (), where)
    elif key == "preserve_rank" and not isinstance(value, bool):
        raise where.wrong(f"preserve_rank must be true or false, not {shorten(value)}")
    elif key == "cap" and not _is_amount(value):
        message = f"a number above 0, {_MOST:,.0f} at most"
        raise where.wrong(f"cap must be {message}, not {shorten(value)}")
    return value


def _parse_weights(value: Any, where: SettingPlace) -> Iterator[tuple[str, float]]:
    if not isinstance(value, Mapping):
        message = "weights must map signals to numbers, such as {lexical: 1.0}"
        raise where.wrong(f"{message}, not {shorten(value)}")
    for signal, weight in value.items():
        place = where.at(signal)
        _check_signal(signal, place)
        if not _is_amount(weight) and (isinstance(weight, bool) or weight != 0):
            message = f"a number from 0 to {_MOST:,.0f}"
            raise place.wrong(f"the weight of {signal} must be {message}, not {shorten(weight)}")
        yield signal, float(weight)


def _parse_signals(key: str, value: Any, where: SettingPlace) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise where.wrong(f"{key} must be a list of signals, not {shorten(value)}")
    for signal in value:
        _check_signal(signal, where)
    return tuple(dict.fromkeys(value))


def _check_signal(signal: Any, where: SettingPlace) -> None:
    if isinstance(signal, str) and (signal in SIGNALS or find_signal(signal)):
        return
    known = (*SIGNALS, *(name for each in extensions() for name in each.signals))
    raise where.wrong(f"there is no signal {shorten(signal)}{_hint(signal, known)}")


def _check_whole(name: str, profile: ProfileSettings, where: SettingPlace) -> None:
    """Raise ``ConfigError`` for parts that say nothing together."""
    if profile.extends is None and not any(profile.weights.values()):
        message = f"the profile {name} has no weight above 0"
        raise where.wrong(f"{message}; give it weights, or `extends: hybrid`")
    if profile.capped and profile.cap is None:
        raise where.at("capped").wrong(f"the profile {name} says what is capped; add `cap: 0.25`")
    if profile.extends is not None:
        return
    for key, signals in (("gated", profile.gated), ("capped", profile.capped)):
        for signal in signals or ():
            if not profile.weights.get(signal):
                message = f"{key}: the profile {name} gives {signal} no weight"
                raise where.at(key).wrong(message)


def _is_amount(value: Any) -> bool:
    return type(value) in (int, float) and _LEAST <= value <= _MOST


def _hint(name: object, known: Collection[str]) -> str:
    near = get_close_matches(str(name), known, n=1)
    return f"; did you mean {near[0]!r}?" if near else f"; known: {', '.join(known)}"
