"""Notes of a test, written into its folder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path


def write_notes(root: Path, notes: Mapping[str, str]) -> Path:
    """Write each text to its path below a folder; return the folder."""
    for path, text in notes.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    return root
