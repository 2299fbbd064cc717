"""Base class of the values that verbs return, and their output as lines or JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from dataclasses import field, fields, is_dataclass
from datetime import UTC, date, datetime
from enum import Enum
from pathlib import Path, PurePath
from typing import Any, ClassVar, Final, Literal

from memory_palace.language.visible import escape_hidden, visible

SCHEMA = 2
"""Version of the JSON schemas in references/schemas; later ones add keys and rename none."""
ANSWERS = 3
"""Schema version of ``palace query`` (since 3 hits have fewer keys) and ``palace verify`` (since 3
each sentence has a verdict)."""

answers = 0
"""Number of JSON values printed by this process; after the first, an error is not JSON."""

_NAMES = {
    "identity": "id",
    "first_line": "line",
    "heading_path": "headings",
    "layout_remarks": "remarks",
    "memory_id": "path",
    "old": "from",
    "new": "to",
}
"""JSON keys of renamed fields. A leading ``is_`` is dropped from all others."""


class Absence(Enum):
    """Value of a field that is left out of the JSON object."""

    ABSENT = "absent"


ABSENT: Final = Absence.ABSENT
Absent = Literal[Absence.ABSENT]


def inner(**given: Any) -> Any:
    """Return a dataclass field that is left out of the JSON object."""
    return field(metadata={"inner": True}, **given)


SPREAD: Final = {"spread": True}
"""Metadata of a dataclass field whose keys are merged into the surrounding JSON object."""


def key_of(name: str) -> str:
    """Return the JSON key of a field: ``is_cold`` becomes ``cold``; ``identity`` is ``id``."""
    return _NAMES.get(name, name.removeprefix("is_"))


def to_record(value: Any) -> Any:
    """Convert a value to JSON types: dataclasses to objects, floats rounded to six decimals."""
    if is_dataclass(value):
        shown: dict[str, Any] = {}
        for each in fields(value):
            one = getattr(value, each.name)
            if each.metadata.get("spread"):
                shown |= to_record(one)
            elif one is not ABSENT and not each.metadata.get("inner"):
                shown[key_of(each.name)] = to_record(one)
        return shown
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, float):
        return round(value, 6)
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, PurePath):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): to_record(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [to_record(entry) for entry in value]
    return value


class Shown:
    """Base class of verbs' results: a frozen dataclass whose fields are the keys of its JSON.

    The methods return the output for people; MCP sends the lines too.
    """

    schema: ClassVar[int] = SCHEMA

    def lines(self) -> Iterable[str]:
        """Return the lines on stdout."""
        return ()

    def remarks(self, *, as_json: bool) -> Iterable[str]:
        """Return the remarks about the data, for stderr."""
        return ()

    def failure(self) -> Exception | None:
        """Return the error to raise after the value is shown, or ``None``."""
        return None

    def show(self, *, as_json: bool) -> None:
        """Print the value, then the remarks; raise its failure, if it has one."""
        if as_json:
            print_json({"schema": self.schema, **to_record(self)})
        else:
            for line in self.lines():
                print(visible(line))
        for remark in self.remarks(as_json=as_json):
            say(remark)
        if failure := self.failure():
            raise failure


def say(text: str) -> None:
    """Print a remark about the data on stderr."""
    print(visible(text), file=sys.stderr)


def print_json(value: Any) -> None:
    """Print one JSON value on one line."""
    global answers
    text = to_json(value)
    answers += 1
    print(text)


def to_json(value: Any) -> str:
    """Return a value as one line of JSON without spaces, control characters escaped."""
    return escape_hidden(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def show_date(timestamp: float) -> str:
    """Return the day of a timestamp, UTC."""
    return datetime.fromtimestamp(timestamp, UTC).date().isoformat()


def open_path(file: Path) -> str:
    """Return the path of a file, relative to the working folder if below it."""
    here = Path.cwd()
    return str(file.relative_to(here) if file.is_relative_to(here) else file)


def say_behind(count: int) -> str:
    """Return the remark that notes differ from the index, with the command to run."""
    verb = "differs" if count == 1 else "differ"
    return f"{plural(count, 'note')} {verb} from the index; run `palace index`"


def plural(count: int, noun: str) -> str:
    """Return a count with its noun: ``1 note``, ``3 notes``."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
