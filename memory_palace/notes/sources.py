"""The sources of one palace: folders outside it, which only the user's own configuration names."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from memory_palace.config import NoteSource, PalacePaths
from memory_palace.errors import ConfigError
from memory_palace.places import registry_path
from memory_palace.system import read_file


def sources_path() -> Path:
    """Return the path of the list of sources, beside the registry; of no file without a home."""
    return Path(registry_path() or os.devnull).with_name("sources.json")


def read_sources(root: Path) -> tuple[NoteSource, ...]:
    """Return the sources of the palace at a root; none unless the list is this palace's.

    Raise ``ConfigError`` for a malformed list: without it all notes of its palace would be gone.
    """
    path = sources_path()
    try:
        values = json.loads(read_file(path))
        if values["palace"] != os.path.realpath(root):
            return ()
        return tuple(
            NoteSource(str(prefix), str(one["folder"]), tuple(map(str, one["notes"])))
            for prefix, one in values["sources"].items()
        )
    except (FileNotFoundError, NotADirectoryError):
        return ()
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        message = f"{path} cannot be read ({error}); mend it, or delete it to search no source"
        raise ConfigError(message) from error


@dataclass(frozen=True, slots=True)
class SourceNotes:
    """The number of notes of a source."""

    prefix: str
    folder: str
    notes: int

    def __str__(self) -> str:
        return f"{self.prefix:<18} {self.notes:>6,}  {self.folder}"


def count_notes(paths: PalacePaths, names: Iterable[str]) -> tuple[SourceNotes, ...]:
    """Return the number of notes of each source, by the paths of a palace's notes."""
    found = Counter(paths.source_of(name) for name in names) if paths.sources else Counter()
    return tuple(SourceNotes(one.prefix, one.folder, found[one]) for one in paths.sources)
