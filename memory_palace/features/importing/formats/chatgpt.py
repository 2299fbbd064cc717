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
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memory_palace.features.importing.formats.fields import (
    count_part,
    digest,
    find_branch,
    join_texts,
    list_of,
    mapping_of,
    moment_of,
    name_attachments,
    text_of,
)
from memory_palace.features.importing.formats.files import open_export, report_foreign
from memory_palace.features.importing.formats.json_entries import read_objects
from memory_palace.features.importing.items import Conversation, Item, ReadReport, Turn

_OTHER = re.compile(
    r"(?:user|user_settings|message_feedback|model_comparisons|shared_conversations|group_chats"
    r"|shopping|sora|export_manifest|conversation_asset_file_names)\.json"
)
_CITED = re.compile("\ue200(\\w*+)\ue202?([^\ue200\ue201]*+)\ue201")
_BRACKETED = re.compile(r"【\d+[†:][^】]{0,80}】")
_NAMED = re.compile(r'\["[^"]*","([^"]*)"')
_NEVER_READ = frozenset(
    "citations content_references search_result_groups aggregate_result thoughts safe_urls children"
    " _cite_metadata status weight end_turn update_time channel".split()
)
_EARLY, _LATE = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)


def read(path: Path, report: ReadReport) -> Iterator[Item]:
    """Give the conversations of an export, each by the branch that was on the screen."""
    with open_export(path, report) as files:
        for file in files:
            name = file.path.name
            if not name.lower().endswith(".json") or _OTHER.fullmatch(name):
                continue
            for position, entry in read_objects(file, report, _NEVER_READ):
                if "mapping" in entry or "linear_conversation" in entry:
                    yield from _read_conversation(entry, report)
                else:
                    report_foreign(report, file, position, entry)


def _read_conversation(entry: dict[str, Any], report: ReadReport) -> Iterator[Conversation]:
    mapping = entry.get("mapping")
    if isinstance(mapping, dict):
        nodes = [{**mapping_of(node), "id": name} for name, node in mapping.items()]
    else:
        listed = list_of(mapping) or list_of(entry.get("linear_conversation"))
        nodes = [node for node in listed if isinstance(node, dict)]
    kept = _choose_branch(entry, nodes) if "mapping" in entry and nodes else nodes
    messages = [message for node in kept if (message := mapping_of(node.get("message")))]
    said = sum(1 for node in nodes if mapping_of(node.get("message")))
    report.dropped["branch"] += said - len(messages)
    turns = [turn for message in messages if (turn := _read_message(message, report))]
    if not turns:
        report.dropped["empty"] += 1
        return
    started = moment_of(entry.get("create_time"))
    started = started or min((at for node in nodes if (at := _said_at(node))), default=None)
    identity = text_of(entry.get("conversation_id")) or text_of(entry.get("id"))
    url = f"https://chatgpt.com/c/{identity}" if re.fullmatch(r"[\w-]{8,64}", identity) else ""
    identity = identity or digest(str(started), turns[0].text)
    yield Conversation(identity, text_of(entry.get("title")).strip(), started, turns, url)


def _choose_branch(entry: dict[str, Any], nodes: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the nodes that were on the screen; all by time, where the tree is damaged."""
    known = {text_of(node.get("id")): node for node in nodes}
    leaf = text_of(entry.get("current_node"))
    if leaf not in known:
        leaf = max(known, key=lambda name: _said_at(known[name]) or _EARLY)
    parents = {name: node.get("parent") for name, node in known.items()}
    branch = find_branch(parents, leaf) if len(known) == len(nodes) else []
    if branch:
        return [known[name] for name in branch]
    return sorted(nodes, key=lambda node: _said_at(node) or _LATE)


def _said_at(node: dict[str, Any]) -> datetime | None:
    return moment_of(mapping_of(node.get("message")).get("create_time"))


def _read_message(message: Mapping[str, Any], report: ReadReport) -> Turn | None:
    speaker = text_of(mapping_of(message.get("author")).get("role")) or "unknown"
    metadata = mapping_of(message.get("metadata"))
    if metadata.get("is_visually_hidden_from_conversation"):
        report.dropped["hidden"] += 1
        return None
    if speaker in ("system", "developer", "tool"):
        report.dropped[speaker] += 1
        return None
    if speaker == "assistant" and message.get("recipient") not in ("all", None, ""):
        report.dropped["tool"] += 1
        return None
    parts = [*_read_content(mapping_of(message.get("content")), report)]
    parts.append(name_attachments(list_of(metadata.get("attachments")), report))
    text = join_texts(parts)
    return Turn(speaker, text, moment_of(message.get("create_time"))) if text else None


def _read_content(content: Mapping[str, Any], report: ReadReport) -> Iterator[str]:
    kind = content.get("content_type")
    if kind == "code":
        language = text_of(content.get("language"))
        fence = "" if language in ("unknown", "text") else language
        if code := text_of(content.get("text")):
            yield f"```{fence}\n{code}\n```"
    elif kind in ("text", "multimodal_text"):
        for part in list_of(content.get("parts")) or [content.get("text")]:
            fields = mapping_of(part)
            if not fields:
                yield _without_citations(text_of(part))
            elif fields.get("content_type") == "audio_transcription":
                yield text_of(fields.get("text"))
            else:
                count_part(report, fields.get("content_type"))
    elif content:
        count_part(report, kind)


def _without_citations(text: str) -> str:
    """Leave out marks that point into search results; of a mark for a thing keep its name."""

    def name(found: re.Match[str]) -> str:
        named = _NAMED.match(found[2]) if found[1] == "entity" else None
        return named[1] if named else ""

    return _BRACKETED.sub("", _CITED.sub(name, text))
