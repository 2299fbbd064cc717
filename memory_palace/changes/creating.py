"""Write a new note. An existing file is never touched."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

import yaml

from memory_palace.config import PALACE
from memory_palace.errors import UsageError
from memory_palace.storage.atomic import write_new

_UNSAFE = re.compile(r'[\x00-\x1f/\\:*?"<>|#^\[\]]+')


def create_note(
    root: Path,
    title: str,
    *,
    room: str,
    now: datetime,
    type: str | None = None,
    priority: str | None = None,
    tags: Sequence[str] = (),
) -> str:
    """Create ``palace/<room>/<title>.md`` and return its path relative to the root.

    Raise ``UsageError`` where the file exists, or where ``name_note`` does.
    """
    path = name_note(root, title, room=room)
    matter: dict[str, object] = {"title": title, "date": now.date()}
    matter |= {k: v for k, v in (("type", type), ("priority", priority)) if v}
    if tags:
        matter["tags"] = list(tags)
    block = yaml.safe_dump(matter, sort_keys=False, allow_unicode=True)
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    try:
        write_new(root / path, f"---\n{block}---\n\n# {title}\n\n".encode())
    except FileExistsError:
        raise UsageError(f"{path} exists already; choose another title or edit it") from None
    return path


def name_note(root: Path, title: str, *, room: str) -> str:
    """Return the path of a new note, relative to the root; ``room`` may name a folder inside one.

    Raise ``UsageError`` where ``note_path`` does, or the path leads out of the palace.
    """
    path = note_path(title, room=room)
    if ".." in path.split("/") or not (root / path).resolve().is_relative_to(root.resolve()):
        raise UsageError(f"{path} is outside the palace")
    return path


def note_path(title: str, *, room: str) -> str:
    """Return where a note of this title belongs, relative to the root.

    Raise ``UsageError`` where the title leaves nothing to name a file by.
    """
    name = " ".join(_UNSAFE.sub(" ", title).split()).strip(". ")
    if not name:
        raise UsageError(f"a file cannot be named after {title!r}; give it a title with letters")
    return f"{PALACE}/{room}/{name}.md"
