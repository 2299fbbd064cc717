"""Check what an agent gives a tool, in words that let it mend the call at once."""

from __future__ import annotations

import re
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any, TypeAlias

from memory_palace.errors import UsageError

Properties: TypeAlias = Mapping[str, Mapping[str, Any]]
"""JSON Schema of each argument: ``type``, and perhaps ``enum``, ``minimum`` and ``maximum``."""

MOST_CHARACTERS = 100_000
"""Of one text: a long answer or a long note has less."""
_SHOWN = 40
_TOOL_WORDS = (
    (r"`palace list` prints every note", "The tool search finds notes by their words"),
    (r"see `palace task list`", "action 'list' of the tool tasks names all"),
    (r"`palace task tick .+? N --apply` ticks", "action 'tick' of the tool tasks ticks"),
    (r", or wait longer with --wait SECONDS", ""),
    (r"commit first, or write `[^`]+` into palace.yaml", "ask the person to commit them first"),
    (r"run the command again", "call the tool again"),
    (r"--(under|reason)( [A-Z]+)?", r"'\1'"),
    (r"\brun `", "ask the person to run `"),
    (r"(?<!run )(`palace [^`]+`) (?=[a-z])", r"\1, run by the person, "),
)
"""What messages for the command line say, and what an agent is told instead."""


def check_arguments(
    given: Mapping[str, Any], known: Properties, required: tuple[str, ...]
) -> dict[str, Any]:
    """Return the arguments as the types the schema asks for, ``null`` left out.

    A number in quotes is a number and a text alone is a list of one: models write both. Raise
    ``UsageError`` for what is unknown, missing, of another type, or out of bounds.
    """
    for name in given.keys() - known.keys():
        near = get_close_matches(name, known, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"it takes {', '.join(known)}"
        raise UsageError(f"there is no argument {name[:_SHOWN]!r}; {hint}")
    checked = {
        name: _check(name, value, known[name]) for name, value in given.items() if value is not None
    }
    if missing := [name for name in required if checked.get(name, "") in ("", [])]:
        raise UsageError(f"give {' and '.join(map(repr, missing))}")
    return checked


def speak_of_tools(message: str) -> str:
    """Return a message with tools for commands; what no tool does, the person is to be asked."""
    for pattern, words in _TOOL_WORDS:
        message = re.sub(pattern, words, message)
    return message


def _check(name: str, value: Any, schema: Mapping[str, Any]) -> Any:
    match schema["type"]:
        case "string":
            return _check_text(name, value, schema)
        case "array":
            values = value if isinstance(value, list) else [value]
            return [_check_text(name, text, schema["items"]) for text in values]
        case "integer":
            return _check_number(name, value, schema)
    if not isinstance(value, bool):
        raise UsageError(f"{name!r} must be true or false, not {_show(value)}")
    return value


def _check_text(name: str, value: Any, schema: Mapping[str, Any]) -> str:
    if not isinstance(value, str):
        raise UsageError(f"{name!r} must be text, not {_show(value)}")
    if len(value) > MOST_CHARACTERS:
        raise UsageError(
            f"{name!r} has {len(value):,} characters, and {MOST_CHARACTERS:,} at most are taken"
        )
    choices = schema.get("enum", [value])
    if value not in choices:
        near = get_close_matches(value.casefold()[:_SHOWN], choices, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise UsageError(f"{name!r} is one of {', '.join(choices)}, not {_show(value)}{hint}")
    return value


def _check_number(name: str, value: Any, schema: Mapping[str, Any]) -> int:
    low, high = schema["minimum"], schema["maximum"]
    text = value.strip() if isinstance(value, str) else ""
    if text.isascii() and text.isdecimal() and len(text) < 10:
        value = int(text)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if type(value) is not int or not low <= value <= high:
        raise UsageError(f"{name!r} must be a number from {low} to {high}, not {_show(value)}")
    return value


def _show(value: Any) -> str:
    """Return a value short enough for a message."""
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    text = repr(value) if isinstance(value, str) else str(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
