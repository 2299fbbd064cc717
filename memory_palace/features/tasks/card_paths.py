"""Paths and links that inputs and outputs of a task card name, and whether they exist."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from urllib.parse import unquote

from memory_palace.config import Rooms
from memory_palace.markdown.links import WIKI_LINK
from memory_palace.notes.parsing import find_links

_CODE = re.compile(r"`([^`\n]++)`")
_MARKDOWN = re.compile(r"\]\(<?([^()<>\n]*(?:\([^()\n]*\)[^()<>\n]*)?)>?\)")
_BETWEEN = re.compile(r" (?:[-–—(→]|->)|[,;:](?: +|\Z)")
"""The end of a path: another one follows, or a remark."""
_SUFFIX = re.compile(r"[\w*)\]]\.[A-Za-z][A-Za-z0-9]{0,7}\Z")
_GLOB = re.compile(r"[*?]")
_MOST_MATCHES = 1000
"""Files that a pattern is compared with before it is given up."""


def target_of_item(item: str, rooms: Rooms) -> tuple[str, bool]:
    """Return what an input or output item names first, and whether it is a link.

    A path may start at the root, at ``palace/`` in a classic palace, or with the name of a room.
    """
    links = find_links(item)
    if links:
        return links[0].target, True
    named = paths_of_item(item)
    return path_in_rooms(named[0] if named else item.strip("` "), rooms), False


def path_in_rooms(path: str, rooms: Rooms) -> str:
    """Return a path below the notes as it is below the root, with the folder of its room."""
    room, _, below = path.partition("/")
    if below and room in rooms.folders.values():
        return rooms.path_of(path)
    return path if path.startswith(rooms.prefix) else f"{rooms.prefix}{path}"


def links_of_item(item: str) -> list[str]:
    """Return the wiki links of an item, without what they show and the heading."""
    found = (match[1].replace("\\|", "|").partition("|")[0] for match in WIKI_LINK.finditer(item))
    return [target.partition("#")[0].strip() for target in found]


def paths_of_item(item: str) -> list[str]:
    """Return the paths that an item names besides wiki links.

    Those of its Markdown links and code; else what looks like a path up to a comma or a remark.
    """
    rest = WIKI_LINK.sub(" ", item).strip(" '\"")
    found = [unquote(match[1].partition(' "')[0]) for match in _MARKDOWN.finditer(rest)]
    found += [match[1] for match in _CODE.finditer(rest) if _is_path(match[1])]
    found = found or list(filter(_is_path, _BETWEEN.split(rest)))
    paths = (path.strip().strip("'\"`").replace("\\", "/") for path in found if "://" not in path)
    return [path.removeprefix("./") for path in paths if path]


def path_exists(path: str, bases: Sequence[Path], root: Path) -> bool:
    """Say whether something lies at a path, or fits it as a pattern, below the root.

    A path starts at one of ``bases``, and may end with a heading. An absolute one is taken as
    written.
    """
    if path.startswith(("/", "~/")):
        return _lies(Path(path).expanduser())
    spellings = dict.fromkeys((path, path.partition("#")[0]))
    places = ((base / part).resolve() for base in bases for part in spellings)
    if any(place.is_relative_to(root) and _lies(place) for place in places):
        return True
    if not _GLOB.search(path) or ".." in path.split("/"):
        return False
    return any(
        found.resolve().is_relative_to(root)
        for base in bases
        for found in islice(base.glob(path), _MOST_MATCHES)
    )


def _lies(place: Path) -> bool:
    try:
        return place.exists()
    except OSError:  # a name that no file can have
        return False


def _is_path(text: str) -> bool:
    """Whether a text may be a path: it ends like a file, or is one word with a slash in it."""
    text = text.strip()
    return bool(_SUFFIX.search(text)) or (
        not re.search(r"\s", text) and bool(re.search(r"[/\\]", text))
    )
