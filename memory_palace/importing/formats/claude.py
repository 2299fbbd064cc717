"""Claude.ai's export: `conversations.json`, `projects.json`, `memories.json`; folder, .zip or file.

Shape: Anthropic publishes none. As exports of 2024 to September 2026 have it, and their readers
(basicmachines-co/basic-memory 0.22, Sinity/polylogue): a list of ``{uuid, name, created_at,
chat_messages[{uuid, sender, text, content[{type, text}], created_at, parent_message_uuid,
attachments[{file_name}], files[{file_name}]}]}``; since 2026 also `conversations-000.json` or
several .zip files, and a file for each project (`projects/UUID.json`) and account
(`memories/UUID.json`: ``{conversations_memory, project_memories{uuid: text}, account_uuid}``).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from memory_palace.importing.formats.chains import follow_parents
from memory_palace.importing.formats.export_files import ExportFile, open_export, report_broken
from memory_palace.importing.formats.fields import (
    count_unknown,
    digest,
    earliest,
    find_uuid,
    list_of,
    mapping_of,
    moment_of,
    name_attachments,
    text_of,
)
from memory_palace.importing.formats.splitting import read_objects, slim
from memory_palace.importing.items import Conversation, ImportedNote, Item, ReadReport, Turn

_SPEAKERS = {"human": "user", "user": "user", "assistant": "assistant"}
_DROPPED = {
    "thinking": "thinking",
    "redacted_thinking": "thinking",
    "tool_use": "tool",
    "tool_result": "tool",
    "server_tool_use": "tool",
    "web_search_tool_result": "tool",
    "token_budget": "system",
    "flag": "system",
    "image": "attachment",
    "document": "attachment",
}
_NEVER_READ = frozenset(
    "extracted_content citations display_content input thinking signature updated_at"
    " start_timestamp stop_timestamp flags index account summary".split()
)
_KEPT = frozenset(("chat_messages", "conversations_memory", "docs", "type"))


def read(path: Path, report: ReadReport) -> Iterator[Item]:
    """Give the conversations of an export, and the documents and memories of its projects."""
    with open_export(path, report) as files:
        for file in files:
            if file.name.lower().endswith((".json", ".jsonl")) and file.path.name != "users.json":
                for position, entry in read_objects(file, report, _slim):
                    yield from _read_entry(entry, file, position, report)


def _slim(entry: dict[str, Any]) -> dict[str, Any]:
    """Leave out, while parsing, what is long and never read."""
    if entry.get("type") in ("tool_use", "tool_result", "thinking"):
        return {"type": entry["type"]}
    return slim(entry, _NEVER_READ, _KEPT)


def _read_entry(
    entry: dict[str, Any], file: ExportFile, position: str, report: ReadReport
) -> Iterator[Item]:
    if "chat_messages" in entry:
        yield from _read_conversation(entry, report)
    elif "conversations_memory" in entry or "project_memories" in entry:
        yield from _read_memories(entry)
    elif "docs" in entry or "prompt_template" in entry:
        yield from _read_project(entry)
    else:
        known = ", ".join(sorted(map(text_of, entry))[:4]) or "nothing"
        report_broken(report, file.name, position, f"is no conversation: it has {known[:80]}")


def _read_conversation(entry: dict[str, Any], report: ReadReport) -> Iterator[Conversation]:
    messages = [message for message in list_of(entry["chat_messages"]) if isinstance(message, dict)]
    report.dropped["empty"] += len(list_of(entry["chat_messages"])) - len(messages)
    kept = _find_branch(entry, messages)
    report.dropped["branch"] += len(messages) - len(kept)
    turns = [turn for message in kept if (turn := _read_message(message, report))]
    started = moment_of(entry.get("created_at")) or earliest(turn.at for turn in turns)
    identity = text_of(entry.get("uuid"))
    if not turns:
        report.dropped["empty"] += 1
        return
    url = f"https://claude.ai/chat/{identity}" if find_uuid(identity) == identity else ""
    identity = identity or digest(str(turns[0].at), turns[0].text)
    yield Conversation(identity, text_of(entry.get("name")).strip(), started, turns, url)


def _find_branch(entry: dict[str, Any], messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the messages on the screen: of an answer asked for again, the last."""
    if not messages or not any(message.get("parent_message_uuid") for message in messages):
        return messages
    leaf = text_of(entry.get("current_leaf_message_uuid")) or text_of(messages[-1].get("uuid"))
    return follow_parents(messages, "uuid", "parent_message_uuid", leaf) or messages


def _read_message(message: dict[str, Any], report: ReadReport) -> Turn | None:
    blocks = [mapping_of(block) for block in list_of(message.get("content"))]
    parts = [text for block in blocks if (text := _read_block(block, report))]
    if not blocks:  # beside blocks, `text` repeats them with a line for each tool
        parts = [text_of(message.get("text")) or text_of(message.get("content"))]
    files = [*list_of(message.get("attachments")), *list_of(message.get("files"))]
    parts.append(name_attachments(files, report))
    text = "\n\n".join(part.strip() for part in parts if part.strip())
    if not text:
        report.dropped["empty"] += 1
        return None
    sender = text_of(message.get("sender")) or text_of(message.get("role"))
    if sender == "system":
        report.dropped["system"] += 1
        return None
    return Turn(
        _SPEAKERS.get(sender, sender or "unknown"), text, moment_of(message.get("created_at"))
    )


def _read_block(block: Any, report: ReadReport) -> str:
    kind = block.get("type")
    if kind in ("text", "voice_note"):
        return text_of(block.get("text"))
    if isinstance(kind, str) and kind in _DROPPED:
        report.dropped[_DROPPED[kind]] += 1
    else:
        count_unknown(report, kind)
    return ""


def _read_project(entry: dict[str, Any]) -> Iterator[ImportedNote]:
    name = text_of(entry.get("name")).strip() or "Project"
    identity = text_of(entry.get("uuid")) or digest(name)
    date = moment_of(entry.get("created_at"))
    about = "\n\n".join(
        text
        for key in ("description", "prompt_template")
        if (text := text_of(entry.get(key)).strip())
    )
    if about:
        yield _note(identity, f"projects/{name}/{name}.md", name, about, date)
    for document in map(mapping_of, list_of(entry.get("docs"))):
        title = text_of(document.get("filename")).strip() or "Document"
        text = text_of(document.get("content")).strip()
        if text:
            own = text_of(document.get("uuid")) or digest(identity, title)
            hint = f"projects/{name}/{title.removesuffix('.md')}.md"
            yield _note(own, hint, title, text, moment_of(document.get("created_at")) or date)


def _read_memories(entry: dict[str, Any]) -> Iterator[ImportedNote]:
    account = text_of(entry.get("account_uuid")) or "account"
    text = text_of(entry.get("conversations_memory")).strip()
    if text:
        yield _note(f"memory-{account}", "memories/Memory.md", "What Claude remembers", text, None)
    for project, value in mapping_of(entry.get("project_memories")).items():
        if text := text_of(value).strip():
            title = f"What Claude remembers of the project {text_of(project)}"
            hint = f"memories/{text_of(project)}.md"
            yield _note(f"memory-{account}-{text_of(project)}", hint, title, text, None)


def _note(identity: str, hint: str, title: str, text: str, date: Any) -> ImportedNote:
    return ImportedNote(identity, hint, title, f"{text}\n".encode(), date)
