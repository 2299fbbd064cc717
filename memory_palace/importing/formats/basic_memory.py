"""A project of basic-memory: Markdown notes with a `permalink`, which stay as they are.

Shape: basicmachines-co/basic-memory, `docs/NOTE-FORMAT.md` (0.22, 2026): front matter ``title,
type, tags, permalink``; observations ``- [category] text #tag (context)``; relations
``- relation_type [[Target]] (context)``. Other readers of Markdown see list items and links.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from memory_palace.importing.formats.export_files import open_export
from memory_palace.importing.formats.fields import moment_of, text_of
from memory_palace.importing.formats.markdown_files import SUFFIXES, read_notes
from memory_palace.importing.items import ImportedNote, ReadReport
from memory_palace.notes.frontmatter import split_front_matter


def read(path: Path, report: ReadReport) -> Iterator[ImportedNote]:
    """Give each note, byte for byte, by its permalink: it stays when the file moves."""
    given: set[str] = set()
    with open_export(path, report) as files:
        report.dropped["attachment"] += sum(
            1 for file in files if file.path.suffix.lower() not in SUFFIXES
        )
        for note in read_notes(files, report):
            text = note.data.decode("utf-8-sig", "replace").replace("\r\n", "\n")
            values = split_front_matter(text).values
            permalink = text_of(values.get("permalink")).strip()
            identity = permalink if permalink and permalink not in given else note.source_id
            given.add(identity)
            title = text_of(values.get("title")).strip() or note.title
            date = moment_of(str(values.get("created", "")))
            yield replace(note, source_id=identity, title=title, date=date)
