"""A vault of Obsidian, or any folder or .zip of Markdown notes: they stay as they are.

Shape: Obsidian's help, "How Obsidian stores data" and "Templates" (1.9, 2026): Markdown files;
`.obsidian` holds the settings, in `templates.json` the folder of templates, and `.trash` what was
deleted. Tags, aliases and links are in the notes.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from memory_palace.importing.formats.export_files import ExportFile, open_export
from memory_palace.importing.formats.markdown_files import SUFFIXES, read_notes
from memory_palace.importing.items import ImportedNote, ReadReport
from memory_palace.notes.ignoring import find_templates, fold_path, is_unwanted


def read(path: Path, report: ReadReport) -> Iterator[ImportedNote]:
    """Give each note, byte for byte; templates are left out, attachments counted."""
    templates = list(find_templates(path))  # in an archive they are not looked at
    with open_export(path, report) as files:
        yield from read_notes((file for file in files if _is_note(file, templates, report)), report)


def _is_note(file: ExportFile, templates: list[str], report: ReadReport) -> bool:
    if file.path.suffix.lower() not in SUFFIXES:
        report.dropped["attachment"] += 1
        return False
    path = fold_path(str(file.path))
    is_template = any(f"{path}/".startswith(f"{name}/") for name in templates) or any(
        is_unwanted(part, is_folder=True) for part in file.path.parts[:-1]
    )
    report.dropped["template"] += is_template
    return not is_template
