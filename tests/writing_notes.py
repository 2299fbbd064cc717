"""Notes of a test, written into its folder."""

from collections.abc import Mapping
from pathlib import Path

from memory_palace import Palace
from memory_palace.config import PalacePaths


def write_notes(root: Path, notes: Mapping[str, str]) -> Path:
    """Write each text to its path below a folder; return the folder."""
    for path, text in notes.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    return root


def read_state(paths: PalacePaths) -> dict[str, bytes]:
    """Return the bytes of every note below the root of a palace."""
    root = paths.root
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*.md")}


def index_notes(root: Path, notes: Mapping[str, str], *, embedder: str = "hashing") -> Palace:
    """Take a folder with these notes as it stands, and index it; return the palace."""
    write_notes(root, notes)
    palace = Palace.init(root, here=True)
    palace.index(embedder=embedder)
    return palace
