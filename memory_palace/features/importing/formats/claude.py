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

from memory_palace.features.importing.formats.fields import (
    digest,
    find_branch,
    find_uuid,
    join_texts,
    list_of,
    mapping_of,
    moment_of,
    name_attachments,
    read_blocks,
    text_of,
)
from memory_palace.features.importing.formats.files import open_export, report_foreign
from memory_palace.features.importing.formats.json_entries import read_objects
from memory_palace.features.importing.items import (
    Conversation,
    ImportedNote,
    Item,
    ReadReport,
    Turn,
)

_NEVER_READ = frozenset(
    "extracted_content citations display_content input thinking signature updated_at"
    " start_timestamp stop_timestamp flags index account summary".split()
)


def read(path: Path, report: ReadReport) -> Iterator[Item]:
    """Give the conversations of an export, and the documents and memories of its projects."""
    with open_export(path, report) as files:
        for file in files:
            if not file.name.lower().endswith(".json") or file.path.name == "users.json":
                continue
            for position, entry in read_objects(file, report, _NEVER_READ):
                if "chat_messages" in entry:
                    yield from _read_conversation(entry, report)
                elif "conversations_memory" in entry or "project_memories" in entry:
                    yield from _read_memories(entry)
                elif "docs" in entry or "prompt_template" in entry:
                    yield from _read_project(entry)
                else:
                    report_foreign(report, file, position, entry)


def _read_conversation(entry: dict[str, Any], report: ReadReport) -> Iterator[Conversation]:
    messages = [message for message in list_of(entry["chat_messages"]) if isinstance(message, dict)]
    kept = _choose_branch(entry, messages)
    report.dropped["branch"] += len(messages) - len(kept)
    turns = [turn for message in kept if (turn := _read_message(message, report))]
    if not turns:
        report.dropped["empty"] += 1
        return
    started = moment_of(entry.get("created_at"))
    started = started or min((turn.at for turn in turns if turn.at), default=None)
    identity = text_of(entry.get("uuid"))
    url = f"https://claude.ai/chat/{identity}" if find_uuid(identity) == identity else ""
    identity = identity or digest(str(turns[0].at), turns[0].text)
    yield Conversation(identity, text_of(entry.get("name")).strip(), started, turns, url)


def _choose_branch(entry: dict[str, Any], messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the messages on the screen: of an answer asked for again, the last."""
    known = {text_of(message.get("uuid")): message for message in messages}
    if len(known) < len(messages) or not any(m.get("parent_message_uuid") for m in messages):
        return messages
    leaf = text_of(entry.get("current_leaf_message_uuid")) or text_of(messages[-1].get("uuid"))
    parents = {name: message.get("parent_message_uuid") for name, message in known.items()}
    return [known[name] for name in find_branch(parents, leaf)] or messages


def _read_message(message: dict[str, Any], report: ReadReport) -> Turn | None:
    texts = [*read_blocks(message.get("content"), report, ("text", "voice_note"))]
    if not message.get("content"):  # beside blocks, `text` repeats them with a line for each tool
        texts = [text_of(message.get("text"))]
    files = [*list_of(message.get("attachments")), *list_of(message.get("files"))]
    text = join_texts([*texts, name_attachments(files, report)])
    sender = text_of(message.get("sender")) or text_of(message.get("role")) or "unknown"
    if sender == "system":
        report.dropped["system"] += 1
    if not text or sender == "system":
        return None
    speaker = "user" if sender == "human" else sender
    return Turn(speaker, text, moment_of(message.get("created_at")))


def _read_project(entry: dict[str, Any]) -> Iterator[ImportedNote]:
    name = text_of(entry.get("name")).strip() or "Project"
    identity = text_of(entry.get("uuid")) or digest(name)
    date = moment_of(entry.get("created_at"))
    about = join_texts(text_of(entry.get(key)) for key in ("description", "prompt_template"))
    if about:
        hint = f"projects/{name}/{name}.md"
        yield ImportedNote(identity, hint, name, f"{about}\n".encode(), date)
    for document in map(mapping_of, list_of(entry.get("docs"))):
        title = text_of(document.get("filename")).strip() or "Document"
        if text := text_of(document.get("content")).strip():
            own = text_of(document.get("uuid")) or digest(identity, title)
            hint = f"projects/{name}/{title.removesuffix('.md')}.md"
            made = moment_of(document.get("created_at")) or date
            yield ImportedNote(own, hint, title, f"{text}\n".encode(), made)


def _read_memories(entry: dict[str, Any]) -> Iterator[ImportedNote]:
    own = f"memory-{text_of(entry.get('account_uuid')) or 'account'}"
    if text := text_of(entry.get("conversations_memory")).strip():
        title = "What Claude remembers"
        yield ImportedNote(own, "memories/Memory.md", title, f"{text}\n".encode())
    for key, value in mapping_of(entry.get("project_memories")).items():
        project = text_of(key)
        if text := text_of(value).strip():
            title = f"What Claude remembers of the project {project}"
            hint = f"memories/{project}.md"
            yield ImportedNote(f"{own}-{project}", hint, title, f"{text}\n".encode())
