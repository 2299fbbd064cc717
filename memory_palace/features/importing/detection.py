"""The formats that can be imported, the reader of each, and which of them an export is of."""

from __future__ import annotations

import json
import re
from collections import Counter
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any, cast

from memory_palace.errors import UsageError
from memory_palace.features.importing.formats.fields import mapping_of
from memory_palace.features.importing.formats.files import (
    READ_ERRORS,
    SUFFIXES,
    ExportFile,
    open_export,
)
from memory_palace.features.importing.items import ExportReader, ReadReport

FORMATS = {
    "claude": "claude.read",
    "chatgpt": "chatgpt.read",
    "claude-code": "transcripts.read_claude_code",
    "codex": "transcripts.read_codex",
    "openclaw": "transcripts.read_openclaw",
    "memory-json": "memory_json.read",
}
"""The module and function that read each format; what tells most stands first."""

_HEAD_BYTES = 1 << 18
_MOST_FILES = 200
"""Files looked into."""
_KEYS = (
    ("claude", re.compile(rb'"(?:chat_messages|conversations_memory|prompt_template)"\s*:')),
    ("chatgpt", re.compile(rb'"(?:mapping|linear_conversation)"\s*:\s*[\[{]')),
    ("memory-json", re.compile(rb'"entityType"\s*:|"relationType"\s*:')),
)
_CODEX = frozenset(("session_meta", "response_item", "event_msg", "turn_context"))


def find_reader(name: str) -> ExportReader:
    """Return the reader of a format; raise ``UsageError`` for a name that is none."""
    if name not in FORMATS:
        raise UsageError(f"there is no format {name!r}; there are {', '.join(FORMATS)}")
    module, _, function = FORMATS[name].partition(".")
    found = import_module(f"memory_palace.features.importing.formats.{module}")
    return cast(ExportReader, getattr(found, function))


def detect(path: Path) -> str | None:
    """Return the name of the format of an export; ``None`` where it cannot be told.

    A file, an archive or a folder. Raise ``OSError`` where there is nothing that can be read.
    """
    with open_export(path, ReadReport()) as files:
        notes = [file for file in files if file.path.suffix.lower() in SUFFIXES]
        others = [f for f in files if f.path.suffix.lower() in (".json", ".jsonl", "")]
        others = files if len(files) == 1 and not notes else others
        votes = Counter(map(_identify, others[:_MOST_FILES]))
        names = {file.path.name for file in files if len(file.path.parts) <= 2}
        if "MEMORY.md" in names and names & {"SOUL.md", "IDENTITY.md", "HEARTBEAT.md"}:
            votes["openclaw"] += 1
    for name in ("claude", "chatgpt", "codex", "claude-code", "openclaw"):
        if votes[name]:
            return name
    votes.pop(None, None)
    return votes.most_common(1)[0][0] if votes else None


def _identify(file: ExportFile) -> str | None:
    try:
        with file.open() as stream:
            head = stream.read(_HEAD_BYTES)
    except READ_ERRORS:
        return None
    for line in head.split(b"\n")[:50]:
        with suppress(ValueError, RecursionError):
            entry = json.loads(line.decode("utf-8-sig", "replace"))
            if isinstance(entry, dict) and (name := _identify_line(entry)):
                return name
    found = [(match.start(), name) for name, key in _KEYS if (match := key.search(head))]
    return min(found)[1] if found else None


def _identify_line(entry: dict[str, Any]) -> str | None:
    kind = entry.get("type")
    if kind in ("entity", "relation"):
        return "memory-json"
    if (kind == "session" and "version" in entry) or (kind == "message" and "message" in entry):
        return "openclaw"
    if kind in _CODEX and isinstance(entry.get("payload"), dict):
        return "codex"
    if "record_type" in entry or {"id", "timestamp", "instructions"} <= set(entry):
        return "codex"
    is_said = kind in ("user", "assistant") and "role" in mapping_of(entry.get("message"))
    return "claude-code" if is_said or "leafUuid" in entry else None
