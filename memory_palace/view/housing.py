"""Give every note of a palace its place, and keep it beside the index."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from memory_palace.config import PalacePaths
from memory_palace.errors import IndexLockedError
from memory_palace.index.snapshot import Snapshot
from memory_palace.models import Matrix
from memory_palace.storage.lock import writer_lock
from memory_palace.view.cache import LayoutDamagedError, read_layout, write_layout
from memory_palace.view.layout import Layout, Resident, lay_out
from memory_palace.view.linking import NotePlaces
from memory_palace.view.rooms import Abode, RoomPlan, extend_rooms, plan_rooms

Notice: TypeAlias = Callable[[str], object]
"""Told, in one line, what a person should know."""
_MOST_CROWDED = 0.1
"""Share of the notes in cells of the streets from which a new plan is worth its while."""
_WAIT_SECONDS = 30.0
"""For another that writes the layout of the same palace: laying out anew takes a few seconds."""


def house(
    paths: PalacePaths,
    snapshot: Snapshot,
    known: NotePlaces,
    vectors: Matrix,
    *,
    relayout: bool = False,
    remark: Notice = lambda words: None,
) -> Layout:
    """Return the layout of these notes, which is kept for the next time.

    Notes keep the places they have, unless ``relayout`` forgets them. Where the layout cannot be
    kept, or is damaged, ``remark`` is told. It is written under a lock of its own: neither does a
    build of the index wait for it, nor it for a build.
    """
    before = Layout() if relayout else _read(paths, remark)
    layout = follow(snapshot, known, vectors, before)
    crowded = sum(len(lodging.cell) > 1 for lodging in layout.notes.values())
    if crowded > _MOST_CROWDED * len(layout.notes):
        remark(
            f"{crowded:,} of {len(layout.notes):,} notes are small, for want of room; `palace view "
            "--relayout` lays the plan out anew"
        )
    if layout == before:
        return layout
    try:
        with writer_lock(
            paths.view.with_suffix(".lock"), wait_seconds=_WAIT_SECONDS, what="the plan's layout"
        ):
            now = before if relayout else _read(paths, lambda words: None)
            if now != before:  # another has just given new notes their places
                layout = follow(snapshot, known, vectors, now)
            write_layout(_file(paths), layout)
    except (OSError, IndexLockedError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        remark(f"new notes may lie elsewhere the next time: {_file(paths)}: {why}")
    return layout


def _file(paths: PalacePaths) -> Path:
    return paths.view.with_suffix(".json")


def _read(paths: PalacePaths, remark: Notice) -> Layout:
    try:
        return read_layout(_file(paths))
    except LayoutDamagedError as error:
        remark(f"the plan is laid out anew: {error}")
        return Layout()


def follow(snapshot: Snapshot, known: NotePlaces, vectors: Matrix, before: Layout) -> Layout:
    """Return the layout of these notes in which those of ``before`` keep their places."""
    places = known.tolist()
    rooms, cold = snapshot.rooms, snapshot.cold
    abodes = [Abode(snapshot.paths[p], rooms[p], bool(cold[p])) for p in places]
    if before.rooms:
        names = [room.name for room in before.rooms]
        plan = extend_rooms(RoomPlan(before.home, before.gathered), names, abodes)
    else:
        plan = plan_rooms(abodes)
    residents = [
        Resident(abode.path, bytes(snapshot.note_digests[place]).hex(), room)
        for place, abode, room in zip(places, abodes, plan.name_rooms(abodes), strict=True)
    ]
    return lay_out(residents, vectors, replace(before, home=plan.home, gathered=plan.gathered))
