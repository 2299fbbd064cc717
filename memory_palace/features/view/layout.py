"""Where each room and each note lies, so that a note which comes or goes moves no other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import NamedTuple

from memory_palace.features.view.arranging import arrange, settle
from memory_palace.features.view.grid import MILLION, Extent, Grid, GridCell, GridSpan, divide
from memory_palace.models import Matrix

PLAN = Extent(0, 0, MILLION, 640_000)
"""What a plan fills when it is first laid out: about the shape of a screen."""
CORRIDOR = 14_000
"""Width of a corridor."""
SLACK = 0.25
"""Share of the cells that are free when a room is laid out."""
_LEAST_FREE = 3
_LEAST_SHARE = 0.012
"""Of the notes of a palace, that every room is given room for beyond its own."""
_MARGIN, _HEAD = 7_000, 22_000
"""Between the wall of a room and its notes; above them, for the room's name."""


class Lodging(NamedTuple):
    """The place that a note has."""

    room: str
    cell: GridCell


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
    """The folder whose folders are rooms; notes right in it are in the room of its name."""
    rooms: tuple[LaidRoom, ...] = ()
    notes: Mapping[str, Lodging] = field(default_factory=dict)
    """By path, in path order."""


def lay_out(rooms_of: Mapping[str, str], vectors: Matrix, before: Layout) -> Layout:
    """Give every note a place in its room; those that have one in ``before`` keep it.

    ``rooms_of`` is by path, in path order, ``vectors`` one unit vector for each, or of width zero.
    Same arguments, same layout.
    """
    paths, members = list(rooms_of), dict[str, list[int]]()
    for place, room_name in enumerate(rooms_of.values()):
        members.setdefault(room_name, []).append(place)
    rooms = _find_rooms({name: len(places) for name, places in members.items()}, before)
    known = {room.name for room in before.rooms}
    notes: dict[str, Lodging] = {}
    for number, room in enumerate(rooms):
        places = members[room.name]
        if room.name in known:
            lodgings = [before.notes.get(paths[place]) for place in places]
            kept = [one.cell if one and one.room == room.name else None for one in lodgings]
            cells = settle(room.grid, vectors[places], kept)
        else:
            arranged = arrange(vectors[places], room.grid.columns, room.grid.rows)
            rooms[number] = replace(room, districts=tuple(arranged.districts))
            cells = [(cell,) for cell in arranged.cells]
        lodged = (Lodging(room.name, cell) for cell in cells)
        notes |= zip((paths[place] for place in places), lodged, strict=True)
    return replace(before, rooms=tuple(rooms), notes={path: notes[path] for path in paths})


def _find_rooms(sizes: Mapping[str, int], before: Layout) -> list[LaidRoom]:
    """Return the rooms that have notes, those of before first; new ones have no districts yet."""
    kept = [room for room in before.rooms if room.name in sizes]
    names = {room.name for room in kept}
    new = sorted((name for name in sizes if name not in names), key=lambda n: (-sizes[n], n))
    if not kept:
        least = _LEAST_SHARE * sum(sizes.values())
        extents = divide_plan([sizes[name] + least for name in new])
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
    areas = sorted(w * h for w, h in (room.grid.size for room in others))
    area = areas[len(areas) // 2] * _count_cells(notes)
    shape = PLAN.width / PLAN.height
    height = (area / shape) ** 0.5
    width, height = height * shape + 2 * _MARGIN, height + _MARGIN + _HEAD
    return min(round(width), MILLION), min(round(height), MILLION)


def divide_plan(weights: Sequence[float], whole: Extent = PLAN) -> list[Extent]:
    """Divide a rectangle in proportion to the weights, the greatest first; return them in order.

    It is halved across its longer side, the weights as evenly as their order allows, and so on.
    """
    order = sorted(range(len(weights)), key=lambda place: (-weights[place], place))
    found: list[Extent] = [whole] * len(weights)
    waiting = [(order, whole)] if order else []
    while waiting:
        places, (x, y, width, height) = waiting.pop()
        if len(places) == 1:
            by = min(CORRIDOR // 2, width // 4, height // 4)
            found[places[0]] = Extent(x + by, y + by, width - 2 * by, height - 2 * by)
            continue
        sums = list(accumulate(weights[place] for place in places))
        cut = min(range(1, len(places)), key=lambda n: abs(sums[n - 1] - sums[-1] / 2))
        share = sums[cut - 1] / sums[-1]
        if width >= height:
            wide = round(width * share)
            first, rest = Extent(x, y, wide, height), Extent(x + wide, y, width - wide, height)
        else:
            high = round(height * share)
            first, rest = Extent(x, y, width, high), Extent(x, y + high, width, height - high)
        waiting += [(places[:cut], first), (places[cut:], rest)]
    return found


def find_site(taken: Sequence[Extent], width: int, height: int) -> Extent:
    """Return where a further room of this size goes: where it lengthens the plan least."""
    if not taken:
        return Extent(CORRIDOR // 2, CORRIDOR // 2, width, height)
    right = sorted({PLAN.x + CORRIDOR // 2, *(e.x + e.width + CORRIDOR for e in taken)})
    below = sorted({PLAN.y + CORRIDOR // 2, *(e.y + e.height + CORRIDOR for e in taken)})
    sites = [Extent(x, y, width, height) for x in right for y in below]
    free = [site for site in sites if not any(_meet(site, other) for other in taken)]
    longest = max(e.x + e.width for e in taken), max(e.y + e.height for e in taken)
    shape = PLAN.width / PLAN.height

    def length(site: Extent) -> float:
        right, below = max(longest[0], site.x + width), max(longest[1], site.y + height)
        return max(right, below * shape) + (right + below * shape) / MILLION

    return min(free, key=lambda site: (length(site), site.y, site.x))


def _meet(one: Extent, other: Extent) -> bool:
    gap = CORRIDOR - 2  # rounding may have narrowed one
    return (
        one.x < other.x + other.width + gap
        and other.x < one.x + one.width + gap
        and one.y < other.y + other.height + gap
        and other.y < one.y + one.height + gap
    )
