"""The graph of the MCP memory server: `memory.json`, or `memory.jsonl`.

Shape: modelcontextprotocol/servers, `src/memory/index.ts` (2026): a line for each ``{type: entity,
name, entityType, observations[]}`` and ``{type: relation, from, to, relationType}``. Accepted too:
one object ``{entities[], relations[]}``, as the server's tool `read_graph` answers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memory_palace.features.importing.formats.fields import (
    FOLDERS,
    list_of,
    mapping_of,
    moment_of,
    text_of,
)
from memory_palace.features.importing.formats.files import open_export, report_broken
from memory_palace.features.importing.formats.json_entries import read_objects
from memory_palace.features.importing.items import ImportedNote, ReadReport

_IN_LINKS = re.compile(r"[\[\]|#^\n]+")


@dataclass(slots=True)
class _Entity:
    kind: str = ""
    observations: list[str] = field(default_factory=list)
    relations: list[tuple[str, str]] = field(default_factory=list)
    created: str = ""


def read(path: Path, report: ReadReport) -> Iterator[ImportedNote]:
    """Give a note for each entity: its observations, and its relations as links.

    A graph is held whole: a relation may come anywhere.
    """
    entities: dict[str, _Entity] = {}
    relations: list[tuple[str, str, str]] = []
    with open_export(path, report) as files:
        for file in files:
            if file.path.suffix.lower() not in (".json", ".jsonl"):
                continue
            for position, entry in read_objects(file, report):
                parts = [*list_of(entry.get("entities")), *list_of(entry.get("relations"))]
                is_graph = "entities" in entry or "relations" in entry
                for part in map(mapping_of, parts if is_graph else [entry]):
                    if not _add(part, entities, relations):
                        reason = "is neither an entity nor a relation"
                        report_broken(report, file.name, position, reason)
    for source, kind, target in relations:
        if source in entities:
            entities[source].relations.append((kind, target))
        else:
            report.dropped["relation of no entity"] += 1
    for name, entity in entities.items():
        yield _make_note(name, entity, entities)


def _add(
    entry: Mapping[str, Any], entities: dict[str, _Entity], relations: list[tuple[str, str, str]]
) -> bool:
    """Add an entity or a relation; return whether the entry is one."""
    source = text_of(entry.get("from") or entry.get("from_id")).strip()
    target = text_of(entry.get("to") or entry.get("to_id")).strip()
    kind = text_of(entry.get("relationType") or entry.get("relation_type")).strip()
    name = text_of(entry.get("name") or entry.get("entityName")).strip()
    if source and target:
        relations.append((source, kind or "relates_to", target))
    elif name:
        entity = entities.setdefault(name, _Entity())
        entity.kind = entity.kind or text_of(entry.get("entityType")).strip()
        entity.created = entity.created or text_of(entry.get("createdAt"))
        for value in list_of(entry.get("observations")):
            text = text_of(value) or text_of(mapping_of(value).get("content"))
            if text.strip() and text not in entity.observations:
                entity.observations.append(text)
    return bool((source and target) or name)


def _make_note(name: str, entity: _Entity, known: Mapping[str, _Entity]) -> ImportedNote:
    lines = ["- " + text.strip().replace("\n", "\n  ") for text in entity.observations]
    if entity.relations:
        lines += ["", "## Relations", ""] if lines else ["## Relations", ""]
        for kind, target in entity.relations:
            shown = _IN_LINKS.sub(" ", target).strip()
            link = f"[[{shown}]]" if target in known and shown else shown
            lines.append(f"- {kind} {link}")
    folder = FOLDERS.sub("-", entity.kind)
    hint = f"{folder}/{FOLDERS.sub('-', name)}.md".lstrip("/")
    data = "\n".join((*lines, "")).encode()
    fields = {"type": entity.kind} if entity.kind else {}
    return ImportedNote(name, hint, name, data, moment_of(entity.created), fields)
