"""The value that a verb returns, and the one way in which a value is shown: lines or JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from dataclasses import field, fields, is_dataclass
from datetime import UTC, date, datetime
from enum import Enum
from pathlib import PurePath
from typing import Any, ClassVar, Final, Literal

from memory_palace.language.visible import escape_hidden, visible

SCHEMA = 2
"""Number of the JSON contract in references/schemas; later versions add keys and rename none."""
ANSWERS = 3
"""The same for ``palace query``, whose hits have fewer keys since 3, and for ``palace verify``,
where each sentence has a verdict since 3."""

answers = 0
"""How many JSON values this process has printed: after one, an error is no JSON."""

_NAMES = {
    "identity": "id",
    "first_line": "line",
    "heading_path": "headings",
    "layout_remarks": "remarks",
    "memory_id": "path",
    "old": "from",
    "new": "to",
}
"""Fields whose JSON key is another word. A leading ``is_`` is dropped."""


class Absence(Enum):
    """The value of a field that the JSON object does not have."""

    ABSENT = "absent"


ABSENT: Final = Absence.ABSENT
Absent = Literal[Absence.ABSENT]


def inner(**given: Any) -> Any:
    """Return a dataclass field that is no key of the JSON object."""
    return field(metadata={"inner": True}, **given)


SPREAD: Final = {"spread": True}
"""Metadata of a dataclass field whose own keys stand in the JSON object, in its place."""


def key_of(name: str) -> str:
    """Return the JSON key of a field: ``is_cold`` becomes ``cold``; ``identity`` is ``id``."""
    return _NAMES.get(name, name.removeprefix("is_"))


def to_record(value: Any) -> Any:
    """Return a value as JSON has it: dataclasses become objects, floats have six decimals."""
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
    """What a verb returns: a frozen dataclass whose fields are the keys of its JSON object.

    The methods say how it is shown to people; MCP takes the lines too.
    """

    schema: ClassVar[int] = SCHEMA

    def lines(self) -> Iterable[str]:
        """Return the lines on stdout."""
        return ()

    def remarks(self, *, as_json: bool) -> Iterable[str]:
        """Return the remarks about the data, for stderr."""
        return ()

    def failure(self) -> Exception | None:
        """Return the error that is raised when the value has been shown."""
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
    """Return a value as one line of JSON without spaces; what a terminal would obey is escaped."""
    return escape_hidden(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def show_date(timestamp: float) -> str:
    """Return the day of a moment, UTC."""
    return datetime.fromtimestamp(timestamp, UTC).date().isoformat()


def say_behind(count: int) -> str:
    """Return the remark that notes differ from the index, and what to run."""
    verb = "differs" if count == 1 else "differ"
    return f"{plural(count, 'note')} {verb} from the index; run `palace index`"


def plural(count: int, noun: str) -> str:
    """Return a count with its noun: ``1 note``, ``3 notes``."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
