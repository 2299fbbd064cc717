"""Tell which program an export is of, by what is in it."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from memory_palace.importing.formats.export_files import READ_ERRORS, ExportFile, open_export
from memory_palace.importing.formats.fields import mapping_of
from memory_palace.importing.items import ReadReport

_HEAD_BYTES = 1 << 18
_MOST_FILES = 200
"""Files looked into; in a vault of thousands the first two hundred tell."""
_KEYS = (
    ("claude", re.compile(rb'"(?:chat_messages|conversations_memory|prompt_template)"\s*:')),
    ("chatgpt", re.compile(rb'"(?:mapping|linear_conversation)"\s*:\s*[\[{]')),
    ("memory-json", re.compile(rb'"entityType"\s*:|"relationType"\s*:')),
)
_CODEX = frozenset(("session_meta", "response_item", "event_msg", "turn_context"))
_PERMALINK = re.compile(rb"\A---[ \t]*\r?\n(?:.*\r?\n){0,40}?permalink\s*:")
_WIKILINK = re.compile(rb"\[\[[^\[\]\n]+\]\]")
_MARKDOWN = (".md", ".markdown")


def detect(path: Path) -> str | None:
    """Return the name of the format of an export; ``None`` where it cannot be told.

    A file, an archive or a folder. Raise ``OSError`` where there is nothing that can be read.
    """
    votes: Counter[str] = Counter()
    with open_export(path, ReadReport()) as files:
        for file in _pick(files):
            if name := _identify(file):
                votes[name] += 1
        if (path / ".obsidian").is_dir() and "basic-memory" not in votes:
            return "obsidian"
        if _is_workspace(files):
            votes["openclaw"] += 1
    for name in ("mempalace", "claude", "chatgpt", "codex", "claude-code", "openclaw"):
        if votes[name]:
            return name
    return votes.most_common(1)[0][0] if votes else None


def describe(path: Path) -> str:
    """Return what was seen in an export whose format could not be told."""
    with open_export(path, ReadReport()) as files:
        kinds = Counter(file.path.suffix.lower() or "no suffix" for file in files)
        if path.is_file() and len(files) == 1 and (head := _read_head(files[0])):
            shown = head[:40].decode("utf-8", "backslashreplace")
            return f"a file of {files[0].size} bytes that begins with {shown!r}"
    if not kinds:
        return "no files"
    listed = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common(4))
    return f"{sum(kinds.values())} files ({listed}), none of a known shape"


def _pick(files: list[ExportFile]) -> list[ExportFile]:
    """Return the files worth looking into: what is no note first, then the first notes."""
    notes = [file for file in files if file.path.suffix.lower() in _MARKDOWN]
    others = [
        file for file in files if file.path.suffix.lower() in (".json", ".jsonl", ".sqlite3", "")
    ]
    if len(files) == 1 and not notes:
        others = files
    return others[:_MOST_FILES] + notes[:_MOST_FILES]


def _identify(file: ExportFile) -> str | None:
    head = _read_head(file)
    if file.path.suffix.lower() in _MARKDOWN:
        if _PERMALINK.match(head):
            return "basic-memory"
        return "obsidian" if _WIKILINK.search(head) else None
    if head.startswith(b"SQLite format 3\0"):
        return "mempalace" if b"embedding_metadata" in head else None
    for entry in _read_lines(head):
        if name := _identify_line(entry):
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


def _read_lines(head: bytes) -> Iterator[dict[str, Any]]:
    """Give the whole lines at the head of a file that are JSON objects."""
    for line in head.split(b"\n")[:50]:
        with suppress(ValueError, RecursionError):
            entry = json.loads(line.decode("utf-8-sig", "replace"))
            if isinstance(entry, dict):
                yield entry


def _is_workspace(files: list[ExportFile]) -> bool:
    """Whether this is an agent's workspace of OpenClaw: its memory beside its instructions."""
    names = {file.path.name for file in files if len(file.path.parts) <= 2}
    return "MEMORY.md" in names and bool(names & {"SOUL.md", "IDENTITY.md", "HEARTBEAT.md"})


def _read_head(file: ExportFile) -> bytes:
    try:
        with file.open() as stream:
            return stream.read(_HEAD_BYTES)
    except READ_ERRORS:
        return b""
