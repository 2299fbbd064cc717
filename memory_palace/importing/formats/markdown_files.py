"""Markdown files of an export, given byte for byte."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from memory_palace.importing.formats.export_files import ExportFile, read_whole, report_broken
from memory_palace.importing.items import ImportedNote, ReadReport

SUFFIXES = (".md", ".markdown")
_LIMIT_BYTES = 16 << 20


def read_notes(files: Iterable[ExportFile], report: ReadReport) -> Iterator[ImportedNote]:
    """Give each Markdown file; its path is its identity.

    When a file was changed is no date of it: a copy has another. What holds a zero byte is no text,
    and reported.
    """
    for file in files:
        if file.path.suffix.lower() not in SUFFIXES:
            continue
        data = read_whole(file, report, limit_bytes=_LIMIT_BYTES)
        if data is None:
            continue
        if b"\0" in data[:8192]:
            report_broken(report, file.name, "byte 0", "is no text")
            continue
        yield ImportedNote(file.name, file.name, file.path.stem, data)
