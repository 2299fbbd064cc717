"""Give every note of a palace its place, and keep it beside the index."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from memory_palace.config import PalacePaths
from memory_palace.errors import IndexLockedError
from memory_palace.features.view.grid import Extent, Grid
from memory_palace.features.view.layout import LaidRoom, Layout, Lodging, Resident, lay_out
from memory_palace.index.snapshot import Snapshot
from memory_palace.models import Matrix
from memory_palace.places import ARCHIVE
from memory_palace.storage.atomic import write_atomic
from memory_palace.storage.lock import writer_lock

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
        return Layout(body["home"], tuple(body["gathered"]), tuple(rooms), notes)
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
        "gathered": layout.gathered,
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
    places = known.tolist()
    rooms, cold = snapshot.rooms, snapshot.cold
    abodes = [Abode(snapshot.paths[p], rooms[p], bool(cold[p])) for p in places]
    if before.rooms:
        names = [room.name for room in before.rooms]
        plan = extend_rooms(RoomPlan(before.home, before.gathered), names, abodes)
    else:
        plan = plan_rooms(abodes)
    rooms_of = zip(abodes, plan.name_rooms(abodes), strict=True)
    residents = [Resident(abode.path, room) for abode, room in rooms_of]
    return lay_out(residents, vectors, replace(before, home=plan.home, gathered=plan.gathered))


GATHERED = "smaller folders"
"""The room of folders that are too small for one of their own."""
_MOST_ROOMS = 24
_LEAST_SHARE = 0.01
"""Of all notes, for a room of its own where there are more folders than rooms."""
_MAIN_SHARE = 0.8
"""A folder with so many of the notes is entered: its folders are the rooms."""


@dataclass(frozen=True, slots=True)
class Abode:
    """What decides the room of a note."""

    path: str
    room: str
    """One of the seven, or empty."""
    is_cold: bool


@dataclass(frozen=True, slots=True)
class RoomPlan:
    """Which folders are rooms. It stays as it is when notes come, or rooms would move."""

    home: str = ""
    """The folder whose folders are rooms; notes right in it are in the room of its name."""
    gathered: tuple[str, ...] = ()
    """Folders in the room of small ones."""

    def name_rooms(self, abodes: Iterable[Abode]) -> list[str]:
        """Return the room of each note: all that is cold is in one."""
        hidden = set(self.gathered)
        return [
            ARCHIVE
            if abode.is_cold
            else abode.room or (GATHERED if (f := self.folder_of(abode.path)) in hidden else f)
            for abode in abodes
        ]

    def folder_of(self, path: str) -> str:
        """Return the folder that could be the room of a note outside the seven rooms."""
        below = path.removeprefix(f"{self.home}/") if self.home else path
        if self.home and below == path:
            return path.rpartition("/")[0].partition("/")[0]
        first, slash, _ = below.partition("/")
        return "/".join(part for part in (self.home, first if slash else "") if part)


def plan_rooms(abodes: Sequence[Abode]) -> RoomPlan:
    """Choose the rooms of a palace that is laid out for the first time."""
    outside = [abode.path for abode in abodes if not abode.room and not abode.is_cold]
    plan = RoomPlan(_find_home(outside))
    sizes = Counter(map(plan.folder_of, outside))
    if len(sizes) <= _MOST_ROOMS:
        return plan
    least = _LEAST_SHARE * len(abodes)
    large = {name for name, notes in sizes.most_common(_MOST_ROOMS - 1) if notes >= least}
    return RoomPlan(plan.home, tuple(sorted(sizes.keys() - large)))


def extend_rooms(plan: RoomPlan, known: Iterable[str], abodes: Iterable[Abode]) -> RoomPlan:
    """Return the plan with folders that are new; beyond as many as there may be, they are gathered.

    ``known`` are the rooms of the layout.
    """
    rooms, gathered = set(known), set(plan.gathered)
    for abode in abodes:
        folder = plan.folder_of(abode.path)
        if abode.room or abode.is_cold or folder in rooms or folder in gathered:
            continue
        if len(rooms) < _MOST_ROOMS:
            rooms.add(folder)
        else:
            gathered.add(folder)
    return RoomPlan(plan.home, tuple(sorted(gathered)))


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
