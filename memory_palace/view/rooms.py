"""Which rooms a plan has: the seven where a palace has them, else folders, small ones gathered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from memory_palace.places import ARCHIVE

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
