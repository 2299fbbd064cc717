"""ChatGPT's export: `conversations.json`, or `conversations-000.json` and on; folder, .zip or file.

Shape: OpenAI publishes none. As mohamed-chs/convoviz describes exports (specification 3.0 of
2026-02-05) and basicmachines-co/basic-memory 0.22 reads them: a list of ``{title, create_time?,
conversation_id, current_node, mapping{id: {parent, children, message{author{role}, create_time,
content{content_type, parts}, recipient, metadata}}}}``. Accepted too: ``{"conversations": [...]}``
and one conversation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
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
    read_objects,
    text_of,
)
from memory_palace.features.importing.items import Conversation, ImportReport, Item, Turn

_CITED = re.compile("\ue200(\\w*+)\ue202?([^\ue200\ue201]*+)\ue201")
_BRACKETED = re.compile(r"【\d+[†:][^】]{0,80}】")
_NAMED = re.compile(r'\["[^"]*","([^"]*)"')
_LATE = datetime.max.replace(tzinfo=UTC)


def read(path: Path, report: ImportReport) -> Iterator[Item]:
    """Yield the conversations of an export, each by its displayed branch."""
    with open_export(path) as files:
        for file in files:
            for entry in read_objects(file, report) if file.suffix == ".json" else ():
                if isinstance(entry.get("mapping"), dict):
                    yield from _read_conversation(entry, report)
                else:
                    report.leave_out("other")


def _read_conversation(entry: dict[str, Any], report: ImportReport) -> Iterator[Conversation]:
    nodes = {text_of(name): mapping_of(node) for name, node in entry["mapping"].items()}
    messages = map(_message_of, _choose_branch(entry, nodes))
    turns = [turn for message in messages if (turn := _read_message(message))]
    if not turns:
        report.leave_out("empty")
        return
    started = moment_of(entry.get("create_time"))
    identity = text_of(entry.get("conversation_id")) or text_of(entry.get("id"))
    url = f"https://chatgpt.com/c/{identity}" if identity else ""
    yield Conversation(identity, text_of(entry.get("title")).strip(), started, turns, url)


def _choose_branch(
    entry: Mapping[str, Any], nodes: Mapping[str, Mapping[str, Any]]
) -> list[Mapping[str, Any]]:
    """Return the nodes of the displayed branch; all by time if the tree is damaged."""
    parents = {name: node.get("parent") for name, node in nodes.items()}
    branch = find_branch(parents, text_of(entry.get("current_node")))
    if branch:
        return [nodes[name] for name in branch]
    times = {name: moment_of(_message_of(node).get("create_time")) for name, node in nodes.items()}
    return [nodes[name] for name in sorted(nodes, key=lambda name: times[name] or _LATE)]


def _message_of(node: Mapping[str, Any]) -> Mapping[str, Any]:
    return mapping_of(node.get("message"))


def _read_message(message: Mapping[str, Any]) -> Turn | None:
    speaker = mapping_of(message.get("author")).get("role")
    metadata = mapping_of(message.get("metadata"))
    is_called = speaker == "assistant" and message.get("recipient") not in ("all", None, "")
    is_hidden = metadata.get("is_visually_hidden_from_conversation")
    if speaker not in ("user", "assistant") or is_called or is_hidden:
        return None
    parts = _read_content(mapping_of(message.get("content")))
    text = join_texts([*parts, name_attachments(list_of(metadata.get("attachments")))])
    return Turn(speaker, text, moment_of(message.get("create_time"))) if text else None


def _read_content(content: Mapping[str, Any]) -> Iterator[str]:
    kind = content.get("content_type")
    if kind == "code":
        language = text_of(content.get("language"))
        fence = "" if language in ("unknown", "text") else language
        if code := text_of(content.get("text")):
            yield f"```{fence}\n{code}\n```"
    elif kind in ("text", "multimodal_text"):
        for part in list_of(content.get("parts")):
            if isinstance(part, str):
                yield _CITED.sub(_name_cited, _BRACKETED.sub("", text_of(part)))
            elif mapping_of(part).get("content_type") == "audio_transcription":
                yield text_of(part.get("text"))


def _name_cited(mark: re.Match[str]) -> str:
    """Return the name of the entity that a mark stands for; empty for other marks."""
    named = _NAMED.match(mark[2]) if mark[1] == "entity" else None
    return named[1] if named else ""
