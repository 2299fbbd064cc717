"""Lay out rooms and notes on a plan, stably: adding or removing a note moves no other.

A room is divided into districts of similar notes, each with a grid of cells. A later note takes the
free cell nearest to the most similar note. A note fills three quarters of its cell's
width and height. The rest is street: seven cells of a quarter of the width and height, each with
streets of its own. Thus a room never runs out of cells.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from memory_palace.config import PalacePaths
from memory_palace.errors import IndexLockedError
from memory_palace.models import Matrix
from memory_palace.storage import write_atomic, writer_lock


class Box(NamedTuple):
    """An axis-parallel rectangle; y grows downwards. The first layout of a plan is a million wide.

    Of integers, so that all machines compute the same.
    """

    x: int
    y: int
    width: int
    height: int


CELL_SHAPE = 1.3
"""Preferred ratio of a cell's width to its height, because titles are wide."""
_PARTS = 4
_STREETS = tuple(
    (column, row)
    for row in range(_PARTS)
    for column in range(_PARTS)
    if max(column, row) == _PARTS - 1
)
"""Column and row of the seven subcells, of 4 x 4, in a cell that its note leaves free."""

GridCell: TypeAlias = tuple[int, ...]
"""Number of a grid cell in row order, then indexes into ``_STREETS``, one per level."""


class Grid(NamedTuple):
    """Division of a district into columns and rows."""

    inside: Box
    columns: int
    rows: int

    def cells(self, level: int) -> Iterator[GridCell]:
        """Return all cells of a level: 0 for the grid, 1 for its cells' streets, and so on."""
        if level == 0:
            return ((number,) for number in range(self.columns * self.rows))
        return ((*c, k) for c in self.cells(level - 1) for k in range(len(_STREETS)))

    @property
    def size(self) -> tuple[float, float]:
        """Width and height of a cell of level 0."""
        return self.inside.width / self.columns, self.inside.height / self.rows

    def box(self, cell: GridCell) -> Box:
        """Return the box in a cell that its note fills."""
        width, height = self.size
        x = self.inside.x + cell[0] % self.columns * width
        y = self.inside.y + cell[0] // self.columns * height
        for street in cell[1:]:
            width, height = width / _PARTS, height / _PARTS
            x, y = x + _STREETS[street][0] * width, y + _STREETS[street][1] * height
        filled = (_PARTS - 1) / _PARTS
        left, top = round(x), round(y)  # edges that cells share stay shared
        right, bottom = round(x + width * filled), round(y + height * filled)
        return Box(left, top, right - left, bottom - top)


def divide(inside: Box, cells: int) -> Grid:
    """Return a grid with at least ``cells`` cells, of about the ratio ``CELL_SHAPE``."""
    ideal = (cells * inside.width / inside.height / CELL_SHAPE) ** 0.5
    columns = min(max(round(ideal), 1), cells)
    return Grid(inside, columns, -(-cells // columns))


PLAN = Box(0, 0, 1_000_000, 640_000)
"""Extent of a plan's first layout, of about the shape of a screen."""
CORRIDOR = 14_000
"""Width of a corridor between rooms."""
SLACK = 0.1
"""Share of free cells in a new district."""
_LEAST_FREE = 2
_LEAST_SHARE = 0.012
"""Share of the palace's notes added to each room's weight when the plan is divided."""
_MARGIN, _HEAD = 7_000, 22_000
"""Space between a room's walls and its districts, and above them for the room's name."""
_LINE = 13_000
"""Space above the notes of a district for its label, if there are several."""
MOST_PER_DISTRICT = 40
"""Notes of a district, more or less; a room has one for each so many."""
_STEPS = 20
"""Most steps of the clustering, which mostly ends before."""


class Lodging(NamedTuple):
    """Room, district and cell of a note."""

    room: str
    district: int
    cell: GridCell


class LaidRoom(NamedTuple):
    """A room with its extent and its districts."""

    name: str
    extent: Box
    districts: tuple[Grid, ...]


@dataclass(frozen=True, slots=True)
class Layout:
    """The positions of all rooms and notes."""

    rooms: tuple[LaidRoom, ...] = ()
    notes: Mapping[str, Lodging] = field(default_factory=dict)
    """Places of the notes by path, in path order."""
    takes: Mapping[str, str] = field(default_factory=dict)
    """Beginning of the paths, their suffix a dot, that each room takes, by name."""


def lay_out(
    rooms_of: Mapping[str, str], vectors: Matrix, before: Layout, takes: Mapping[str, str]
) -> Layout:
    """Return a layout of all notes; notes in the same room as in ``before`` keep their cells.

    ``rooms_of`` maps paths, in path order, to rooms; ``vectors`` has a unit vector per path, or
    width 0; ``takes`` is kept with the layout. Deterministic.
    """
    paths, members = list(rooms_of), dict[str, list[int]]()
    for place, room_name in enumerate(rooms_of.values()):
        members.setdefault(room_name, []).append(place)
    rooms = _find_rooms({name: len(places) for name, places in members.items()}, before)
    notes: dict[str, Lodging] = {}
    for number, room in enumerate(rooms):
        places = members[room.name]
        if room.districts:
            found = [before.notes.get(paths[place]) for place in places]
            kept = [one if one and one.room == room.name else None for one in found]
            lodgings = settle(room, vectors[places], kept)
        else:
            rooms[number], lodgings = arrange(room, vectors[places])
        notes |= zip((paths[place] for place in places), lodgings, strict=True)
    return Layout(tuple(rooms), {path: notes[path] for path in paths}, takes)


def _find_rooms(sizes: Mapping[str, int], before: Layout) -> list[LaidRoom]:
    """Return the rooms with notes, earlier rooms first; new rooms have no districts yet."""
    kept = [room for room in before.rooms if room.name in sizes]
    names = {room.name for room in kept}
    new = sorted((name for name in sizes if name not in names), key=lambda n: (-sizes[n], n))
    if not kept:
        least = _LEAST_SHARE * sum(sizes.values())
        extents = divide_plan([sizes[name] + least for name in new])
        return [LaidRoom(name, extent, ()) for name, extent in zip(new, extents, strict=True)]
    taken = [room.extent for room in before.rooms]
    for name in new:
        taken.append(_find_site(taken, sizes[name], kept))
        kept.append(LaidRoom(name, taken[-1], ()))
    return kept


def _find_site(taken: Sequence[Box], notes: int, others: Sequence[LaidRoom]) -> Box:
    """Return the extent of a new room, at the right or below, where the plan keeps its shape.

    Its cells have about the median area of the others'.
    """
    areas = sorted(w * h for room in others for w, h in (grid.size for grid in room.districts))
    shape = PLAN.width / PLAN.height
    height = (areas[len(areas) // 2] * count_cells(notes) / shape) ** 0.5
    width, height = round(height * shape) + 2 * _MARGIN, round(height) + 2 * _MARGIN + _HEAD
    right = max(e.x + e.width for e in taken) + CORRIDOR
    below = max(e.y + e.height for e in taken) + CORRIDOR
    at = CORRIDOR // 2
    x, y = (right, at) if right + width <= shape * (below + height) else (at, below)
    return Box(x, y, width, height)


def count_cells(notes: int) -> int:
    """Return the number of cells of a new district, some of them free."""
    return max(round(notes / (1 - SLACK)), notes + _LEAST_FREE)


def divide_plan(weights: Sequence[float], whole: Box = PLAN, corridor: int = CORRIDOR) -> list[Box]:
    """Divide a rectangle in proportion to weights; return the extents in the order of the weights.

    Recursively cut across the longer side; weights, in descending order, are split evenly.
    """
    order = sorted(range(len(weights)), key=lambda place: (-weights[place], place))
    found: list[Box] = [whole] * len(weights)
    waiting = [(order, whole)] if order else []
    while waiting:
        places, (x, y, width, height) = waiting.pop()
        if len(places) == 1:
            by = min(corridor // 2, width // 4, height // 4)
            found[places[0]] = Box(x + by, y + by, width - 2 * by, height - 2 * by)
            continue
        sums = list(accumulate(weights[place] for place in places))
        cut = min(range(1, len(places)), key=lambda n: abs(sums[n - 1] - sums[-1] / 2))
        share = sums[cut - 1] / sums[-1]
        if width >= height:
            wide = round(width * share)
            first, rest = Box(x, y, wide, height), Box(x + wide, y, width - wide, height)
        else:
            high = round(height * share)
            first, rest = Box(x, y, width, high), Box(x, y + high, width, height - high)
        waiting += [(places[:cut], first), (places[cut:], rest)]
    return found


def arrange(room: LaidRoom, vectors: Matrix) -> tuple[LaidRoom, list[Lodging]]:
    """Return a new room with its districts, and the place of each note.

    ``vectors`` has a row per note, in path order. A district has similar notes, in the order of
    their first principal component. Without vectors, there is one, in path order.
    """
    x, y, width, height = room.extent
    margin, head = min(_MARGIN, width // 12, height // 12), min(_HEAD, height // 5)
    inside = Box(x + margin, y + head, width - 2 * margin, height - head - margin)
    count = -(-len(vectors) // MOST_PER_DISTRICT) if vectors.shape[1] else 1
    along = project(vectors) if vectors.shape[1] else np.arange(len(vectors))
    groups = cluster(vectors, count)
    members = [np.flatnonzero(groups == group) for group in range(count)]
    members = [some for some in members if len(some)]
    gap = _MARGIN if len(members) > 1 else 0
    districts, lodgings = [], dict[int, Lodging]()
    extents = divide_plan([len(some) + _LEAST_FREE for some in members], inside, gap)
    for number, (some, part) in enumerate(zip(members, extents, strict=True)):
        line = min(_LINE, part.height // 5) if len(members) > 1 else 0
        below = Box(part.x, part.y + line, part.width, part.height - line)
        districts.append(divide(below, count_cells(len(some))))
        order = some[np.argsort(along[some], kind="stable")]
        lodgings |= {int(n): Lodging(room.name, number, (at,)) for at, n in enumerate(order)}
    return room._replace(districts=tuple(districts)), [lodgings[n] for n in range(len(vectors))]


def project(points: Matrix) -> NDArray[np.float64]:
    """Return each point's score on the first principal component, rounded, its sign fixed."""
    centred = (points - points.mean(axis=0)).astype(np.float64)
    direction = np.linalg.eigh(centred.T @ centred)[1][:, -1]
    sign = np.sign(direction[np.abs(direction).argmax()])
    along: NDArray[np.float64] = np.round(centred @ direction * sign, 4)
    return along


def cluster(points: Matrix, count: int) -> NDArray[np.int64]:
    """Return the cluster of each point by spherical k-means, deterministically.

    It starts with the points halved along their principal component until there are ``count``.
    """
    halves = [np.arange(len(points))]
    while len(halves) < count:
        halves.sort(key=len)
        whole = halves.pop()
        order = whole[np.argsort(project(points[whole]), kind="stable")]
        halves += np.array_split(order, 2)
    found = np.zeros(len(points), np.int64)
    for number, half in enumerate(halves):
        found[half] = number
    for _ in range(_STEPS if count > 1 else 0):
        middles = np.array([points[found == number].sum(axis=0) for number in range(count)])
        middles /= np.maximum(np.linalg.norm(middles, axis=1, keepdims=True), 1e-9)
        after = np.round(points @ middles.T, 4).argmax(axis=1)
        if (after == found).all():
            break
        found = after
    return found


def settle(room: LaidRoom, vectors: Matrix, kept: Sequence[Lodging | None]) -> list[Lodging]:
    """Return the places of a room's notes, in path order; notes that have one keep it.

    A new note takes the free cell nearest to the most similar note, or the first without vectors.
    """
    found, level, free, middles = list(kept), -1, list[Lodging](), np.zeros(0, complex)
    settled = [place for place, lodging in enumerate(kept) if lodging]
    for place in [place for place, lodging in enumerate(kept) if not lodging]:
        while not free:
            level += 1
            taken = {*found}
            cells = [
                (n, cell) for n, grid in enumerate(room.districts) for cell in grid.cells(level)
            ]
            free = [at for cell in cells if (at := Lodging(room.name, *cell)) not in taken]
            middles = np.array([_middle(room, at) for at in free], complex)
        like = None
        if settled and vectors.shape[1]:
            likeness = np.round((vectors @ vectors[place])[settled], 4)
            like = found[settled[int(likeness.argmax())]]
        chosen = int(np.abs(middles - _middle(room, like)).round().argmin()) if like else 0
        found[place] = free.pop(chosen)
        middles = np.delete(middles, chosen)
        settled.append(place)
    return [lodging for lodging in found if lodging]


def _middle(room: LaidRoom, lodging: Lodging) -> complex:
    """Return the center of the box that a note fills."""
    box = room.districts[lodging.district].box(lodging.cell)
    return complex(box.x + box.width / 2, box.y + box.height / 2)


Notice: TypeAlias = Callable[[str], object]
"""Callback for one-line messages to the user."""
_WAIT_SECONDS = 30.0
"""Longest wait for another process that writes the layout, which takes a few seconds."""


def house(
    paths: PalacePaths,
    follow: Callable[[Layout], Layout],
    *,
    new_plan: bool = False,
    remark: Notice = lambda words: None,
) -> Layout:
    """Return the layout that ``follow`` makes of the stored one, and store it beside the index.

    ``new_plan`` discards the stored layout. ``remark`` is called if it is damaged or cannot be
    written. The layout has its own lock; index builds do not wait.
    """
    file, lock = paths.view.with_suffix(".json"), paths.view.with_suffix(".lock")
    before = Layout() if new_plan else read_layout(file, remark)
    layout = follow(before)
    if layout == before:
        return layout
    try:
        with writer_lock(lock, wait_seconds=_WAIT_SECONDS, what="the plan's layout"):
            now = before if new_plan else read_layout(file)
            if now != before:  # another process has just stored a layout
                layout = follow(now)
            write_atomic(file, _dump(layout))
    except (OSError, IndexLockedError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        remark(f"new notes may lie elsewhere the next time: {file}: {why}")
    return layout


def read_layout(file: Path, remark: Notice = lambda words: None) -> Layout:
    """Return the stored layout; an empty layout if there is none, or, with a remark, if damaged.

    One of an earlier version, which had a ``home``, counts as none.
    """
    try:
        record = json.loads(file.read_bytes())
        body = record["layout"]
        if record["check"] != _check(body):
            raise ValueError("it does not match its own digest")
        if "home" in body:
            return Layout()
        rooms = [
            LaidRoom(name, Box(*extent), tuple(Grid(Box(*i), c, r) for i, c, r in grids))
            for name, extent, grids in body["rooms"]
        ]
        notes = {
            path: Lodging(rooms[number].name, district, tuple(cell))
            for path, number, district, cell in body["notes"]
        }
        return Layout(tuple(rooms), notes, body["takes"])
    except FileNotFoundError:
        return Layout()
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        remark(f"the plan is laid out anew: {file.name} is damaged")
    return Layout()


def _dump(layout: Layout) -> bytes:
    """Return the bytes of a layout's file, deterministically."""
    numbers = {room.name: number for number, room in enumerate(layout.rooms)}
    body = {
        "rooms": layout.rooms,
        "notes": [[path, numbers[at.room], *at[1:]] for path, at in layout.notes.items()],
        "takes": layout.takes,
    }
    return f'{{"check":"{_check(body)}","layout":{_write(body)}}}\n'.encode()


def _write(body: object) -> str:
    return json.dumps(body, separators=(",", ":"), sort_keys=True)


def _check(body: object) -> str:
    return sha256(_write(body).encode()).hexdigest()[:16]
