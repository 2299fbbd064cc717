"""The phrases around numbers and times, from ``phrases.toml``."""

from __future__ import annotations

import re
import tomllib
from importlib.resources import files

_TABLES: dict[str, dict[str, list[str]]] = tomllib.loads(
    files("memory_palace.checking").joinpath("phrases.toml").read_text("utf-8")
)


def word_list(name: str) -> frozenset[str]:
    """Return a list of single words."""
    return frozenset(_TABLES["words"][name])


def phrase_pattern(table: str) -> str:
    """Return a pattern of the phrases of a table, one named group for each of its lists."""
    return "|".join(
        rf"(?P<{name}>{'|'.join(map(_escape, sorted(phrases, key=len, reverse=True)))})"
        for name, phrases in _TABLES[table].items()
    )


def _escape(phrase: str) -> str:
    whole = re.escape(phrase).replace(r"\ ", r"\s")
    return whole if whole.endswith(".") else rf"{whole}\b"
