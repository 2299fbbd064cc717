"""Completion of notes, folders, tags, rooms, profiles and palaces, read from the index.

No model is loaded and nothing is said: a palace without an index completes nothing.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from memory_palace.config import ROOMS
from memory_palace.errors import PalaceError
from memory_palace.places import PALACE
from memory_palace.signals import SHIPPED


def complete_names(kind: str, ctx: Any, incomplete: str) -> list[str]:
    """Return the sorted names of a kind that start with ``incomplete``."""
    try:
        found = {name for name in _KINDS[kind](ctx, incomplete) if name.startswith(incomplete)}
    except (PalaceError, OSError, ValueError):
        return []  # completion shows no errors; the command reports them
    return sorted(map(_quote, found))


def _quote(name: str) -> str:
    """Return a name escaped for bash, unless the word starts with a quote."""
    words = os.environ.get("COMP_WORDS", "").split("\n")
    place = int(os.environ.get("COMP_CWORD", "0"))
    is_bash = os.environ.get("_PALACE_COMPLETE") == "complete_bash"
    if not is_bash or (place < len(words) and words[place].startswith(("'", '"'))):
        return name
    return re.sub(r"([^\w@%+=:,./~-])", r"\\\1", name)


def _snapshot(ctx: Any) -> Any:
    from memory_palace.cli.group import open_palace

    return open_palace(ctx).snapshot()


def _notes(ctx: Any, incomplete: str, room: str = "") -> Iterator[str]:
    """Yield the stems of notes, optionally of one room; paths if a folder was typed."""
    snapshot = _snapshot(ctx)
    rows = zip(snapshot.paths, snapshot.rooms, snapshot.private, strict=True)
    for path, found, hidden in rows:
        if "/" in incomplete:
            yield path
        elif not hidden and room in ("", found):
            yield path.rpartition("/")[2].rpartition(".")[0]


def _folders(ctx: Any, incomplete: str) -> Iterator[str]:
    for path in _snapshot(ctx).paths:
        parts = path.split("/")[:-1]
        yield from ("/".join(parts[: end + 1]) for end in range(len(parts)))
        if parts[:1] == [PALACE]:  # the prefix is optional
            yield from ("/".join(parts[1 : end + 1]) for end in range(1, len(parts)))


def _tags(ctx: Any, incomplete: str) -> Iterator[str]:
    mark = "#" if incomplete.startswith("#") else ""
    for tags in _snapshot(ctx).shown_tags:
        yield from (mark + tag for tag in tags)


def _palaces(ctx: Any, incomplete: str) -> Iterator[str]:
    """Yield registered names, and subfolders of the typed path."""
    from memory_palace.cli.registry import read_registry

    yield from read_registry().palaces
    folder, slash, _ = incomplete.rpartition("/")
    with os.scandir(os.path.expanduser(folder + slash or ".")) as entries:  # noqa: PTH111
        yield from (f"{folder}{slash}{entry.name}/" for entry in entries if entry.is_dir())


_KINDS: Mapping[str, Callable[[Any, str], Iterator[str]]] = {
    "notes": _notes,
    "cards": partial(_notes, room="dispatch_corridor"),
    "conflicts": partial(_notes, room="conflict_room"),
    "folders": _folders,
    "tags": _tags,
    "rooms": lambda ctx, incomplete: iter(ROOMS),
    "profiles": lambda ctx, incomplete: iter(SHIPPED),
    "palaces": _palaces,
}
