"""What Tab completes: notes, folders, tags, rooms, profiles, palaces, read from the index.

No model is loaded and nothing is said: a palace without an index completes nothing.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from memory_palace.errors import PalaceError
from memory_palace.places import PALACE


def complete_names(kind: str, ctx: Any, incomplete: str) -> list[str]:
    """Return the names of a kind that begin as ``incomplete`` does, in order."""
    try:
        found = {name for name in _KINDS[kind](ctx, incomplete) if name.startswith(incomplete)}
    except (PalaceError, OSError, ValueError):
        return []  # Tab is no place for an error; the command itself will tell
    return sorted(map(_quote, found))


def _quote(name: str) -> str:
    """Return a name as bash takes it: escaped, unless the word began with a quote."""
    words = os.environ.get("COMP_WORDS", "").split("\n")
    place = int(os.environ.get("COMP_CWORD", "0"))
    is_bash = os.environ.get("_PALACE_COMPLETE") == "complete_bash"
    if not is_bash or (place < len(words) and words[place].startswith(("'", '"'))):
        return name
    return re.sub(r"([^\w@%+=:,./~-])", r"\\\1", name)


def _snapshot(ctx: Any) -> Any:
    from memory_palace.cli.options import open_palace

    return open_palace(ctx).snapshot()


def _notes(ctx: Any, incomplete: str) -> Iterator[str]:
    """Yield file names; paths where a folder was begun, titles where a word was."""
    snapshot = _snapshot(ctx)
    for path, title, hidden in zip(snapshot.paths, snapshot.titles, snapshot.private, strict=True):
        if "/" in incomplete:
            yield path
        elif not hidden:
            yield path.rpartition("/")[2].rpartition(".")[0]
            if incomplete:
                yield title


def _in_room(room: str) -> Callable[[Any, str], Iterator[str]]:
    """Return what yields the file names of a room's notes."""

    def names(ctx: Any, incomplete: str) -> Iterator[str]:
        snapshot = _snapshot(ctx)
        for path, name in zip(snapshot.paths, snapshot.rooms, strict=True):
            if name == room:
                yield path.rpartition("/")[2].rpartition(".")[0]

    return names


def _folders(ctx: Any, incomplete: str) -> Iterator[str]:
    for path in _snapshot(ctx).paths:
        parts = path.split("/")[:-1]
        yield from ("/".join(parts[: end + 1]) for end in range(len(parts)))
        if parts[:1] == [PALACE]:  # it may be left out
            yield from ("/".join(parts[1 : end + 1]) for end in range(1, len(parts)))


def _tags(ctx: Any, incomplete: str) -> Iterator[str]:
    mark = "#" if incomplete.startswith("#") else ""
    for tags in _snapshot(ctx).shown_tags:
        yield from (mark + tag for tag in tags)


def _rooms(ctx: Any, incomplete: str) -> Iterator[str]:
    from memory_palace.config import ROOMS

    yield from ROOMS


def _profiles(ctx: Any, incomplete: str) -> Iterator[str]:
    from memory_palace.ranking import SHIPPED
    from memory_palace.signals import extensions

    yield from (*SHIPPED, *(name for each in extensions() for name in each.profiles))


def _palaces(ctx: Any, incomplete: str) -> Iterator[str]:
    """Yield registered names, and folders where a path was begun."""
    from memory_palace.cli.registry import read_registry

    yield from read_registry().palaces
    folder, slash, _ = incomplete.rpartition("/")
    with os.scandir(os.path.expanduser(folder + slash or ".")) as entries:  # noqa: PTH111
        yield from (f"{folder}{slash}{entry.name}/" for entry in entries if entry.is_dir())


_KINDS: Mapping[str, Callable[[Any, str], Iterator[str]]] = {
    "notes": _notes,
    "cards": _in_room("dispatch_corridor"),
    "conflicts": _in_room("conflict_room"),
    "folders": _folders,
    "tags": _tags,
    "rooms": _rooms,
    "profiles": _profiles,
    "palaces": _palaces,
}
