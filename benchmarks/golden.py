"""Question and note pairs that people keep in Markdown tables, and copies of their notes."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from benchmarks.datasets.reading import read_table
from memory_palace.errors import UsageError
from memory_palace.palace import Palace
from memory_palace.places import PALACE


@dataclass(frozen=True, slots=True)
class Pair:
    """A question and the note that answers it best."""

    question: str
    path: str
    shares_rare_word: bool = False


def read_pairs(path: Path) -> list[Pair]:
    """Read the table of a golden file; raise ``UsageError`` where there is none."""
    rows = read_table(path, "question", "note", "shares a rare word")
    return [Pair(question, note, shared == "yes") for question, note, shared in rows]


def copy_vault(vault: Path, root: Path) -> str:
    """Copy a folder of notes into a room of a new palace; return their path prefix there."""
    room = "project_rooms/vault"
    if not vault.is_dir():
        raise UsageError(f"{vault} is not a folder")
    Palace.init(root)
    shutil.copytree(vault, root / PALACE / room, dirs_exist_ok=True)
    return f"{PALACE}/{room}/"
