"""The effective type, priority and date of a note, from everyone who may say them."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass

from memory_palace.index.segment import PRIORITIES, SOURCES
from memory_palace.models import NoteDate
from memory_palace.notes.manifest import ManifestEntry
from memory_palace.notes.rooms import default_type

_GIT, _MTIME = SOURCES.index("git"), SOURCES.index("mtime")


@dataclass(frozen=True, slots=True)
class Authorities:
    """Who is asked beside the note itself."""

    manifest: Mapping[str, ManifestEntry]
    """By NFC path."""
    git_times: Mapping[str, float]
    """Last commit of tracked and clean notes that have no date of their own."""

    def line_of(self, path: str) -> ManifestEntry | None:
        """Return a note's manifest line."""
        return self.manifest.get(unicodedata.normalize("NFC", path))

    def type_of(self, path: str, own: str) -> str:
        """Front matter, then the manifest line, then the room's default."""
        line = self.line_of(path)
        return own or (line.type if line and line.type else default_type(path))

    def priority_of(self, path: str, own: int) -> int:
        """Front matter, then the manifest line, else none."""
        line = self.line_of(path)
        return own or (PRIORITIES.index(line.priority) if line and line.priority else 0)

    def date_of(self, path: str, own: NoteDate | None) -> tuple[float, int]:
        """Return a date and its source; for mtime the stat record holds the date."""
        if own is not None:
            return own.timestamp, SOURCES.index(own.source)
        if path in self.git_times:
            return self.git_times[path], _GIT
        return 0.0, _MTIME
