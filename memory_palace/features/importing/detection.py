"""The formats that can be imported, the reader of each, and which of them an export is of."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from memory_palace.features.importing.formats import chatgpt, claude, memory_json, transcripts
from memory_palace.features.importing.formats.files import READ_ERRORS, ExportFile, open_export
from memory_palace.features.importing.items import ExportReader

FORMATS: Mapping[str, ExportReader] = {
    "claude": claude.read,
    "chatgpt": chatgpt.read,
    "claude-code": transcripts.read_claude_code,
    "codex": transcripts.read_codex,
    "openclaw": transcripts.read_openclaw,
    "memory-json": memory_json.read,
}
"""Where files of an export are of several formats it is of the first."""
_HEAD_BYTES = 1 << 18
_MOST_FILES = 200
"""Files looked into."""
_KEYS = {
    "claude": rb'"(?:chat_messages|conversations_memory|prompt_template)"\s*:',
    "chatgpt": rb'"mapping"\s*:\s*\{',
    "claude-code": rb'"(?:leafUuid|parentUuid|isSidechain)"\s*:',
    "codex": rb'"type"\s*:\s*"(?:session_meta|response_item|event_msg|turn_context)"',
    "openclaw": rb'"type"\s*:\s*"session"\s*,\s*"version"\s*:|"parentId"\s*:',
    "memory-json": rb'"(?:entityType|relationType)"\s*:',
}
"""What only files of one format have, as bytes: quotes in what was said are escaped."""
_ANY_KEY = re.compile(b"|".join(b"(%b)" % key for key in _KEYS.values()))


def detect(path: Path) -> str | None:
    """Return the name of the format of an export; ``None`` where it cannot be told.

    Raise ``OSError`` where there is nothing that can be read.
    """
    with open_export(path) as files:
        told = [file for file in files if file.suffix in (".json", ".jsonl")]
        found = set(map(_identify, told[:_MOST_FILES]))
    return next((name for name in FORMATS if name in found), None)


def _identify(file: ExportFile) -> str | None:
    """Return the format whose key comes first in the head of a file."""
    try:
        with file.open() as stream:
            key = _ANY_KEY.search(stream.read(_HEAD_BYTES))
    except READ_ERRORS:
        return None
    return [*_KEYS][(key.lastindex or 1) - 1] if key else None
