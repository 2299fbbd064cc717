"""OpenClaw's transcripts and memory: a state folder, a workspace, or files of them.

Shape: openclaw/openclaw, `docs/reference/session-management-compaction.md` and
`docs/concepts/memory.md` (2026): `agents/AGENT/sessions/SESSION.jsonl`, a head ``{type: session,
version: 3, id, timestamp, cwd}`` and a tree of entries ``{type: message|custom|compaction|…, id,
parentId, timestamp, message{role, content[{type: text|thinking|toolCall|image}]}}``; in the
workspace `MEMORY.md`, `USER.md` and `memory/*.md`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from memory_palace.importing.formats.export_files import ExportFile, open_export
from memory_palace.importing.formats.fields import (
    count_unknown,
    list_of,
    mapping_of,
    moment_of,
    text_of,
)
from memory_palace.importing.formats.markdown_files import SUFFIXES, read_notes
from memory_palace.importing.formats.sessions import Session, leave_out_injected, read_sessions
from memory_palace.importing.formats.splitting import read_lines
from memory_palace.importing.items import Item, ReadReport, Turn

_TRANSCRIPT = re.compile(r"\A.*\.jsonl(?:\.reset\..*)?")
_MEMORY = ("memory.md", "user.md")
_METADATA = re.compile(
    r"\A\s*[^\n]{0,80}\(untrusted[^\n)]*\):\s*(?:```(?:json)?\n.*?\n```|\{.*?\n\})\s*", re.DOTALL
)
_MOST_METADATA = 8
_ENVELOPE = re.compile(r"\A\[[^\]\n]{0,200}\d{4}-\d\d-\d\d[ T]\d\d:\d\d[^\]\n]{0,40}\] ?")
_MESSAGE_ID = re.compile(r"\n?^\[message_id: [^\]\n]*\][ \t]*$", re.MULTILINE)
_NOT_SAID = re.compile(
    r"(?:HEARTBEAT_OK|NO_REPLY|ANNOUNCE_SKIP|Read HEARTBEAT\.md if it exists.*"
    r"|A new session was started via /(?:new|reset).*|Pre-compaction memory flush.*)",
    re.DOTALL,
)
_DROPPED = {
    "thinking": "thinking",
    "toolCall": "tool",
    "toolUse": "tool",
    "tool_use": "tool",
    "toolResult": "tool",
    "tool_result": "tool",
    "image": "attachment",
    "file": "attachment",
}


def read(path: Path, report: ReadReport) -> Iterator[Item]:
    """Give each session by its last branch, and the notes of the agent's memory."""
    with open_export(path, report) as files:
        sessions = [file for file in files if _TRANSCRIPT.fullmatch(file.path.name)]
        yield from read_sessions(sessions, report, _read_turns)
        yield from read_notes((file for file in files if _is_memory(file, report)), report)


def _is_memory(file: ExportFile, report: ReadReport) -> bool:
    is_memory = file.path.name.lower() in _MEMORY or "memory" in file.path.parts[:-1]
    if not is_memory and file.path.suffix.lower() in SUFFIXES:
        report.dropped["configuration"] += 1
    return is_memory


def _read_turns(file: ExportFile, session: Session, report: ReadReport) -> Iterator[Turn]:
    branch = _find_branch(file)
    for _, entry in read_lines(file, report):
        kind = text_of(entry.get("type"))
        message = mapping_of(entry.get("message"))
        if kind == "session":
            session.source_id = session.source_id or text_of(entry.get("id"))
            session.started = session.started or moment_of(entry.get("timestamp"))
        elif kind == "session_info":
            session.title = text_of(entry.get("name")) or session.title
        elif kind != "message":
            report.dropped["system"] += 1
        elif branch and entry.get("id") not in branch:
            report.dropped["branch"] += 1
        elif message.get("role") not in ("user", "assistant"):
            is_tool = message.get("role") in ("toolResult", "tool", "bashExecution")
            report.dropped["tool" if is_tool else "system"] += 1
        elif text := _read_content(message.get("content"), report):
            at = moment_of(entry.get("timestamp")) or moment_of(message.get("timestamp"))
            yield Turn(text_of(message["role"]), text, at)


def _find_branch(file: ExportFile) -> set[str]:
    """Return the entries from the root to the last; none where a parent is missing: keep all."""
    parents: dict[str, Any] = {}
    last: Any = None
    for _, entry in read_lines(file, ReadReport()):
        if isinstance(entry.get("id"), str) and entry.get("type") != "session":
            last = entry["id"]
            parents[last] = entry.get("parentId")
    branch: set[str] = set()
    while isinstance(last, str) and last:
        if last in branch or last not in parents:
            return set()
        branch.add(last)
        last = parents[last]
    return branch


def _read_content(content: Any, report: ReadReport) -> str:
    parts = []
    for block in [content] if isinstance(content, str) else list_of(content):
        fields: Mapping[str, Any]
        fields = {"type": "text", "text": block} if isinstance(block, str) else mapping_of(block)
        kind = fields.get("type")
        if kind == "text":
            parts.append(_read_text(text_of(fields.get("text")), report))
        elif isinstance(kind, str) and kind in _DROPPED:
            report.dropped[_DROPPED[kind]] += 1
        else:
            count_unknown(report, kind)
    return "\n\n".join(part for part in parts if part)


def _read_text(text: str, report: ReadReport) -> str:
    """Leave out what the gateway wrote around a message: who, where, when, and its own prompts."""
    for _ in range(_MOST_METADATA):
        text, count = _METADATA.subn("", text)
        report.dropped["system"] += count
    text = _MESSAGE_ID.sub("", _ENVELOPE.sub("", text))
    if _NOT_SAID.fullmatch(text.strip()):
        report.dropped["system"] += 1
        return ""
    return leave_out_injected(text, report)
