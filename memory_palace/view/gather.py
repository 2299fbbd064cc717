"""Gather what a page shows of a palace. Nothing of a private note is taken up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np

from memory_palace.changes.journal import read_moves
from memory_palace.engine import Engine
from memory_palace.index.segment import SOURCES, STAT
from memory_palace.index.snapshot import Snapshot
from memory_palace.mnemonics.reviews import load_reviews
from memory_palace.models import Matrix
from memory_palace.notes.usage import USAGE, Usage, logs_usage, read_usage
from memory_palace.places import ARCHIVE
from memory_palace.view.districts import draw_districts
from memory_palace.view.grid import to_box
from memory_palace.view.housing import Notice, house
from memory_palace.view.labels import LabelText
from memory_palace.view.layout import LaidRoom, Layout
from memory_palace.view.linking import (
    LinksOf,
    NotePlaces,
    choose_notes,
    find_room,
    limit_notes,
    resolve_links,
)
from memory_palace.view.meaning import find_near, mean_vectors
from memory_palace.view.options import ViewOptions
from memory_palace.view.texts import ShownText, read_texts, shorten
from memory_palace.view.values import PalacePlan, PlanDistrict, PlanNote, PlanRoom

_DAY_SECONDS = 86_400
_LEAST_DECAY = 1e-4


@dataclass(frozen=True, slots=True)
class _Scene:
    """All that the parts of a plan are made of."""

    snapshot: Snapshot
    layout: Layout
    rooms: tuple[LaidRoom, ...]
    """Those of the plan."""
    shown: tuple[ShownText, ...]
    links: LinksOf
    near: Sequence[tuple[int, ...]]
    usage: Usage | None
    half_life_days: float
    include_cold: bool


def gather(
    engine: Engine, options: ViewOptions, *, remark: Notice = lambda words: None
) -> PalacePlan:
    """Return the plan of a palace as its index has it, texts as they are on the disk.

    Raise ``UsageError`` for a room that the palace does not have, ``IndexMissingError`` without an
    index. ``remark`` is told what a person should know of the layout. The same notes and the same
    layout beside the index give the same plan.
    """
    snapshot = engine.snapshot(include_cold=True)
    known = np.flatnonzero(~snapshot.private)
    vectors = mean_vectors(snapshot, known)
    layout = house(engine.paths, snapshot, known, vectors, relayout=options.relayout, remark=remark)
    chosen = choose_notes(snapshot, layout, options)
    links = resolve_links(snapshot, include_cold=options.include_cold)
    kept = limit_notes(snapshot, chosen, links, options.max_notes)
    amount, shown = shorten(read_texts(engine, snapshot, kept, load_reviews(engine.paths)))
    only = None if options.room is None else find_room(layout, options.room)
    scene = _Scene(
        snapshot=snapshot,
        layout=layout,
        rooms=tuple(room for room in layout.rooms if only in (None, room.name)),
        shown=tuple(shown),
        links=links,
        near=find_near(_rows_of(vectors, known, shown)),
        usage=_read_use(engine),
        half_life_days=engine.config.half_life_days,
        include_cold=options.include_cold,
    )
    day = max((_changed_on(snapshot, text.place) for text in shown), default=0)
    return PalacePlan(
        title=engine.paths.root.resolve().name,
        rooms=tuple(_draw_room(scene, room) for room in scene.rooms),
        districts=tuple(_draw_all_districts(scene)),
        notes=tuple(_draw_notes(scene, day)),
        text_amount=amount,
        left_out=len(chosen) - len(kept),
        day=day,
    )


def _rows_of(vectors: Matrix, known: NotePlaces, shown: Sequence[ShownText]) -> Matrix:
    places = np.array([text.place for text in shown], np.int64)
    rows: Matrix = vectors[np.searchsorted(known, places)]
    return rows


def _read_use(engine: Engine) -> Usage | None:
    """Return the log of use; ``None`` where it is not kept and never was."""
    is_kept = logs_usage(engine.paths, engine.config)
    if not is_kept and not (engine.paths.logs / USAGE).exists():
        return None
    today = datetime.now(UTC).date()  # only tells disuse, which a plan does not ask for
    return read_usage(engine.paths.logs, read_moves(engine.paths), today=today, is_kept=is_kept)


def _draw_room(scene: _Scene, room: LaidRoom) -> PlanRoom:
    snapshot = scene.snapshot
    is_cold = room.name == ARCHIVE
    locked = 0
    if is_cold and not scene.include_cold:
        locked = int((snapshot.cold & ~snapshot.private).sum())
    notes = sum(_room_of(scene, text) == room.name for text in scene.shown)
    return PlanRoom(room.name, to_box(room.extent), is_cold, notes, locked)


def _room_of(scene: _Scene, text: ShownText) -> str:
    return scene.layout.notes[scene.snapshot.paths[text.place]].room


def _draw_all_districts(scene: _Scene) -> list[PlanDistrict]:
    found: list[PlanDistrict] = []
    paths, titles, tags = scene.snapshot.paths, scene.snapshot.titles, scene.snapshot.shown_tags
    for number, room in enumerate(scene.rooms):
        here = [text for text in scene.shown if _room_of(scene, text) == room.name]
        cells = [scene.layout.notes[paths[text.place]].cell for text in here]
        texts = [LabelText(titles[t.place], tags[t.place], t.text) for t in here]
        found += draw_districts(room, number, cells, texts)
    return found


def _draw_notes(scene: _Scene, day: int) -> list[PlanNote]:
    snapshot = scene.snapshot
    at = {text.place: number for number, text in enumerate(scene.shown)}
    rooms = {room.name: number for number, room in enumerate(scene.rooms)}
    aliases = snapshot.aliases()
    notes: list[PlanNote] = []
    for number, shown in enumerate(scene.shown):
        place = shown.place
        path = snapshot.paths[place]
        lodging = scene.layout.notes[path]
        room = rooms[lodging.room]
        own_day = int(snapshot.dates[place] // _DAY_SECONDS)
        age = 0 if snapshot.evergreen[place] else max(day - own_day, 0)
        notes.append(
            PlanNote(
                path=path,
                title=snapshot.titles[place],
                aliases=aliases[place],
                type=snapshot.types[place],
                tags=snapshot.shown_tags[place],
                room=room,
                box=scene.rooms[room].grid.box(lodging.cell),
                length=int(snapshot.stats[place, STAT.size]),
                uses=None if scene.usage is None else scene.usage.count(path),
                day=own_day,
                changed=_changed_on(snapshot, place),
                priority=int(snapshot.priorities[place]),
                confidence=shown.confidence,
                decay=max(round(float(0.5 ** (age / scene.half_life_days)), 4), _LEAST_DECAY),
                is_cold=bool(snapshot.cold[place]),
                links=tuple((to, at[n]) for to, n in scene.links.get(place, ()) if n in at),
                near=scene.near[number],
                text=shown.text,
                is_dated=SOURCES[int(snapshot.date_sources[place])] != "mtime",
            )
        )
    return notes


def _changed_on(snapshot: Snapshot, place: int) -> int:
    return int(snapshot.stats[place, STAT.changed_ns] // (_DAY_SECONDS * 1_000_000_000))
