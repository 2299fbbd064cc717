"""Give every note of a palace its place, and keep it beside the index."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from memory_palace.config import PalacePaths
from memory_palace.errors import IndexLockedError
from memory_palace.features.view.cache import LayoutDamagedError, read_layout, write_layout
from memory_palace.features.view.layout import Layout, Resident, lay_out
from memory_palace.index.snapshot import Snapshot
from memory_palace.models import Matrix
from memory_palace.places import ARCHIVE
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
    """Return the layout of these notes, which is kept for the next time.

    Notes keep the places they have, unless ``relayout`` forgets them. Where the layout cannot be
    kept, or is damaged, ``remark`` is told. It is written under a lock of its own: neither does a
    build of the index wait for it, nor it for a build.
    """
    before = Layout() if relayout else _read(paths, remark)
    layout = follow(snapshot, known, vectors, before)
    if layout == before:
        return layout
    try:
        with writer_lock(
            paths.view.with_suffix(".lock"), wait_seconds=_WAIT_SECONDS, what="the plan's layout"
        ):
            now = before if relayout else _read(paths, lambda words: None)
            if now != before:  # another has just given new notes their places
                layout = follow(snapshot, known, vectors, now)
            write_layout(_file(paths), layout)
    except (OSError, IndexLockedError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        remark(f"new notes may lie elsewhere the next time: {_file(paths)}: {why}")
    return layout


def _file(paths: PalacePaths) -> Path:
    return paths.view.with_suffix(".json")


def _read(paths: PalacePaths, remark: Notice) -> Layout:
    try:
        return read_layout(_file(paths))
    except LayoutDamagedError as error:
        remark(f"the plan is laid out anew: {error}")
        return Layout()


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
    residents = [
        Resident(abode.path, bytes(snapshot.note_digests[place]).hex(), room)
        for place, abode, room in zip(places, abodes, plan.name_rooms(abodes), strict=True)
    ]
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
    large = {
        folder
        for folder, notes in sizes.most_common(_MOST_ROOMS - 1)
        if notes >= _LEAST_SHARE * len(abodes)
    }
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
