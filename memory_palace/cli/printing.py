"""What the terminal sees: data on stdout, remarks on stderr, JSON with a schema number.

Text from notes is made visible first; what a terminal would obey never reaches it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from datetime import UTC, date, datetime
from enum import Enum
from typing import Any

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
    "trials": "reviews",
    "old": "from",
    "new": "to",
}
"""Fields whose JSON key is another word. A leading ``is_`` is dropped."""


def say(text: str) -> None:
    """Print a remark about the data on stderr."""
    print(visible(text), file=sys.stderr)


def print_answer(
    record: Mapping[str, Any],
    lines: Iterable[str] = (),
    *,
    as_json: bool,
    flush: bool = False,
    schema: int = SCHEMA,
) -> None:
    """Print a record as one JSON object with the schema number, or else the lines."""
    if as_json:
        print_json({"schema": schema, **record})
        return
    for line in lines:
        print(visible(line), flush=flush)


def print_json(value: Any) -> None:
    """Print one JSON value on one line."""
    global answers
    text = to_json(value)
    answers += 1
    print(text)


def to_json(value: Any) -> str:
    """Return a value as one line of JSON without spaces; what a terminal would obey is escaped."""
    return escape_hidden(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def to_record(value: Any) -> Any:
    """Return a value as JSON has it: dataclasses become objects, floats have six decimals.

    ``is_cold`` becomes ``cold``; the few fields with another name are in a table above.
    """
    if is_dataclass(value):
        names = [field.name for field in fields(value)]
        return {
            _NAMES.get(name, name.removeprefix("is_")): to_record(getattr(value, name))
            for name in names
        }
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, float):
        return round(value, 6)
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {str(key): to_record(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [to_record(entry) for entry in value]
    return value


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
