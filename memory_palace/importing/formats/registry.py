"""The formats that can be imported, and the reader of each."""

from __future__ import annotations

from importlib import import_module
from typing import cast

from memory_palace.errors import UsageError
from memory_palace.importing.items import ExportReader

FORMATS = {
    "claude": "claude",
    "chatgpt": "chatgpt",
    "claude-code": "claude_code",
    "codex": "codex",
    "openclaw": "openclaw",
    "basic-memory": "basic_memory",
    "mempalace": "mempalace",
    "obsidian": "obsidian",
    "memory-json": "memory_json",
}
"""The module of this package that has the format's `read`."""


def find_reader(name: str) -> ExportReader:
    """Return the reader of a format; raise ``UsageError`` for a name that is none."""
    if name not in FORMATS:
        raise UsageError(f"there is no format {name!r}; there are {', '.join(FORMATS)}")
    module = import_module(f"memory_palace.importing.formats.{FORMATS[name]}")
    return cast(ExportReader, module.read)
