"""Makes exports to the shapes that other programs publish, every block type in them."""

import json
from pathlib import Path
from typing import Any

from memory_palace.features.importing.items import Conversation, ImportedNote, ImportReport
from memory_palace.features.importing.run import FORMATS


def read_all(name: str, path: Path) -> tuple[list[Any], ImportReport]:
    """What a reader gives, with turns read as the importer does, and its report."""
    report = ImportReport(name, "Imports", is_applied=False)
    items: list[Any] = []
    for item in FORMATS[name](path, report):
        if isinstance(item, Conversation):
            turns = [(turn.speaker, turn.text, turn.at) for turn in item.turns]
            items.append((item.source_id, item.title, item.started, item.url, turns))
        else:
            assert isinstance(item, ImportedNote)
            items.append(item)
    return items, report


def write_json(path: Path, value: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def write_lines(path: Path, entries: list[Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(entry) + "\n" for entry in entries), encoding="utf-8")
    return path


def uuid(number: int) -> str:
    return f"{number:08x}-0000-4000-9000-{number:012x}"


def claude_message(number: int, sender: str, text: str, **more: Any) -> dict[str, Any]:
    return {
        "uuid": uuid(number),
        "text": text,
        "content": [{"start_timestamp": None, "type": "text", "text": text, "citations": []}],
        "sender": sender,
        "created_at": f"2026-03-01T10:00:{number % 60:02d}.123456Z",
        "updated_at": "2026-03-01T10:00:00.123456Z",
        "attachments": [],
        "files": [],
    } | more


def claude_conversation(number: int, messages: list[Any], **more: Any) -> dict[str, Any]:
    return {
        "uuid": uuid(number),
        "name": f"Talk {number}",
        "summary": "",
        "created_at": "2026-03-01T09:59:00.000000Z",
        "updated_at": "2026-03-01T10:30:00.000000Z",
        "account": {"uuid": uuid(999)},
        "chat_messages": messages,
    } | more


def gpt_message(role: str, parts: list[Any], at: float | None, **more: Any) -> dict[str, Any]:
    return {
        "id": "m",
        "author": {"role": role, "name": None, "metadata": {}},
        "create_time": at,
        "content": {"content_type": "text", "parts": parts},
        "status": "finished_successfully",
        "weight": 1.0,
        "recipient": "all",
        "metadata": {},
    } | more


def gpt_conversation(nodes: list[tuple[str, str | None, Any]], **more: Any) -> dict[str, Any]:
    mapping = {
        name: {
            "id": name,
            "message": message,
            "parent": parent,
            "children": [child for child, above, _ in nodes if above == name],
        }
        for name, parent, message in nodes
    }
    return {
        "title": "Frost",
        "create_time": 1767225600.5,
        "update_time": 1767225700.5,
        "mapping": mapping,
        "moderation_results": [],
        "current_node": nodes[-1][0] if nodes else None,
        "conversation_id": "67a0aaaa-1111-8222-b333-444455556666",
    } | more
