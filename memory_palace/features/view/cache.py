"""Keep the layout of a palace in one file beside its index, so that notes stay where they are."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

from memory_palace.errors import PalaceError
from memory_palace.features.view.grid import Extent, Grid
from memory_palace.features.view.layout import LaidRoom, Layout, Lodging
from memory_palace.storage.atomic import write_atomic

FORMAT = 1
_SWEPT_AT_MOST = 3
"""A build of the index may sweep our temporary away before it gets its name: it is written again.
A build sweeps once, so this never happens as often."""


class LayoutDamagedError(PalaceError):
    """A layout that cannot be read. It is derived: another is made."""


def read_layout(path: Path) -> Layout:
    """Return the layout that is kept; an empty one where there is none.

    Raise ``LayoutDamagedError`` for a file that is not as it was written.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return Layout()
    except OSError as error:
        raise LayoutDamagedError(f"{path.name} cannot be read: {error.strerror}") from error
    try:
        record = json.loads(data)
        if record["format"] != FORMAT:
            raise LayoutDamagedError(f"{path.name} has a format that this version does not read")
        if record["check"] != _check(record["layout"]):
            raise LayoutDamagedError(f"{path.name} does not match its own digest")
        return _parse(record["layout"])
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise LayoutDamagedError(f"{path.name} is damaged") from error


def write_layout(path: Path, layout: Layout) -> None:
    """Replace the file. The caller holds the lock of the layout; the same layout, the same bytes.

    Raise ``OSError`` where it cannot be written.
    """
    body = _dump(layout)
    data = f'{{"format":{FORMAT},"check":"{_check(body)}","layout":{_write(body)}}}\n'.encode()
    write_beside_index(path, data)


def write_beside_index(path: Path, data: bytes) -> None:
    """Replace a file in the folder of the index, whose lock somebody else may hold."""
    for attempt in range(1, _SWEPT_AT_MOST + 1):
        try:
            write_atomic(path, data)
        except FileNotFoundError:
            if attempt == _SWEPT_AT_MOST or not path.parent.is_dir():
                raise
        else:
            return


def _dump(layout: Layout) -> dict[str, Any]:
    numbers = {room.name: number for number, room in enumerate(layout.rooms)}
    return {
        "home": layout.home,
        "gathered": layout.gathered,
        "rooms": [[room.name, room.extent, room.grid, room.districts] for room in layout.rooms],
        "notes": [
            [path, numbers[lodging.room], lodging.cell, lodging.digest]
            for path, lodging in layout.notes.items()
        ],
    }


def _parse(body: dict[str, Any]) -> Layout:
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
        path: Lodging(rooms[number].name, tuple(cell), digest)
        for path, number, cell, digest in body["notes"]
    }
    return Layout(body["home"], tuple(body["gathered"]), tuple(rooms), notes)


def _write(body: dict[str, Any]) -> str:
    return json.dumps(body, ensure_ascii=True, separators=(",", ":"), sort_keys=True)


def _check(body: dict[str, Any]) -> str:
    return sha256(_write(body).encode()).hexdigest()[:16]
