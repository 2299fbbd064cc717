"""The cells of a room: a regular grid, and smaller cells in the streets between.

A note fills three quarters of its cell in each direction. The rest is street, and holds seven
cells of a quarter of the size, each with streets of its own. So a room never runs out of cells, and
no note has to move or shrink for another.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

from memory_palace.features.view.values import Box

MILLION = 1_000_000
"""Layouts are whole millionths of a plan unit, so that every machine computes the same."""
CELL_SHAPE = 1.3
"""How much wider than high a cell should be: titles are."""
_PARTS = 4
_STREETS = tuple(
    (column, row)
    for row in range(_PARTS)
    for column in range(_PARTS)
    if max(column, row) == _PARTS - 1
)
"""The seven quarters of a cell, by column and row, that its note leaves free."""

GridCell: TypeAlias = tuple[int, ...]
"""Number of a cell, counted row by row, then which of the street's cells, and so on."""
GridSpan: TypeAlias = tuple[int, int, int, int]
"""First column, first row, and the column and row after the last."""


class Extent(NamedTuple):
    """An upright rectangle in millionths of a plan unit."""

    x: int
    y: int
    width: int
    height: int


class Grid(NamedTuple):
    """How the inside of a room is divided."""

    inside: Extent
    columns: int
    rows: int

    def cells(self, level: int) -> Iterator[GridCell]:
        """Yield all cells of one level: 0 those of the grid, 1 those in its streets, and so on."""
        if level == 0:
            yield from ((number,) for number in range(self.columns * self.rows))
        else:
            yield from ((*c, k) for c in self.cells(level - 1) for k in range(len(_STREETS)))

    @property
    def size(self) -> tuple[float, float]:
        """Width and height of its own cells, those of level 0."""
        return self.inside.width / self.columns, self.inside.height / self.rows

    def box(self, cell: GridCell) -> Box:
        """Return the part of a cell that its note fills."""
        width, height = self.size
        x = self.inside.x + cell[0] % self.columns * width
        y = self.inside.y + cell[0] // self.columns * height
        for street in cell[1:]:
            width, height = width / _PARTS, height / _PARTS
            x, y = x + _STREETS[street][0] * width, y + _STREETS[street][1] * height
        filled = (_PARTS - 1) / _PARTS
        return _box(x, y, width * filled, height * filled)

    def box_of(self, span: GridSpan) -> Box:
        """Return the box around some columns and rows."""
        width, height = self.size
        x, y = self.inside.x + span[0] * width, self.inside.y + span[1] * height
        return _box(x, y, (span[2] - span[0]) * width, (span[3] - span[1]) * height)


def divide(inside: Extent, cells: int) -> Grid:
    """Divide a rectangle into at least so many cells, of about the shape that cells should have."""
    ideal = (cells * inside.width / inside.height / CELL_SHAPE) ** 0.5
    columns = min(max(round(ideal), 1), cells)
    return Grid(inside, columns, -(-cells // columns))


def to_box(extent: Extent) -> Box:
    """Return an extent in plan units."""
    return _box(*extent)


def _box(x: float, y: float, width: float, height: float) -> Box:
    return Box(*(round(value / MILLION, 7) for value in (x, y, width, height)))
