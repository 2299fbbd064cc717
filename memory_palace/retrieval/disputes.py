"""Which notes are party to an open conflict: asked by every query, so it seldom loads YAML."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from memory_palace.config import PalacePaths
from memory_palace.models import Hit

_HEAD_BYTES = 8192
_OPEN = re.compile(r"^status:[ \t]*[\"']?open[\"']?[ \t]*$", re.MULTILINE)
_PARTIES = re.compile(
    r"^parties:[ \t]*(?:\[(.*?)\][ \t]*$|((?:\n[ \t]*-[ \t]+[^\n]*)+))", re.M | re.S
)


def mark_disputed(paths: PalacePaths, hits: Sequence[Hit]) -> list[Hit]:
    """Return the hits, those that are party to an open conflict with its path."""
    found = find_disputes(paths)
    if not found:
        return list(hits)
    return [replace(hit, disputed_in=found[hit.path]) if hit.path in found else hit for hit in hits]


def find_disputes(paths: PalacePaths) -> dict[str, tuple[str, ...]]:
    """Return the open conflicts of every note that is party to one."""
    disputes: dict[str, tuple[str, ...]] = {}
    rooms = paths.rooms.folders.items()
    folders = [paths.root / folder for folder, room in rooms if room == "conflict_room"]
    files = {file for folder in folders if folder.is_dir() for file in folder.glob("**/*.md")}
    for file in sorted(files):
        for party in _open_parties(file):
            disputes[party] = (*disputes.get(party, ()), paths.shown(file))
    return disputes


def _open_parties(file: Path) -> list[str]:
    try:
        with file.open("rb") as opened:
            text = opened.read(_HEAD_BYTES).decode("utf-8", "replace").replace("\r\n", "\n")
    except OSError:
        return []  # it vanished, or it may not be read: the index names it
    head = text.partition("\n---\n")[0] if text.startswith("---\n") else ""
    parties = _PARTIES.search(head) if _OPEN.search(head) else None
    if parties is None:
        return []
    if any(mark in parties[0] for mark in "\"'&*!|>"):
        return _parse(head)
    if parties[2] is None:
        items = parties[1].replace("\n", " ").split(",")
    else:
        items = [line.strip()[1:] for line in parties[2].strip().split("\n")]
    return [item.strip() for item in items if item.strip()]


def _parse(head: str) -> list[str]:
    """Read parties that are quoted, or otherwise not plain, as YAML."""
    from memory_palace.notes.frontmatter import split_front_matter  # delayed: it imports YAML

    parties = split_front_matter(f"{head}\n---\n").values.get("parties")
    return [str(party) for party in parties] if isinstance(parties, list) else []
