"""Give every note of a palace its place, and keep it beside the index."""

from __future__ import annotations

from dataclasses import replace

from memory_palace.engine import Engine
from memory_palace.index.snapshot import Snapshot
from memory_palace.models import Matrix
from memory_palace.view.layout import Layout, Resident, lay_out
from memory_palace.view.linking import NotePlaces
from memory_palace.view.rooms import Abode, RoomPlan, extend_rooms, plan_rooms


def house(
    engine: Engine, snapshot: Snapshot, known: NotePlaces, vectors: Matrix, *, relayout: bool
) -> Layout:
    """Return the layout of all notes that are not private, cold ones included."""
    del engine, relayout
    return follow(snapshot, known, vectors, Layout())


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
