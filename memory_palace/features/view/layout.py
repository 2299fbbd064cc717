"""Lay out rooms and notes on a plan, stably: adding or removing a note moves no other.

A new room places similar notes together; a later note takes the free cell nearest to the notes
with the highest cosine. A note fills three quarters of its cell's width and height. The rest is
street: seven cells of a quarter of the width and height, each with streets of its own. Thus a room
never runs out of cells.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from memory_palace.config import PalacePaths
from memory_palace.errors import IndexLockedError
from memory_palace.index.snapshot import Snapshot
from memory_palace.models import Matrix
from memory_palace.places import ARCHIVE
from memory_palace.storage import write_atomic, writer_lock


class Box(NamedTuple):
    """An axis-parallel rectangle in plan units; y grows downwards.

    The first layout of a plan is about one unit wide.
    """

    x: float
    y: float
    width: float
    height: float


MILLION = 1_000_000
"""Layout units per plan unit; extents are integers, so that all machines compute the same."""
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
GridSpan: TypeAlias = tuple[int, int, int, int]
"""First column, first row, and the column and row after the last."""


class Extent(NamedTuple):
    """An axis-parallel rectangle in millionths of a plan unit."""

    x: int
    y: int
    width: int
    height: int


class Grid(NamedTuple):
    """Division of a room's inside into columns and rows."""

    inside: Extent
    columns: int
    rows: int

    def cells(self, level: int) -> Iterator[GridCell]:
        """Yield all cells of a level: 0 for the grid, 1 for its cells' streets, and so on."""
        if level == 0:
            yield from ((number,) for number in range(self.columns * self.rows))
        else:
            yield from ((*c, k) for c in self.cells(level - 1) for k in range(len(_STREETS)))

    @property
    def size(self) -> tuple[float, float]:
        """Width and height of a cell of level 0, in millionths."""
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
        return to_box(x, y, width * filled, height * filled)

    def box_of(self, span: GridSpan) -> Box:
        """Return the box around a span of columns and rows."""
        width, height = self.size
        x, y = self.inside.x + span[0] * width, self.inside.y + span[1] * height
        return to_box(x, y, (span[2] - span[0]) * width, (span[3] - span[1]) * height)


def divide(inside: Extent, cells: int) -> Grid:
    """Return a grid with at least ``cells`` cells, of about the ratio ``CELL_SHAPE``."""
    ideal = (cells * inside.width / inside.height / CELL_SHAPE) ** 0.5
    columns = min(max(round(ideal), 1), cells)
    return Grid(inside, columns, -(-cells // columns))


def to_box(x: float, y: float, width: float, height: float) -> Box:
    """Return a rectangle of millionths in plan units."""
    return Box(*(round(value / MILLION, 7) for value in (x, y, width, height)))


PLAN = Extent(0, 0, MILLION, 640_000)
"""Extent of a plan's first layout, of about the shape of a screen."""
CORRIDOR = 14_000
"""Width of a corridor between rooms, in millionths."""
SLACK = 0.25
"""Share of free cells in a new room."""
_LEAST_FREE = 3
_LEAST_SHARE = 0.012
"""Share of the palace's notes added to each room's weight when the plan is divided."""
_MARGIN, _HEAD = 7_000, 22_000
"""Space between a room's walls and its notes, and above them for the room's name."""
MOST_PER_DISTRICT = 80
"""Most notes of a district; larger parts are halved, so districts have about 40 to 80."""
_DIRECTIONS = 48
"""Principal components kept of the vectors; the first few suffice to split a room."""
_STEPS = 8
"""Steps of the power iteration, which starts near the principal component."""
_FEW = 6
"""Most notes that are split along the whole room's component instead of their own."""
_NEAREST = 3
"""Number of similar notes that determine a new note's cell."""


class Lodging(NamedTuple):
    """Room and cell of a note."""

    room: str
    cell: GridCell


@dataclass(frozen=True, slots=True)
class LaidRoom:
    """A room with its extent, grid and districts."""

    name: str
    extent: Extent
    grid: Grid
    districts: tuple[GridSpan, ...]


@dataclass(frozen=True, slots=True)
class Layout:
    """The positions of all rooms and notes."""

    home: str = ""
    """Folder whose subfolders are rooms; notes directly in it are in the room of its name."""
    rooms: tuple[LaidRoom, ...] = ()
    notes: Mapping[str, Lodging] = field(default_factory=dict)
    """Room and cell of each note by path, in path order."""


def lay_out(rooms_of: Mapping[str, str], vectors: Matrix, before: Layout) -> Layout:
    """Return a layout of all notes; notes in the same room as in ``before`` keep their cells.

    ``rooms_of`` maps paths, in path order, to rooms; ``vectors`` has a unit vector per path, or
    width 0. Deterministic.
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
    """Return the rooms with notes, earlier rooms first; new rooms have no districts yet."""
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
        extent.x + margin, extent.y + head, extent.width - 2 * margin, extent.height - head - margin
    )
    return LaidRoom(name, extent, divide(inside, _count_cells(notes)), ())


def _count_cells(notes: int) -> int:
    return max(round(notes / (1 - SLACK)), notes + _LEAST_FREE)


def _side_of(notes: int, others: Sequence[LaidRoom]) -> tuple[int, int]:
    """Return width and height of a new room with cells of the other rooms' median area."""
    areas = sorted(w * h for w, h in (room.grid.size for room in others))
    area = areas[len(areas) // 2] * _count_cells(notes)
    shape = PLAN.width / PLAN.height
    height = (area / shape) ** 0.5
    width, height = height * shape + 2 * _MARGIN, height + _MARGIN + _HEAD
    return min(round(width), MILLION), min(round(height), MILLION)


def divide_plan(weights: Sequence[float], whole: Extent = PLAN) -> list[Extent]:
    """Divide a rectangle in proportion to weights; return the extents in the order of the weights.

    Recursively cut across the longer side; weights, in descending order, are split evenly.
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
    """Return the extent of a new room of a given size, at the site that enlarges the plan least."""
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
    gap = CORRIDOR - 2  # rounding may have narrowed a corridor
    return (
        one.x < other.x + other.width + gap
        and other.x < one.x + one.width + gap
        and one.y < other.y + other.height + gap
        and other.y < one.y + one.height + gap
    )


def arrange(vectors: Matrix, columns: int, rows: int) -> tuple[list[int], list[GridSpan]]:
    """Return each note's cell in a grid that has enough cells, and the districts.

    ``vectors`` has a row per note, in path order. Recursively, notes are halved along their
    principal component, and the grid across its longer side, down to one note per cell. Without
    vectors notes are halved in path order.
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
    """Return the vectors' principal component scores, largest variance first.

    Shape ``(notes, components)``; without vectors one column with the order of the notes.
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
    """Yield span and notes of every part that has notes, and whether the part is a district."""
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
    """Return the left part's number of notes, pseudo-randomly rounded to scatter free cells."""
    share = notes * _count(left) / (_count(left) + _count(right))
    chance = (left[0] * 7_919 + left[1] * 104_729 + _count(left) * 1_299_709) * 2_654_435_761
    first = int(share + chance % 2**32 / 2**32)
    return min(max(first, notes - _count(right)), _count(left))


def _order(points: Matrix, *, is_wide: bool) -> NDArray[np.int64]:
    """Return the order of notes along their principal component, signed like the whole room's."""
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
    """Return two halves of a span, cut across its longer side; a single cell is returned twice."""
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
    """Return the cells of a room's notes, in path order; notes that have a cell keep it.

    Notes are placed in batches, each as large as the number placed before, so that many new notes
    do not crowd around few old ones.
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
    """Return the placed notes most similar to each new note, or nearest in path order."""
    known = np.array(settled, np.int64)
    if not len(known):
        return [known] * len(batch)
    if vectors.shape[1] == 0:
        away = np.abs(known[None, :] - np.array(batch)[:, None])
        return [known[row[:_NEAREST]] for row in np.argsort(away, axis=1, kind="stable")]
    likeness = (np.round(vectors[known] @ vectors[place], 4) for place in batch)
    return [known[np.argsort(-each, kind="stable")[:_NEAREST]] for each in likeness]


def _middle(grid: Grid, cell: GridCell) -> tuple[float, float]:
    """Return the center of the box that a cell's note fills, in millionths."""
    box = grid.box(cell)
    return (box.x + box.width / 2) * 1e6, (box.y + box.height / 2) * 1e6


Notice: TypeAlias = Callable[[str], object]
"""Callback for one-line messages to the user."""
_WAIT_SECONDS = 30.0
"""Longest wait for another process that writes the layout, which takes a few seconds."""


def house(
    paths: PalacePaths,
    snapshot: Snapshot,
    known: NDArray[np.int64],
    vectors: Matrix,
    *,
    relayout: bool = False,
    remark: Notice = lambda words: None,
) -> Layout:
    """Return the layout of notes and store it beside the index; ``known`` are snapshot indexes.

    Notes keep their cells, unless ``relayout`` discards them. ``remark`` is called if the stored
    layout is damaged or cannot be written. The layout has its own lock; index builds do not wait.
    """
    file, lock = paths.view.with_suffix(".json"), paths.view.with_suffix(".lock")
    before = Layout() if relayout else read_layout(file, remark)
    layout = follow(snapshot, known, vectors, before)
    if layout == before:
        return layout
    try:
        with writer_lock(lock, wait_seconds=_WAIT_SECONDS, what="the plan's layout"):
            now = before if relayout else read_layout(file)
            if now != before:  # another process has just stored a layout
                layout = follow(snapshot, known, vectors, now)
            write_atomic(file, _dump(layout))
    except (OSError, IndexLockedError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        remark(f"new notes may lie elsewhere the next time: {file}: {why}")
    return layout


def read_layout(file: Path, remark: Notice = lambda words: None) -> Layout:
    """Return the stored layout; an empty layout if there is none, or, with a remark, if damaged."""
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
    """Return the bytes of a layout's file, deterministically."""
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
    return json.dumps(body, separators=(",", ":"), sort_keys=True)


def _check(body: object) -> str:
    return sha256(_write(body).encode()).hexdigest()[:16]


def follow(snapshot: Snapshot, known: NDArray[np.int64], vectors: Matrix, before: Layout) -> Layout:
    """Return the layout of the notes ``known``; notes in ``before`` keep their cells."""
    given = {
        snapshot.paths[place]: ARCHIVE if snapshot.cold[place] else snapshot.rooms[place]
        for place in known.tolist()
    }
    home, rooms = name_rooms(given, before.home, [room.name for room in before.rooms])
    return lay_out(rooms, vectors, replace(before, home=home))


GATHERED = "smaller folders"
"""Name of the room shared by small folders."""
_MOST_ROOMS = 24
_LEAST_SHARE = 0.01
"""Lowest share of all notes for a folder's own room if there are too many folders."""
_MAIN_SHARE = 0.8
"""Share of the notes from which on a folder's subfolders become the rooms."""


def name_rooms(
    given: Mapping[str, str], home: str, known: Sequence[str]
) -> tuple[str, dict[str, str]]:
    """Return the home folder, whose subfolders are rooms, and the room of each path.

    ``given`` maps paths to the archive or one of the seven rooms, or to an empty string. ``known``
    are the rooms of a layout with this ``home``; if empty, the home is chosen. If there are too
    many folders, small ones share a room, also in later layouts.
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
    """Return the folder for a note's room: subfolder of home, or outside home top folder."""
    below = path.removeprefix(f"{home}/") if home else path
    first, slash, _ = below.partition("/")
    if home and below == path:
        return first if slash else ""
    return "/".join(part for part in (home, first if slash else "") if part)


def _find_home(paths: Sequence[str]) -> str:
    """Return the deepest folder with at least ``_MAIN_SHARE`` of the notes and used subfolders."""
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
