"""Codex' transcripts: `~/.codex/sessions/YYYY/MM/DD/rollout-*.jsonl`.

Shape: openai/codex, `codex-rs/protocol/src/protocol.rs` and `models.rs` of 2026: a line
``{timestamp, type: session_meta|response_item|event_msg|turn_context|compacted, payload}``. What
was said stands in it twice, as ``event_msg`` (``user_message``, ``agent_message``) and as
``response_item`` (``message`` with ``role`` and ``content``). Older: items without an envelope
(2025), and one JSON object ``{session, items}`` (early 2025).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from memory_palace.importing.formats.export_files import ExportFile, open_export
from memory_palace.importing.formats.fields import (
    count_unknown,
    digest,
    list_of,
    mapping_of,
    moment_of,
    text_of,
)
from memory_palace.importing.formats.sessions import Session, leave_out_injected, read_sessions
from memory_palace.importing.formats.splitting import read_lines, read_objects
from memory_palace.importing.items import Conversation, ReadReport, Turn

_OTHER = ("history.jsonl", "session_index.jsonl")
_SPEAKERS = {"user_message": "user", "agent_message": "assistant"}
_DROPPED = re.compile(
    r"\A(?:(reasoning|agent_reasoning)|(.*call.*|.*tool.*|exec_.*|patch_.*|web_.*))"
)
_ATTACHED = ("input_image", "input_file", "input_audio", "output_image")
_INSTRUCTIONS = re.compile(
    r"# AGENTS\.md instructions\b[^\n]*\s*(?:<INSTRUCTIONS>.*?(?:</INSTRUCTIONS>|\Z))?", re.DOTALL
)
_IMAGE = re.compile(r"</?image\b[^>\n]*>")
_OF_EDITOR = re.compile(r"\A# Context from my IDE setup:.*?## My request for Codex:\s*", re.DOTALL)


def read(path: Path, report: ReadReport) -> Iterator[Conversation]:
    """Give each session with what user and assistant wrote, once."""
    with open_export(path, report) as files:
        wanted = [
            file
            for file in files
            if file.path.suffix in (".jsonl", ".json") and file.path.name not in _OTHER
        ]
        yield from read_sessions(wanted, report, _read_turns)


def _read_entries(file: ExportFile, report: ReadReport) -> Iterator[dict[str, Any]]:
    if file.path.suffix == ".jsonl":
        for _, entry in read_lines(file, report):
            yield entry
    else:
        for _, entry in read_objects(file, report):
            for part in (entry.get("session"), *list_of(entry.get("items"))):
                yield dict(mapping_of(part))


def _read_turns(file: ExportFile, session: Session, report: ReadReport) -> Iterator[Turn]:
    """Give what was said; of two tellings of one message the first.

    A message is given once more only when one of the two has told it once more: "go on" said twice
    stays twice, in whatever order events and items come.
    """
    told: Counter[tuple[str, str, bool]] = Counter()
    given: Counter[tuple[str, str]] = Counter()
    for entry in _read_entries(file, report):
        payload = mapping_of(entry["payload"]) if "payload" in entry else entry
        if entry.get("type") == "session_meta" or "type" not in entry:
            _read_head(payload, session)
            if "subagent" in mapping_of(payload.get("source")):
                report.dropped["sidechain"] += 1
                return
            continue
        is_event = entry.get("type") == "event_msg"
        if is_event and payload.get("type") == "thread_name_updated":
            session.title = text_of(payload.get("thread_name")) or session.title
        speaker, text = _read_message(entry, payload, report)
        if not text:
            continue
        key = (speaker, digest("".join(text.split())))
        told[*key, is_event] += 1
        if told[*key, is_event] > given[key]:
            given[key] += 1
            yield Turn(speaker, text, moment_of(entry.get("timestamp")))


def _read_head(payload: Mapping[str, Any], session: Session) -> None:
    session.source_id = session.source_id or text_of(payload.get("id"))
    session.started = session.started or moment_of(payload.get("timestamp"))


def _read_message(
    entry: Mapping[str, Any], payload: Mapping[str, Any], report: ReadReport
) -> tuple[str, str]:
    """Return the speaker and the words; no words where the line is none of what was said."""
    kind = text_of(payload.get("type"))
    if entry.get("type") in ("event_msg", "response_item") or entry is payload:
        if kind in _SPEAKERS and payload.get("kind") in (None, "plain"):
            report.dropped["attachment"] += len(list_of(payload.get("images")))
            return _SPEAKERS[kind], _leave_out_context(text_of(payload.get("message")), report)
        speaker = text_of(payload.get("role"))
        if kind == "message" and speaker in ("user", "assistant"):
            return speaker, _read_content(payload.get("content"), report)
        found = _DROPPED.fullmatch(kind)
        report.dropped["thinking" if found and found[1] else "tool" if found else "system"] += 1
    else:
        report.dropped["system"] += 1
    return "", ""


def _read_content(content: Any, report: ReadReport) -> str:
    parts = []
    for block in [content] if isinstance(content, str) else list_of(content):
        fields = {"type": "text", "text": block} if isinstance(block, str) else mapping_of(block)
        kind = fields.get("type")
        if kind in ("input_text", "output_text", "text"):
            parts.append(_leave_out_context(text_of(fields.get("text")), report))
        elif kind in _ATTACHED:
            report.dropped["attachment"] += 1
        else:
            count_unknown(report, kind)
    return "\n\n".join(part for part in parts if part)


def _leave_out_context(text: str, report: ReadReport) -> str:
    for pattern in (_INSTRUCTIONS, _OF_EDITOR):
        if pattern.match(text):
            text = pattern.sub("", text, count=1)
            report.dropped["system"] += 1
    return "" if _IMAGE.fullmatch(text.strip()) else leave_out_injected(text, report)
