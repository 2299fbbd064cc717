"""The districts of rooms: what lies together there, under the words that tell it from the rest."""

from __future__ import annotations

from collections.abc import Sequence

from memory_palace.view.grid import Grid, GridCell, GridSpan
from memory_palace.view.labels import LabelText, label_groups
from memory_palace.view.layout import LaidRoom
from memory_palace.view.values import PlanDistrict


def draw_districts(
    room: LaidRoom, number: int, cells: Sequence[GridCell], texts: Sequence[LabelText]
) -> list[PlanDistrict]:
    """Return the districts of a room that have notes.

    ``number`` is the room's place on the plan; ``cells`` and ``texts`` are of the notes
    shown.
    """
    inside = [_find_district(room.grid, room.districts, cell) for cell in cells]
    used = sorted({district for district in inside if district >= 0})
    groups = [used.index(district) if district >= 0 else -1 for district in inside]
    labels = label_groups(texts, groups, len(used)) if len(used) > 1 else [""] * len(used)
    return [
        PlanDistrict(number, room.grid.box_of(room.districts[district]), label, groups.count(at))
        for at, (district, label) in enumerate(zip(used, labels, strict=True))
    ]


def _find_district(grid: Grid, districts: Sequence[GridSpan], cell: GridCell) -> int:
    """Return the district that a cell is in; -1 where it is in none."""
    row, column = divmod(cell[0], grid.columns)
    for number, (left, top, right, below) in enumerate(districts):
        if left <= column < right and top <= row < below:
            return number
    return -1
