"""ChatGPT's export: `conversations.json`, or `conversations-000.json` and on; folder, .zip or file.

Shape: OpenAI publishes none. As mohamed-chs/convoviz describes exports (specification 3.0 of
2026-02-05) and basicmachines-co/basic-memory 0.22 reads them: a list of ``{title, create_time?,
conversation_id, current_node, mapping{id: {parent, children, message{author{role}, create_time,
content{content_type, parts}, recipient, metadata}}}}``. Accepted too: ``{"conversations": [...]}``,
one conversation, and ``linear_conversation`` of shared links.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from memory_palace.importing.formats.chains import follow_parents
from memory_palace.importing.formats.export_files import open_export, report_broken
from memory_palace.importing.formats.fields import (
    count_unknown,
    digest,
    earliest,
    list_of,
    mapping_of,
    moment_of,
    name_attachments,
    order_key,
    text_of,
)
from memory_palace.importing.formats.splitting import read_objects, slim
from memory_palace.importing.items import Conversation, Item, ReadReport, Turn

_OTHER = re.compile(
    r"(?:user|user_settings|message_feedback|model_comparisons|shared_conversations|group_chats"
    r"|shopping|sora|export_manifest|conversation_asset_file_names)\.json"
)
_CITED = re.compile("\ue200(\\w*+)\ue202?([^\ue200\ue201]*+)\ue201")
_BRACKETED = re.compile(r"【\d+[†:][^】]{0,80}】")
_NAMED = re.compile(r'\["[^"]*","([^"]*)"')
_DROPPED = {
    "thoughts": "thinking",
    "reasoning_recap": "thinking",
    "execution_output": "tool",
    "tether_quote": "tool",
    "tether_browsing_display": "tool",
    "tether_browsing_code": "tool",
    "sonic_webpage": "tool",
    "computer_output": "tool",
    "citable_code_output": "tool",
    "super_widget": "tool",
    "system_error": "system",
    "app_pairing_content": "system",
    "model_editable_context": "system",
    "user_editable_context": "system",
}
_POINTERS = ("image_asset_pointer", "audio_asset_pointer", "video_container_asset_pointer")
_NEVER_READ = frozenset(
    "citations content_references search_result_groups aggregate_result thoughts safe_urls children"
    " _cite_metadata status weight end_turn update_time channel".split()
)
_KEPT = frozenset(("mapping", "linear_conversation"))


def read(path: Path, report: ReadReport) -> Iterator[Item]:
    """Give the conversations of an export, each by the branch that was on the screen."""
    with open_export(path, report) as files:
        for file in files:
            name = file.path.name
            if not name.lower().endswith(".json") or _OTHER.fullmatch(name):
                continue
            for position, entry in read_objects(file, report, _slim):
                if "mapping" in entry or "linear_conversation" in entry:
                    yield from _read_conversation(entry, report)
                else:
                    known = ", ".join(sorted(map(text_of, entry))[:4]) or "nothing"
                    reason = f"is no conversation: it has {known[:80]}"
                    report_broken(report, file.name, position, reason)


def _slim(entry: dict[str, Any]) -> dict[str, Any]:
    """Leave out, while parsing, what is long and never read."""
    return slim(entry, _NEVER_READ, _KEPT)


def _read_conversation(entry: dict[str, Any], report: ReadReport) -> Iterator[Conversation]:
    nodes = _list_nodes(entry)
    kept = _find_branch(entry, nodes)
    messages = [message for node in kept if (message := mapping_of(node.get("message")))]
    said = sum(1 for node in nodes if mapping_of(node.get("message")))
    report.dropped["branch"] += said - len(messages)
    turns = [turn for message in messages if (turn := _read_message(message, report))]
    if not turns:
        report.dropped["empty"] += 1
        return
    started = moment_of(entry.get("create_time")) or earliest(map(_said_at, nodes))
    identity = text_of(entry.get("conversation_id")) or text_of(entry.get("id"))
    url = f"https://chatgpt.com/c/{identity}" if re.fullmatch(r"[\w-]{8,64}", identity) else ""
    identity = identity or digest(str(started), turns[0].text)
    yield Conversation(identity, text_of(entry.get("title")).strip(), started, turns, url)


def _list_nodes(entry: dict[str, Any]) -> list[dict[str, Any]]:
    mapping = entry.get("mapping")
    if isinstance(mapping, dict):
        return [{**mapping_of(node), "id": name} for name, node in mapping.items()]
    nodes = list_of(mapping) or list_of(entry.get("linear_conversation"))
    return [node for node in nodes if isinstance(node, dict)]


def _find_branch(entry: dict[str, Any], nodes: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the nodes that were on the screen; all by time, where the tree is damaged."""
    if "mapping" not in entry or not nodes:
        return nodes
    leaf = text_of(entry.get("current_node"))
    if leaf not in (node.get("id") for node in nodes):
        last = max((node for node in nodes), key=lambda node: order_key(_said_at(node), late=False))
        leaf = text_of(last.get("id"))
    by_time = sorted(nodes, key=lambda node: order_key(_said_at(node)))
    return follow_parents(nodes, "id", "parent", leaf) or by_time


def _said_at(node: dict[str, Any]) -> datetime | None:
    return moment_of(mapping_of(node.get("message")).get("create_time"))


def _read_message(message: Mapping[str, Any], report: ReadReport) -> Turn | None:
    speaker = text_of(mapping_of(message.get("author")).get("role")) or "unknown"
    metadata = mapping_of(message.get("metadata"))
    kind = _reason_to_drop(speaker, message, metadata)
    if kind:
        report.dropped[kind] += 1
        return None
    parts = [*_read_content(mapping_of(message.get("content")), report)]
    parts.append(name_attachments(list_of(metadata.get("attachments")), report))
    text = "\n\n".join(part.strip() for part in parts if part.strip())
    if not text:
        report.dropped["empty"] += 1
        return None
    return Turn(speaker, text, moment_of(message.get("create_time")))


def _reason_to_drop(
    speaker: str, message: Mapping[str, Any], metadata: Mapping[str, Any]
) -> str | None:
    kind = mapping_of(message.get("content")).get("content_type")
    if metadata.get("is_visually_hidden_from_conversation"):
        return "hidden"
    if speaker in ("system", "developer", "tool"):
        return "tool" if speaker == "tool" else "system"
    if speaker == "assistant" and message.get("recipient") not in ("all", None, ""):
        return "tool"
    return _DROPPED.get(kind) if isinstance(kind, str) else None


def _read_content(content: Mapping[str, Any], report: ReadReport) -> Iterator[str]:
    kind = content.get("content_type")
    if kind == "code":
        language = text_of(content.get("language"))
        fence = "" if language in ("unknown", "text") else language
        if code := text_of(content.get("text")):
            yield f"```{fence}\n{code}\n```"
    elif kind in ("text", "multimodal_text"):
        for part in list_of(content.get("parts")):
            yield _read_part(part, report)
        if not content.get("parts"):
            yield _without_citations(text_of(content.get("text")))
    elif content:
        count_unknown(report, kind)


def _read_part(part: Any, report: ReadReport) -> str:
    if isinstance(part, str):
        return _without_citations(text_of(part))
    kind = mapping_of(part).get("content_type")
    if kind == "audio_transcription":
        return text_of(part.get("text"))
    if kind in _POINTERS or kind == "real_time_user_audio_video_asset_pointer":
        report.dropped["attachment"] += 1
    else:
        count_unknown(report, kind)
    return ""


def _without_citations(text: str) -> str:
    """Leave out marks that point into search results; of a mark for a thing keep its name."""
    if "\ue200" in text:
        text = _CITED.sub(_name_cited, text)
    return _BRACKETED.sub("", text)


def _name_cited(found: re.Match[str]) -> str:
    named = _NAMED.match(found[2]) if found[1] == "entity" else None
    return named[1] if named else ""
