"""Claude.ai's export: `conversations.json`, `projects.json`, `memories.json`; folder, .zip, file.

Shape: Anthropic publishes none. As exports of 2024 to September 2026 have it, and their readers
(basicmachines-co/basic-memory 0.22, Sinity/polylogue): a list of ``{uuid, name, created_at,
chat_messages[{uuid, sender, text, content[{type, text}], created_at, parent_message_uuid,
attachments[{file_name}], files[{file_name}]}]}``; since 2026 also `conversations-000.json` or
several .zip files, and a file for each project (`projects/UUID.json`) and account
(`memories/UUID.json`: ``{conversations_memory, project_memories{uuid: text}, memory_files[{path,
content}], account_uuid}``), and designs (`design_chats/UUID.json`: ``{uuid, title, messages[{role,
created_at, content{content, contentBlocks[{type, text}]}}]}``).

Since August 2026 a large export is an index (`manifest-*.json`: ``{data_files[{category, filename,
export_url}]}``) of .zip files to fetch (osaurus-ai/osaurus, pull request 2650, 2026-09-05).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from memory_palace.features.importing.formats.files import (
    find_branch,
    join_texts,
    list_of,
    mapping_of,
    moment_of,
    name_attachments,
    open_export,
    read_blocks,
    read_objects,
    text_of,
)
from memory_palace.features.importing.items import (
    Conversation,
    ImportedNote,
    ImportReport,
    Item,
    Turn,
)


def read(path: Path, report: ImportReport) -> Iterator[Item]:
    """Yield the conversations of an export, and the documents and memories of its projects."""
    with open_export(path) as files:
        for file in files:
            for entry in read_objects(file, report) if file.suffix == ".json" else ():
                if "chat_messages" in entry or "messages" in entry:
                    yield from _read_conversation(entry, report)
                elif "data_files" in entry and path.suffix.lower() != ".zip":
                    folder = path / file.path.parent if path.is_dir() else path.parent
                    yield from _read_listed(entry, folder, report)
                elif {"conversations_memory", "project_memories", "memory_files"} & entry.keys():
                    yield from _read_memories(entry)
                elif "docs" in entry or "prompt_template" in entry:
                    yield from _read_project(entry)
                else:
                    report.leave_out("other")


def _read_listed(entry: dict[str, Any], folder: Path, report: ImportReport) -> Iterator[Item]:
    """Yield the items of the archives beside an index; report those that are not there."""
    for row in map(mapping_of, list_of(entry["data_files"])):
        name = re.split(r"[/\\]", text_of(row.get("filename")))[-1] or "a file without a name"
        if name.lower().endswith(".zip") and (folder / name).is_file():
            yield from read(folder / name, report)
        else:
            report.refuse(name, "whole file", "is to be downloaded beside the index that names it")


def _read_conversation(entry: dict[str, Any], report: ImportReport) -> Iterator[Conversation]:
    given = list_of(entry.get("chat_messages") or entry.get("messages"))
    messages = [message for message in given if isinstance(message, dict)]
    kept = _choose_branch(entry, messages)
    turns = [turn for message in kept if (turn := _read_message(message))]
    if not turns:
        report.leave_out("empty")
        return
    started = moment_of(entry.get("created_at"))
    identity = text_of(entry.get("uuid"))
    url = f"https://claude.ai/chat/{identity}" if identity and "messages" not in entry else ""
    title = text_of(entry.get("name") or entry.get("title")).strip()
    yield Conversation(identity, title, started, turns, url)


def _choose_branch(entry: dict[str, Any], messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the messages of the displayed branch: of a regenerated answer, the last."""
    known = {text_of(message.get("uuid")): message for message in messages}
    if len(known) < len(messages) or not any(m.get("parent_message_uuid") for m in messages):
        return messages
    leaf = text_of(entry.get("current_leaf_message_uuid")) or text_of(messages[-1].get("uuid"))
    parents = {name: message.get("parent_message_uuid") for name, message in known.items()}
    return [known[name] for name in find_branch(parents, leaf)] or messages


def _read_message(message: dict[str, Any]) -> Turn | None:
    content = message.get("content")
    if isinstance(content, dict):  # of a design
        content = content.get("contentBlocks") or content.get("content")
    texts = [*read_blocks(content, ("text", "voice_note"))]
    if not content:  # beside blocks, `text` repeats them with a line for each tool
        texts = [text_of(message.get("text"))]
    files = [*list_of(message.get("attachments")), *list_of(message.get("files"))]
    text = join_texts([*texts, name_attachments(files)])
    if not text or message.get("sender") == "system":
        return None
    is_own = (message.get("sender") or message.get("role")) in ("human", "user")
    return Turn("user" if is_own else "assistant", text, moment_of(message.get("created_at")))


def _read_project(entry: dict[str, Any]) -> Iterator[ImportedNote]:
    name = text_of(entry.get("name")).strip() or "Project"
    identity = text_of(entry.get("uuid")) or name
    about = join_texts(text_of(entry.get(key)) for key in ("description", "prompt_template"))
    pages = [(identity, name, about)]
    for document in map(mapping_of, list_of(entry.get("docs"))):
        title = text_of(document.get("filename")).strip() or "Document"
        own = text_of(document.get("uuid")) or f"{identity}/{title}"
        pages.append((own, title.removesuffix(".md"), text_of(document.get("content")).strip()))
    for own, title, text in pages:
        if text:
            yield ImportedNote(own, f"projects/{name}/{title}.md", f"{text}\n".encode())


def _read_memories(entry: dict[str, Any]) -> Iterator[ImportedNote]:
    account = f"memory-{text_of(entry.get('account_uuid')) or 'account'}"
    memories = {account: ("Memory", entry.get("conversations_memory"))}
    for file in map(mapping_of, list_of(entry.get("memory_files"))):
        name = text_of(file.get("path")).strip("/").removesuffix(".md")
        memories[f"{account}/{name}"] = (name or "File", file.get("content"))
    for project, value in mapping_of(entry.get("project_memories")).items():
        memories[f"{account}-{text_of(project)}"] = (text_of(project), value)
    for identity, (name, value) in memories.items():
        if text := text_of(value).strip():
            yield ImportedNote(identity, f"memories/{name}.md", f"{text}\n".encode())
