"""Read a settings file so that every mistake in it can be named with its line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import yaml

from memory_palace.errors import ConfigError

Lines: TypeAlias = Mapping[tuple[str, ...], int]
"""On which line each setting stands, by the names that lead to it."""

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_MOST_BYTES = 256 * 1024
_MOST_LEVELS = 10
_MOST_SHOWN = 60
_VALUE_ERRORS = (ValueError, ArithmeticError, LookupError, TypeError, AttributeError)
"""What PyYAML's constructors raise on values such as ``!!int ""`` or the 99th of a month."""


@dataclass(frozen=True, slots=True)
class SettingPlace:
    """Where a setting stands, for messages."""

    source: str
    lines: Lines
    names: tuple[str, ...] = ()

    def at(self, name: object) -> SettingPlace:
        """Return the place of a setting in this one."""
        return SettingPlace(self.source, self.lines, (*self.names, str(name)))

    def wrong(self, why: str) -> ConfigError:
        """Return the error that names the line, or else the file."""
        line = self.lines.get(self.names) or self.lines.get(self.names[:-1])
        return ConfigError(f"{self.source}:{line}: {why}" if line else f"{self.source}: {why}")

    def mapping(self, value: Any, why: str) -> Mapping[Any, Any]:
        """Return a mapping, empty where every line below its name is a comment.

        Raise ``ConfigError`` that says ``why`` for anything else.
        """
        if value is not None and not isinstance(value, Mapping):
            raise self.wrong(f"{why}, not {shorten(value)}")
        return value or {}


def read_settings(path: Path) -> tuple[dict[Any, Any], Lines]:
    """Return the mapping that a file holds, and its lines; a missing or empty file is empty.

    Raise ``ConfigError`` with the line for what is not UTF-8, not YAML, or not a mapping.
    """
    data = _read_bytes(path)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = 1 + data.count(b"\n", 0, error.start)
        raise ConfigError(f"{path}:{line}: it is not UTF-8; save it as UTF-8") from error
    return parse_lines(text, str(path))


def parse_lines(text: str, source: str) -> tuple[dict[Any, Any], Lines]:
    """Return the mapping that a text holds, and its lines; ``source`` is its name, for messages."""
    reader = _YamlReader(source)
    try:
        values = reader.read(text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = 1 + (mark.line if mark is not None else 0)
        raise ConfigError(f"{source}:{line}: it is not valid YAML: {error.problem}") from error
    except yaml.reader.ReaderError as error:
        line = 1 + text.count("\n", 0, error.position)
        raise ConfigError(f"{source}:{line}: it holds a character that YAML forbids") from error
    return values, reader.lines


def _read_bytes(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
    except FileNotFoundError:
        return b""
    except OSError as error:
        why = error.strerror or str(error)
        raise ConfigError(f"{path} cannot be read ({why}); make it a readable file") from error
    if len(data) > _MOST_BYTES:
        raise ConfigError(f"{path} has more than {_MOST_BYTES:,} bytes; settings are short")
    return data


class _YamlReader:
    """Reads mappings, lists and values, and remembers on which line each key stands."""

    def __init__(self, source: str) -> None:
        self.lines: dict[tuple[str, ...], int] = {}
        self._source = source

    def read(self, text: str) -> dict[Any, Any]:
        """Return what the text holds. Anything but one mapping raises ``ConfigError``."""
        self._check_events(text)
        loader = _LOADER(text)
        try:
            node = loader.get_single_node()
            if node is None:
                return {}
            if not isinstance(node, yaml.MappingNode):
                raise self._wrong(node, f"it must be a mapping of settings, not a {node.id}")
            values: dict[Any, Any] = self._read_node(loader, node, ())
            return values
        finally:
            loader.dispose()

    def _check_events(self, text: str) -> None:
        """Refuse what would take long to read: it is seen before anything is built of it."""
        depth = 0
        for event in yaml.parse(text, _LOADER):
            depth += isinstance(event, yaml.CollectionStartEvent)
            depth -= isinstance(event, yaml.CollectionEndEvent)
            if isinstance(event, yaml.AliasEvent):
                raise self._wrong(event, "aliases (*name) are not used here; write the value out")
            if depth > _MOST_LEVELS:
                raise self._wrong(event, "it is nested too deeply")

    def _read_node(self, loader: Any, node: Any, keys: tuple[str, ...]) -> Any:
        if isinstance(node, yaml.SequenceNode):
            return [self._read_node(loader, item, keys) for item in node.value]
        if isinstance(node, yaml.MappingNode):
            return self._read_mapping(loader, node, keys)
        try:
            return loader.construct_object(node)
        except _VALUE_ERRORS as error:
            raise self._wrong(node, f"{shorten(node.value)} is not a value: {error}") from error

    def _read_mapping(self, loader: Any, node: Any, keys: tuple[str, ...]) -> dict[Any, Any]:
        values: dict[Any, Any] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                raise self._wrong(key_node, "the name of a setting must be a word")
            key = self._read_node(loader, key_node, keys)
            place = (*keys, str(key))
            if place in self.lines:
                first = self.lines[place]
                raise self._wrong(key_node, f"{shorten(key)} is set again (first on line {first})")
            self.lines[place] = key_node.start_mark.line + 1
            values[key] = self._read_node(loader, value_node, place)
        return values

    def _wrong(self, node: Any, why: str) -> ConfigError:
        return ConfigError(f"{self._source}:{node.start_mark.line + 1}: {why}")


def shorten(value: object) -> str:
    """Return a value as it is shown in a message, on one line."""
    try:
        text = repr(value)
    except ValueError:  # a whole number of more than 4,300 digits
        text = "this number"
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}…"
