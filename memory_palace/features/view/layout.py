"""Where each room and each note lies, so that a note which comes or goes moves no other.

In a room that is new, what is near in meaning is put together; a later note takes the free cell
nearest to the notes it is like.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memory_palace.features.view.grid import (
    CELL_SHAPE,
    MILLION,
    Extent,
    Grid,
    GridCell,
    GridSpan,
    divide,
)
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
MOST_PER_DISTRICT = 80
"""Halves of more notes are halved again, so districts have about 40 to 80."""
_DIRECTIONS = 48
"""Directions that are kept of the vectors: what splits a room is in the first few."""
_STEPS = 8
"""Of the power iteration; what it starts from is a direction already."""
_FEW = 6
"""So few notes are split along the direction of the whole room."""
_NEAREST = 3
"""So many notes draw a new one to them."""


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
            found, districts = arrange(vectors[places], room.grid.columns, room.grid.rows)
            rooms[number] = replace(room, districts=tuple(districts))
            cells = [(cell,) for cell in found]
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


def arrange(vectors: Matrix, columns: int, rows: int) -> tuple[list[int], list[GridSpan]]:
    """Return the cell of each note in a grid with enough of them, and the districts.

    ``vectors`` has a row for each note, in path order. Notes are halved along their main direction,
    and the grid along its longer side, until one note is left for a cell. Without vectors they are
    halved in path order.
    """
    points = find_directions(vectors)
    cells, districts = [0] * len(vectors), list[GridSpan]()
    for span, notes, is_district in _halve(points, columns, rows):
        if is_district:
            districts.append(span)
        if len(notes) == 1 and (span[2] - span[0]) * (span[3] - span[1]) == 1:
            cells[int(notes[0])] = span[1] * columns + span[0]
    return cells, districts


def find_directions(vectors: Matrix) -> Matrix:
    """Return what the vectors are along their main directions, the widest first.

    Shape ``(notes, directions)``; along one direction, their order, where there are no vectors.
    """
    if vectors.shape[1] == 0 or len(vectors) < 3:
        return np.arange(len(vectors), dtype=np.float32)[:, None]
    centred = vectors - vectors.mean(axis=0)
    _, directions = np.linalg.eigh(centred.T.astype(np.float64) @ centred)
    kept = directions[:, ::-1][:, :_DIRECTIONS]
    kept *= np.sign(kept[np.abs(kept).argmax(axis=0), np.arange(kept.shape[1])])
    points: Matrix = (centred @ kept).astype(np.float32)
    return points


def _halve(
    points: Matrix, columns: int, rows: int
) -> Iterator[tuple[GridSpan, NDArray[np.int64], bool]]:
    """Yield every part that has notes, and whether it is a district."""
    waiting = [((0, 0, columns, rows), np.arange(len(points)), False)]
    while waiting:
        span, notes, is_inside = waiting.pop()
        is_district = not is_inside and 0 < len(notes) <= MOST_PER_DISTRICT
        if len(notes):
            yield span, notes, is_district
        left, right, is_wide = _cut(span)
        if not len(notes) or left == right:
            continue
        first = _share(len(notes), left, right)
        order = notes[_order(points[notes], is_wide=is_wide)]
        waiting.append((right, np.sort(order[first:]), is_inside or is_district))
        waiting.append((left, np.sort(order[:first]), is_inside or is_district))


def _share(notes: int, left: GridSpan, right: GridSpan) -> int:
    """Return how many notes the left part gets: in proportion, rounded now up, now down.

    Rounding always the same way would leave the free cells in rows.
    """
    share = notes * _count(left) / (_count(left) + _count(right))
    chance = (left[0] * 7_919 + left[1] * 104_729 + _count(left) * 1_299_709) * 2_654_435_761
    first = int(share + chance % 2**32 / 2**32)
    return min(max(first, notes - _count(right)), _count(left))


def _order(points: Matrix, *, is_wide: bool) -> NDArray[np.int64]:
    """Order notes along their main direction, which points as that of the whole room does."""
    axis = min(0 if is_wide else 1, points.shape[1] - 1)
    along = points[:, axis]
    if len(points) > _FEW and points.shape[1] > 1:
        centred = (points - points.mean(axis=0)).astype(np.float64)
        direction = np.zeros(points.shape[1])
        direction[axis] = 1.0
        for _ in range(_STEPS):
            direction = centred.T @ (centred @ direction)
            length = np.linalg.norm(direction)
            if length == 0:
                break
            direction /= length
        along = (centred @ direction).astype(np.float32)
    return np.argsort(np.round(along, 4), kind="stable")


def _cut(span: GridSpan) -> tuple[GridSpan, GridSpan, bool]:
    """Cut a part of the grid across its longer side; a single cell gives itself twice."""
    x, y, right, below = span
    is_wide = (right - x) * CELL_SHAPE >= below - y
    if (is_wide and right - x == 1) or (not is_wide and below - y == 1):
        is_wide = not is_wide
    middle = (x + right) // 2 if is_wide else (y + below) // 2
    if _count(span) == 1:
        return span, span, is_wide
    if is_wide:
        return (x, y, middle, below), (middle, y, right, below), True
    return (x, y, right, middle), (x, middle, right, below), False


def _count(span: GridSpan) -> int:
    return (span[2] - span[0]) * (span[3] - span[1])


def settle(grid: Grid, vectors: Matrix, cells: Sequence[GridCell | None]) -> list[GridCell]:
    """Return the cell of every note of a room, in path order; those that have one keep it.

    Notes are settled in batches, each as large as what is settled already, so that many new
    ones do not crowd around few old ones.
    """
    found, level, free = list(cells), -1, np.zeros(0, np.bool_)
    at = np.array([_middle(grid, cell) if cell else (0.0, 0.0) for cell in cells]).reshape(-1, 2)
    settled = [place for place, cell in enumerate(cells) if cell]
    waiting = [place for place, cell in enumerate(cells) if not cell]
    while waiting:
        batch = waiting[: max(len(settled), 1)]
        waiting = waiting[len(batch) :]
        for place, near in zip(batch, _find_near(vectors, settled, batch), strict=True):
            while not free.any():
                level += 1
                names, taken = list(grid.cells(level)), set(found)
                free = np.array([name not in taken for name in names], np.bool_)
                middles = np.array([_middle(grid, name) for name in names])
            places = np.flatnonzero(free)
            chosen = int(places[0])
            if len(near):
                away = middles[places][:, None, :] - at[near][None, :, :]
                lengths = np.sqrt((away**2).sum(axis=2)).sum(axis=1)
                chosen = int(places[np.round(lengths).argmin()])
            free[chosen] = False
            found[place], at[place] = names[chosen], _middle(grid, names[chosen])
        settled = sorted([*settled, *batch])
    return [cell for cell in found if cell]


def _find_near(
    vectors: Matrix, settled: Sequence[int], batch: Sequence[int]
) -> list[NDArray[np.int64]]:
    """Return the settled notes that each of a batch is most like, or is listed beside."""
    known = np.array(settled, np.int64)
    if not len(known):
        return [known] * len(batch)
    if vectors.shape[1] == 0:
        away = np.abs(known[None, :] - np.array(batch)[:, None])
        return [known[row[:_NEAREST]] for row in np.argsort(away, axis=1, kind="stable")]
    likeness = (np.round(vectors[known] @ vectors[place], 4) for place in batch)
    return [known[np.argsort(-each, kind="stable")[:_NEAREST]] for each in likeness]


def _middle(grid: Grid, cell: GridCell) -> tuple[float, float]:
    """Return the middle of a cell, in millionths."""
    box = grid.box(cell)
    return (box.x + box.width / 2) * 1e6, (box.y + box.height / 2) * 1e6
