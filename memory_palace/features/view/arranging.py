"""Put notes into the grid of a room so that what is near in meaning lies near: all, or new ones.

Notes are halved along their main direction, and the grid along its longer side, until one note is
left for a cell. Without vectors they are halved in path order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memory_palace.features.view.grid import CELL_SHAPE, Grid, GridCell, GridSpan
from memory_palace.models import Matrix

MOST_PER_DISTRICT = 80
"""Halves of more notes are halved again, so districts have about 40 to 80."""
_DIRECTIONS = 48
"""Directions that are kept of the vectors: what splits a room is in the first few."""
_STEPS = 8
"""Of the power iteration; what it starts from is a direction already."""
_FEW = 6
"""So few notes are split along the direction of the whole room."""


class Arranged(NamedTuple):
    """Where the notes of a room are put."""

    cells: list[int]
    """For each note the number of its cell."""
    districts: list[GridSpan]


def arrange(vectors: Matrix, columns: int, rows: int) -> Arranged:
    """Give each note, a row of ``vectors`` in path order, a cell of a grid with enough of them."""
    points = find_directions(vectors)
    cells, districts = [0] * len(vectors), list[GridSpan]()
    for span, notes, is_district in _halve(points, columns, rows):
        if is_district:
            districts.append(span)
        if len(notes) == 1 and (span[2] - span[0]) * (span[3] - span[1]) == 1:
            cells[int(notes[0])] = span[1] * columns + span[0]
    return Arranged(cells, districts)


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


_NEAREST = 3
"""So many notes draw a new one to them."""


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
