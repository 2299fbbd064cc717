"""Give new notes of a room cells near the notes that are most like them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from memory_palace.models import Matrix
from memory_palace.view.grid import Grid, GridCell

_NEAREST = 3
"""So many notes draw a new one to them."""


class Settler:
    """The notes of one room, of which some have no cell yet."""

    def __init__(self, grid: Grid, vectors: Matrix, cells: Sequence[GridCell | None]) -> None:
        """Take the notes in path order, and the cell of each that has one."""
        self._grid = grid
        self._vectors = vectors
        self._cells = list(cells)
        self._at = np.array([self._middle(c) if c else (0.0, 0.0) for c in cells]).reshape(-1, 2)
        self._settled = [place for place, cell in enumerate(cells) if cell]

    def settle(self) -> list[GridCell]:
        """Return the cell of every note, in order.

        Notes are settled in batches, each as large as what is settled already, so that many new
        ones do not crowd around few old ones.
        """
        waiting = [place for place, cell in enumerate(self._cells) if not cell]
        level = 0
        free, corners = self._find_free(level)
        while waiting:
            batch = waiting[: max(len(self._settled), 1)]
            waiting = waiting[len(batch) :]
            for place, near in zip(batch, self._find_near(batch), strict=True):
                while not free.any():
                    level += 1
                    free, corners = self._find_free(level)
                chosen = self._nearest(corners, free, near)
                free[chosen] = False
                self._take(place, self._names[chosen])
            self._settled = sorted([*self._settled, *batch])
        return [cell for cell in self._cells if cell]

    def _find_free(self, level: int) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
        self._names = list(self._grid.cells(level))
        taken = {cell for cell in self._cells if cell}
        free = np.array([name not in taken for name in self._names], np.bool_)
        middles = self._grid.corners(level) + np.array(self._grid.size(level)) / 2
        return free, middles

    def _find_near(self, batch: Sequence[int]) -> list[NDArray[np.int64]]:
        """Return the settled notes that each of a batch is most like, or is listed beside."""
        settled = np.array(self._settled, np.int64)
        if not len(settled):
            return [settled] * len(batch)
        if self._vectors.shape[1] == 0:
            away = np.abs(settled[None, :] - np.array(batch)[:, None])
            return [settled[row[:_NEAREST]] for row in np.argsort(away, axis=1, kind="stable")]
        found: list[NDArray[np.int64]] = []
        for place in batch:
            likeness = np.round(self._vectors[settled] @ self._vectors[place], 4)
            found.append(settled[np.argsort(-likeness, kind="stable")[:_NEAREST]])
        return found

    def _nearest(
        self, middles: NDArray[np.float64], free: NDArray[np.bool_], near: NDArray[np.int64]
    ) -> int:
        places = np.flatnonzero(free)
        if not len(near):
            return int(places[0])
        away = middles[places][:, None, :] - self._at[near][None, :, :]
        lengths = np.sqrt((away**2).sum(axis=2)).sum(axis=1)
        return int(places[np.round(lengths).argmin()])

    def _take(self, place: int, cell: GridCell) -> None:
        self._cells[place] = cell
        self._at[place] = self._middle(cell)

    def _middle(self, cell: GridCell) -> tuple[float, float]:
        """Return the middle of a cell, in millionths."""
        box = self._grid.box(cell)
        return (box.x + box.width / 2) * 1e6, (box.y + box.height / 2) * 1e6
