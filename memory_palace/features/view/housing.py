"""Give every note of a palace its place, and keep it beside the index."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from memory_palace.config import PalacePaths
from memory_palace.errors import IndexLockedError
from memory_palace.features.view.grid import Extent, Grid
from memory_palace.features.view.layout import LaidRoom, Layout, Lodging, lay_out
from memory_palace.index.snapshot import Snapshot
from memory_palace.models import Matrix
from memory_palace.places import ARCHIVE
from memory_palace.storage import write_atomic, writer_lock

NotePlaces: TypeAlias = NDArray[np.int64]
"""Places of notes in a snapshot, ascending."""
Notice: TypeAlias = Callable[[str], object]
"""Told, in one line, what a person should know."""
_WAIT_SECONDS = 30.0
"""For another that writes the layout of the same palace: laying out anew takes a few seconds."""


def house(
    paths: PalacePaths,
    snapshot: Snapshot,
    known: NotePlaces,
    vectors: Matrix,
    *,
    relayout: bool = False,
    remark: Notice = lambda words: None,
) -> Layout:
    """Return the layout of these notes, which is kept beside the index for the next time.

    Notes keep the places they have, unless ``relayout`` forgets them. Where the layout cannot be
    kept, or is damaged, ``remark`` is told. It is written under a lock of its own: neither does a
    build of the index wait for it, nor it for a build.
    """
    file, lock = paths.view.with_suffix(".json"), paths.view.with_suffix(".lock")
    before = Layout() if relayout else read_layout(file, remark)
    layout = follow(snapshot, known, vectors, before)
    if layout == before:
        return layout
    try:
        with writer_lock(lock, wait_seconds=_WAIT_SECONDS, what="the plan's layout"):
            now = before if relayout else read_layout(file)
            if now != before:  # another has just given new notes their places
                layout = follow(snapshot, known, vectors, now)
            write_atomic(file, _dump(layout))
    except (OSError, IndexLockedError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        remark(f"new notes may lie elsewhere the next time: {file}: {why}")
    return layout


def read_layout(file: Path, remark: Notice = lambda words: None) -> Layout:
    """Return the layout that is kept; an empty one, and a remark, for a file that is damaged."""
    try:
        record = json.loads(file.read_bytes())
        body = record["layout"]
        if record["check"] != _check(body):
            raise ValueError("it does not match its own digest")
        rooms = [
            LaidRoom(
                name,
                Extent(*extent),
                Grid(Extent(*inside), columns, rows),
                tuple((left, top, right, below) for left, top, right, below in districts),
            )
            for name, extent, (inside, columns, rows), districts in body["rooms"]
        ]
        notes = {
            path: Lodging(rooms[number].name, tuple(cell))
            for path, number, cell, *_ in body["notes"]
        }
        return Layout(body["home"], tuple(rooms), notes)
    except FileNotFoundError:
        return Layout()
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        remark(f"the plan is laid out anew: {file.name} is damaged")
    return Layout()


def _dump(layout: Layout) -> bytes:
    """Return the file that keeps a layout; the same layout gives the same bytes."""
    numbers = {room.name: number for number, room in enumerate(layout.rooms)}
    body = {
        "home": layout.home,
        "rooms": [[room.name, room.extent, room.grid, room.districts] for room in layout.rooms],
        "notes": [
            [path, numbers[lodging.room], lodging.cell] for path, lodging in layout.notes.items()
        ],
    }
    return f'{{"check":"{_check(body)}","layout":{_write(body)}}}\n'.encode()


def _write(body: object) -> str:
    return json.dumps(body, ensure_ascii=True, separators=(",", ":"), sort_keys=True)


def _check(body: object) -> str:
    return sha256(_write(body).encode()).hexdigest()[:16]


def follow(snapshot: Snapshot, known: NotePlaces, vectors: Matrix, before: Layout) -> Layout:
    """Return the layout of these notes in which those of ``before`` keep their places."""
    given = {
        snapshot.paths[place]: ARCHIVE if snapshot.cold[place] else snapshot.rooms[place]
        for place in known.tolist()
    }
    home, rooms = name_rooms(given, before.home, [room.name for room in before.rooms])
    return lay_out(rooms, vectors, replace(before, home=home))


GATHERED = "smaller folders"
"""The room of folders that have none of their own."""
_MOST_ROOMS = 24
_LEAST_SHARE = 0.01
"""Of all notes, for a room of its own where there are more folders than rooms."""
_MAIN_SHARE = 0.8
"""A folder with so many of the notes is entered: its folders are the rooms."""


def name_rooms(
    given: Mapping[str, str], home: str, known: Sequence[str]
) -> tuple[str, dict[str, str]]:
    """Return the folder whose folders are rooms, and the room of each path.

    ``given`` has the archive or one of the seven rooms, empty for a note outside of them. ``known``
    are the rooms of the layout, with its ``home``: without any it is chosen. Where there are too
    many folders, and for good then, small ones share a room.
    """
    outside = [path for path, room in given.items() if not room]
    home = home if known else _find_home(outside)
    folders = {path: _folder_of(path, home) for path in outside}
    sizes = Counter(folders.values())
    own = {*sizes}
    if GATHERED in known:
        own = {*known}
    elif known:
        new = [folder for folder in sizes if folder not in known]
        own = {*known, *new[: max(_MOST_ROOMS - len(known), 0)]}
    elif len(sizes) > _MOST_ROOMS:
        least = _LEAST_SHARE * len(given)
        own = {name for name, notes in sizes.most_common(_MOST_ROOMS - 1) if notes >= least}
    rooms = {path: folder if folder in own else GATHERED for path, folder in folders.items()}
    return home, {path: room or rooms[path] for path, room in given.items()}


def _folder_of(path: str, home: str) -> str:
    """Return the folder that could be the room of a note; of one outside of home its top folder."""
    below = path.removeprefix(f"{home}/") if home else path
    first, slash, _ = below.partition("/")
    if home and below == path:
        return first if slash else ""
    return "/".join(part for part in (home, first if slash else "") if part)


def _find_home(paths: Sequence[str]) -> str:
    """Return the deepest folder that holds most notes and has folders with notes itself."""
    home = ""
    while True:
        sizes = _count_below(paths, home)
        largest = max(sorted(sizes), key=lambda folder: sizes[folder], default="")
        is_main = bool(largest) and sizes[largest] >= _MAIN_SHARE * len(paths)
        if not is_main or not _count_below(paths, largest):
            return home
        home = largest


def _count_below(paths: Iterable[str], home: str) -> Mapping[str, int]:
    start = f"{home}/" if home else ""
    below = (path.removeprefix(start) for path in paths if path.startswith(start))
    return Counter(start + rest.partition("/")[0] for rest in below if "/" in rest)
