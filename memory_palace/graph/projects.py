"""Which projects are being worked on: what "our" and "it" stand for where nothing else says."""

from __future__ import annotations

import numpy as np

from memory_palace.index.snapshot import Snapshot
from memory_palace.notes.note import stem_of

PROJECTS = "project_rooms"
_CARDS = ("dispatch_corridor/active/", "dispatch_corridor/blocked/")


def active_projects(snapshot: Snapshot) -> tuple[str, ...]:
    """Return the project folders that open task cards link into, in path order.

    Where no card links into any, it is the folder with the newest note.
    """
    folders: dict[str, list[int]] = {}
    for place, path in enumerate(snapshot.paths):
        below = snapshot.room_map.place_of(path).split("/")
        if below[0] == PROJECTS and len(below) > 2 and not snapshot.cold[place]:
            folder = "/".join(path.split("/")[: 2 - len(below)]) + "/"
            folders.setdefault(folder, []).append(place)
    named = _named_by_cards(snapshot, folders)
    if named or not folders:
        return tuple(sorted(named))
    dates = snapshot.told_dates
    newest = {folder: float(np.max(dates[places])) for folder, places in folders.items()}
    return (min(newest, key=lambda folder: (-newest[folder], folder)),)


def _named_by_cards(snapshot: Snapshot, folders: dict[str, list[int]]) -> set[str]:
    home = {
        stem_of(snapshot.paths[place]).casefold(): folder
        for folder, places in folders.items()
        for place in places
    }
    targets = snapshot.link_targets()
    named: set[str] = set()
    for place, path in enumerate(snapshot.paths):
        if not snapshot.room_map.place_of(path).startswith(_CARDS):
            continue
        stems = {stem_of(target).casefold() for target in targets[place]}
        named |= {home[stem] for stem in stems & home.keys()}
    return named
