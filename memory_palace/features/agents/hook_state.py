"""What a session was told, and how far a transcript was read: small files beside the index."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from memory_palace.features.agents.hook_log import make_own_folder
from memory_palace.models import Hit, Piece
from memory_palace.storage.atomic import write_atomic

FOLDER = "hooks"
_MOST_TOLD = 2_000
_MOST_SESSIONS = 200
_OLDEST_SECONDS = 30 * 86_400


@dataclass(frozen=True, slots=True)
class SessionState:
    """What is known of one session, or of one transcript."""

    told: tuple[str, ...] = ()
    """Marks of the sentences that were told, oldest first; no text."""
    offset: int = 0
    """Bytes of a transcript that were read."""


def mark_piece(hit: Hit, piece: Piece) -> str:
    """Return what tells a sentence of a note from any other; it changes with the sentence."""
    return mark_text(f"{hit.path}\n{' '.join(piece.text.split())}")


def mark_text(text: str) -> str:
    """Return a short digest of a text."""
    return sha256(text.encode("utf-8", "replace")).hexdigest()[:12]


def read_state(index: Path, session: str) -> SessionState:
    """Return what is known of a session; nothing where the file is gone or no longer whole."""
    if not session:
        return SessionState()
    try:
        record = json.loads(_file(index, session).read_bytes())
        told, offset = record["told"], record["offset"]
        if isinstance(told, list) and isinstance(offset, int) and offset >= 0:
            return SessionState(tuple(map(str, told)), offset)
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        pass
    return SessionState()


def write_state(index: Path, session: str, state: SessionState) -> None:
    """Keep what is known of a session; the files of old ones go.

    Where nothing can be written (a full disk, an index of somebody else) nothing is: to be told
    something twice is better than not to be told.
    """
    folder = index / FOLDER
    record = {"told": state.told[-_MOST_TOLD:], "offset": state.offset}
    try:
        if session and make_own_folder(index) and make_own_folder(folder):
            if not _file(index, session).exists():
                _sweep(folder.glob("*.json"))
            write_atomic(_file(index, session), json.dumps(record).encode())
    except OSError:
        return


def _file(index: Path, session: str) -> Path:
    return index / FOLDER / f"{session}.json"


def _sweep(files: Iterable[Path]) -> None:
    aged = sorted(((file.stat().st_mtime, file) for file in files), reverse=True)
    too_old = time.time() - _OLDEST_SECONDS
    for place, (written, file) in enumerate(aged, start=1):
        if place >= _MOST_SESSIONS or written < too_old:
            file.unlink(missing_ok=True)
