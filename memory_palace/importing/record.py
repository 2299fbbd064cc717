"""What was imported, and where it went: a log among the sources of truth.

Without it a note that somebody deleted would come back with the next import.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from memory_palace.config import PalacePaths
from memory_palace.storage.logs import read_records

LOG = "imports.jsonl"


@dataclass(frozen=True, slots=True)
class Imported:
    """A conversation or note as it was last imported."""

    source: str
    identity: str
    """Its id in the source; of a file also the folder it went into, for two vaults may share it."""
    path: str
    """Of its note, or of the last of its notes."""
    digest: str
    """Of what the export had."""
    written: str
    """SHA-256 of the note's bytes; empty where somebody else wrote them."""
    turns: int = 0
    part: int = 1

    @property
    def key(self) -> tuple[str, str]:
        """What it is found by."""
        return self.source, self.identity


def read_imported(paths: PalacePaths) -> dict[tuple[str, str], Imported]:
    """Return what was imported, by source and id; the last line of each counts."""
    found = (_parse(record) for record in read_records(paths.logs / LOG))
    return {one.key: one for one in found if one is not None}


def _parse(record: dict[str, Any]) -> Imported | None:
    try:
        one = Imported(**record)
    except TypeError:
        return None
    texts = (one.source, one.identity, one.path, one.digest, one.written)
    counts = (one.turns, one.part)
    is_whole = all(isinstance(t, str) for t in texts) and all(type(n) is int for n in counts)
    return one if is_whole else None
