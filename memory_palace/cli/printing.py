"""Words go to stderr, data to stdout; text from notes is made visible first."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from typing import Any

from memory_palace.language.visible import visible


def say(text: str) -> None:
    """Print words about the data."""
    print(visible(text), file=sys.stderr)


def print_json(value: Any) -> None:
    """Print one JSON value on one line."""
    print(json.dumps(value, ensure_ascii=False))


def show_date(timestamp: float) -> str:
    """Return the day of a moment, UTC."""
    return datetime.fromtimestamp(timestamp, UTC).date().isoformat()
