"""Where each room and each note lies, so that a note which comes or goes moves no other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from memory_palace.models import Matrix
from memory_palace.view.arranging import arrange
from memory_palace.view.grid import MILLION, Extent, Grid, GridCell, GridSpan, divide
from memory_palace.view.settling import Settler
from memory_palace.view.treemap import PLAN, find_site, squarify

SLACK = 0.25
"""Share of the cells that are free when a room is laid out."""
_LEAST_FREE = 3
_LEAST_SHARE = 0.012
"""Of the notes of a palace, that every room is given room for beyond its own."""
_MARGIN, _HEAD = 7_000, 22_000
"""Between the wall of a room and its notes; above them, for the room's name."""


class Resident(NamedTuple):
    """What a layout knows of a note."""

    path: str
    digest: str
    room: str


class Lodging(NamedTuple):
    """The place that a note has."""

    room: str
    cell: GridCell
    digest: str
    """Of the note's bytes, by which it is known under another name."""


@dataclass(frozen=True, slots=True)
class LaidRoom:
    """A room, and the parts of it that are districts."""

    name: str
    extent: Extent
    grid: Grid
    districts: tuple[GridSpan, ...]


@dataclass(frozen=True, slots=True)
class Layout:
    """The places of all rooms and notes."""

    home: str = ""
    """The folder whose folders are rooms; see ``rooms.RoomPlan``."""
    gathered: tuple[str, ...] = ()
    """Folders that share one room because they are small."""
    rooms: tuple[LaidRoom, ...] = ()
    notes: Mapping[str, Lodging] = field(default_factory=dict)
    """By path, in path order."""


def lay_out(residents: Sequence[Resident], vectors: Matrix, before: Layout) -> Layout:
    """Give every resident a place; those that have one in ``before`` keep it.

    ``residents`` are in path order, ``vectors`` one unit vector for each, or of width zero. What
    ``before`` says of folders is passed on. Same arguments, same layout.
    """
    before = _follow_renamed(residents, before)
    members: dict[str, list[int]] = {}
    for place, resident in enumerate(residents):
        members.setdefault(resident.room, []).append(place)
    rooms = _find_rooms({name: len(places) for name, places in members.items()}, before)
    known = {room.name for room in before.rooms}
    notes: dict[str, Lodging] = {}
    for number, room in enumerate(rooms):
        places = members[room.name]
        here = [residents[place] for place in places]
        if room.name in known:
            cells = _settle(room.grid, here, vectors[places], before)
        else:
            arranged = arrange(vectors[places], room.grid.columns, room.grid.rows)
            rooms[number] = replace(room, districts=tuple(arranged.districts))
            cells = [(cell,) for cell in arranged.cells]
        notes |= {
            resident.path: Lodging(room.name, cell, resident.digest)
            for resident, cell in zip(here, cells, strict=True)
        }
    ordered = {resident.path: notes[resident.path] for resident in residents}
    return replace(before, rooms=tuple(rooms), notes=ordered)


def _find_rooms(sizes: Mapping[str, int], before: Layout) -> list[LaidRoom]:
    """Return the rooms that have notes, those of before first; new ones have no districts yet."""
    kept = [room for room in before.rooms if room.name in sizes]
    names = {room.name for room in kept}
    new = sorted((name for name in sizes if name not in names), key=lambda n: (-sizes[n], n))
    if not kept:
        least = _LEAST_SHARE * sum(sizes.values())
        extents = squarify([sizes[name] + least for name in new])
        return [_furnish(n, e, sizes[n]) for n, e in zip(new, extents, strict=True)]
    taken = [room.extent for room in before.rooms]
    for name in new:
        side = _side_of(sizes[name], kept)
        taken.append(find_site(taken, *side))
        kept.append(_furnish(name, taken[-1], sizes[name]))
    return kept


def _furnish(name: str, extent: Extent, notes: int) -> LaidRoom:
    margin = min(_MARGIN, extent.width // 12, extent.height // 12)
    head = min(_HEAD, extent.height // 5)
    inside = Extent(
        extent.x + margin,
        extent.y + head,
        extent.width - 2 * margin,
        extent.height - head - margin,
    )
    return LaidRoom(name, extent, divide(inside, _count_cells(notes)), ())


def _count_cells(notes: int) -> int:
    return max(round(notes / (1 - SLACK)), notes + _LEAST_FREE)


def _side_of(notes: int, others: Sequence[LaidRoom]) -> tuple[int, int]:
    """Return width and height of a further room whose cells are about as large as in others."""
    areas = sorted(w * h for w, h in (room.grid.size(0) for room in others))
    area = areas[len(areas) // 2] * _count_cells(notes)
    shape = PLAN.width / PLAN.height
    height = (area / shape) ** 0.5
    width, height = height * shape + 2 * _MARGIN, height + _MARGIN + _HEAD
    return min(round(width), MILLION), min(round(height), MILLION)


def _settle(
    grid: Grid, here: Sequence[Resident], vectors: Matrix, before: Layout
) -> Iterable[GridCell]:
    """Return the cells of a known room's notes; new ones take free cells near what is like them."""
    cells: list[GridCell | None] = []
    for resident in here:
        lodging = before.notes.get(resident.path)
        is_here = lodging is not None and lodging.room == resident.room
        cells.append(lodging.cell if lodging is not None and is_here else None)
    if None in cells:
        return Settler(grid, vectors, cells).settle()
    return [cell for cell in cells if cell is not None]


def _follow_renamed(residents: Sequence[Resident], before: Layout) -> Layout:
    """Give rooms and notes of before the names they have now, known by the notes' bytes."""
    now = {resident.path: resident for resident in residents}
    lost: dict[str, list[str]] = {}
    for path, lodging in before.notes.items():
        if path not in now:
            lost.setdefault(lodging.digest, []).append(path)
    came = [resident for resident in residents if resident.path not in before.notes]
    pairs = [(lost[new.digest].pop(0), new) for new in came if lost.get(new.digest)]
    renamed = _find_renamed_rooms(
        [(before.notes[old].room, new.room) for old, new in pairs],
        now={resident.room for resident in residents},
        before=before,
    )
    notes = {
        path: lodging._replace(room=renamed.get(lodging.room, lodging.room))
        for path, lodging in before.notes.items()
    }
    for old, new in pairs:
        notes[new.path] = notes.pop(old)
    rooms = tuple(replace(room, name=renamed.get(room.name, room.name)) for room in before.rooms)
    return replace(before, rooms=rooms, notes=notes)


def _find_renamed_rooms(
    moves: Sequence[tuple[str, str]], *, now: set[str], before: Layout
) -> dict[str, str]:
    """Return old and new names of rooms that are gone and whose notes are mostly in a new one."""
    known = {room.name for room in before.rooms}
    counts: dict[tuple[str, str], int] = {}
    for old, new in moves:
        if old not in now and new not in known:
            counts[old, new] = counts.get((old, new), 0) + 1
    found: dict[str, str] = {}
    for old, new in sorted(counts, key=lambda pair: (-counts[pair], pair)):
        if old not in found and new not in found.values():
            found[old] = new
    return found
