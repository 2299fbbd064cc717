"""The graph of the MCP memory server: `memory.json`, or `memory.jsonl`.

Shape: modelcontextprotocol/servers, `src/memory/index.ts` (2026): a line for each ``{type: entity,
name, entityType, observations[]}`` and ``{type: relation, from, to, relationType}``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from memory_palace.features.importing.formats.files import list_of, open_export, read_lines, text_of
from memory_palace.features.importing.items import ImportedNote, ImportReport
from memory_palace.notes.frontmatter import write_front_matter

_IN_LINKS = re.compile(r"[\[\]|#^\n]+")
_FOLDERS = re.compile(r"[/\\\n]+")


@dataclass(slots=True)
class _Entity:
    kind: str
    lines: list[str] = field(default_factory=list)


def read(path: Path, report: ImportReport) -> Iterator[ImportedNote]:
    """Yield a note per entity: its observations, then its relations as links.

    The whole graph is kept in memory, since a relation may come anywhere.
    """
    entities: dict[str, _Entity] = {}
    relations: list[tuple[str, str, str]] = []
    with open_export(path) as files:
        for file in files:
            for entry in read_lines(file, report) if file.suffix in (".json", ".jsonl") else ():
                keys = ("name", "entityType", "from", "relationType", "to")
                name, kind, source, relation, target = (
                    text_of(entry.get(key)).strip() for key in keys
                )
                if source and target:
                    relations.append((source, relation, target))
                elif name:
                    said = map(text_of, list_of(entry.get("observations")))
                    lines = (text.strip().replace("\n", "\n  ") for text in said)
                    entities.setdefault(name, _Entity(kind)).lines += filter(None, lines)
                else:
                    report.leave_out("other")
    for source, relation, target in relations:
        if source in entities:
            shown = _IN_LINKS.sub(" ", target).strip()
            link = f"[[{shown}]]" if target in entities and shown else shown
            entities[source].lines.append(f"{relation} {link}".strip())
    for name, entity in entities.items():
        fields = {"title": name, "type": entity.kind or None, "source": "memory-json"}
        head = write_front_matter({**fields, "source_id": name})
        body = "".join(f"- {line}\n" for line in entity.lines)
        folder, file_name = (_FOLDERS.sub("-", part) for part in (entity.kind, name))
        hint = f"{folder}/{file_name}.md".lstrip("/")
        yield ImportedNote(name, hint, f"{head}{body}".encode())
