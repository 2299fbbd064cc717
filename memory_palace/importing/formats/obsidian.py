"""A vault of Obsidian, or any folder or .zip of Markdown notes: they stay as they are.

Shape: Obsidian's help, "How Obsidian stores data" and "Templates" (1.9, 2026): Markdown files;
`.obsidian` holds the settings, in `templates.json` the folder of templates, and `.trash` what was
deleted. Tags, aliases and links are in the notes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path, PurePosixPath

from memory_palace.importing.formats.export_files import ExportFile, open_export
from memory_palace.importing.formats.fields import mapping_of, text_of
from memory_palace.importing.formats.markdown_files import SUFFIXES, read_notes
from memory_palace.importing.items import ImportedNote, ReadReport
from memory_palace.notes.ignoring import is_unwanted

_SETTINGS = (
    (".obsidian/templates.json", "folder"),
    (".obsidian/plugins/templater-obsidian/data.json", "templates_folder"),
)


def read(path: Path, report: ReadReport) -> Iterator[ImportedNote]:
    """Give each note, byte for byte; templates are left out, attachments counted."""
    templates = [folder for folder in _find_templates(path) if folder.parts]
    with open_export(path, report) as files:
        yield from read_notes((file for file in files if _is_note(file, templates, report)), report)


def _is_note(file: ExportFile, templates: list[PurePosixPath], report: ReadReport) -> bool:
    if file.path.suffix.lower() not in SUFFIXES:
        report.dropped["attachment"] += 1
        return False
    is_template = any(file.path.is_relative_to(folder) for folder in templates) or any(
        is_unwanted(part, is_folder=True) for part in file.path.parts[:-1]
    )
    report.dropped["template"] += is_template
    return not is_template


def _find_templates(path: Path) -> Iterator[PurePosixPath]:
    """Give the folders that the vault's settings name; in an archive they are not looked at."""
    for name, key in _SETTINGS:
        with suppress(OSError, ValueError, RecursionError):
            settings = json.loads((path / name).read_bytes())
            yield PurePosixPath(text_of(mapping_of(settings).get(key)).strip("/"))
