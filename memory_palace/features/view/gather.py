"""Gather what a page shows of a palace. Nothing of a private note is taken up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray

from memory_palace.changes.journal import read_moves
from memory_palace.engine import Engine
from memory_palace.features.view.grid import to_box
from memory_palace.features.view.housing import Notice, house
from memory_palace.features.view.labels import LabelText, draw_districts
from memory_palace.features.view.layout import Layout
from memory_palace.features.view.texts import ShownText, read_texts, shorten
from memory_palace.features.view.values import (
    PalacePlan,
    PlanDistrict,
    PlanNote,
    PlanRoom,
    ViewOptions,
)
from memory_palace.graph.near import list_links
from memory_palace.graph.zones import ZonedNames
from memory_palace.index.segment import SOURCES, STAT
from memory_palace.index.snapshot import Snapshot
from memory_palace.models import Matrix
from memory_palace.notes.usage import USAGE, logs_usage, read_usage
from memory_palace.places import ARCHIVE

NEAR = 5
"""How many notes are named as the nearest of a note."""
_NOTES_AT_ONCE = 2_000
_COMPARED_AT_ONCE = 512
_DAY_SECONDS = 86_400
_LEAST_DECAY = 1e-4


def gather(
    engine: Engine, options: ViewOptions, *, remark: Notice = lambda words: None
) -> PalacePlan:
    """Return the plan of a palace as its index has it, texts as they are on the disk.

    Raise ``IndexMissingError`` without an index. ``remark`` is told what a person should know of
    the layout. The same notes and the same layout beside the index give the same plan.
    """
    snapshot = engine.snapshot(include_cold=True)
    known = np.flatnonzero(~snapshot.private)
    vectors = mean_vectors(snapshot, known)
    layout = house(engine.paths, snapshot, known, vectors, relayout=options.relayout, remark=remark)
    is_seen = ~snapshot.private if options.include_cold else ~(snapshot.private | snapshot.cold)
    amount, shown = shorten(read_texts(engine, snapshot, np.flatnonzero(is_seen)))
    places = np.array([text.place for text in shown], np.int64)
    near = find_near(vectors[np.searchsorted(known, places)])
    links = _resolve_links(snapshot, np.flatnonzero(is_seen).tolist())
    rooms: list[PlanRoom] = []
    districts: list[PlanDistrict] = []
    lodged = [(text, layout.notes[snapshot.paths[text.place]]) for text in shown]
    for number, room in enumerate(layout.rooms):
        here = [(text, lodging) for text, lodging in lodged if lodging.room == room.name]
        is_cold = room.name == ARCHIVE
        is_locked = is_cold and not options.include_cold
        locked = int((snapshot.cold & ~snapshot.private).sum()) if is_locked else 0
        rooms.append(PlanRoom(room.name, to_box(room.extent), is_cold, len(here), locked))
        texts = [
            LabelText(snapshot.titles[text.place], snapshot.shown_tags[text.place], text.text)
            for text, _ in here
        ]
        districts += draw_districts(room, number, [lodging.cell for _, lodging in here], texts)
    day = max((_changed_on(snapshot, text.place) for text in shown), default=0)
    return PalacePlan(
        title=engine.paths.root.resolve().name,
        rooms=tuple(rooms),
        districts=tuple(districts),
        notes=tuple(_draw_notes(engine, snapshot, layout, shown, links, near, day)),
        text_amount=amount,
        day=day,
    )


def _resolve_links(
    snapshot: Snapshot, nodes: Sequence[int]
) -> dict[int, tuple[tuple[str, int], ...]]:
    """Return for each note the targets as written, and the note each leads to, as the graph does.

    A link of a note to itself, or to one that is not among the nodes, is left out.
    """
    aliases, titles, targets = snapshot.aliases(), snapshot.titles, list_links(snapshot)
    names = ZonedNames(
        (snapshot.paths[n], (*aliases[n], titles[n]), bool(snapshot.cold[n])) for n in nodes
    )
    at = {snapshot.paths[node]: node for node in nodes}
    found: dict[int, tuple[tuple[str, int], ...]] = {}
    for node in nodes:
        path = snapshot.paths[node]
        pairs = list(dict.fromkeys(names.read(text, path) for text in targets[node]))
        found[node] = tuple((text, at[to]) for text, to in pairs if to not in (None, path) and to)
    return found


def _draw_notes(
    engine: Engine,
    snapshot: Snapshot,
    layout: Layout,
    shown: Sequence[ShownText],
    links: Mapping[int, Sequence[tuple[str, int]]],
    near: Sequence[tuple[int, ...]],
    day: int,
) -> Iterator[PlanNote]:
    usage, is_kept = None, logs_usage(engine.paths, engine.config)
    if is_kept or (engine.paths.logs / USAGE).exists():
        today = datetime.now(UTC).date()  # only tells disuse, which a plan does not ask for
        moves = read_moves(engine.paths)
        usage = read_usage(engine.paths.logs, moves, today=today, is_kept=is_kept)
    at = {text.place: number for number, text in enumerate(shown)}
    rooms = {room.name: number for number, room in enumerate(layout.rooms)}
    aliases = snapshot.aliases()
    for number, text in enumerate(shown):
        place, path = text.place, snapshot.paths[text.place]
        lodging = layout.notes[path]
        room = rooms[lodging.room]
        own_day = int(snapshot.dates[place] // _DAY_SECONDS)
        age = 0 if snapshot.evergreen[place] else max(day - own_day, 0)
        decay = round(float(0.5 ** (age / engine.config.half_life_days)), 4)
        yield PlanNote(
            path=path,
            title=snapshot.titles[place],
            aliases=aliases[place],
            type=snapshot.types[place],
            tags=snapshot.shown_tags[place],
            room=room,
            box=layout.rooms[room].grid.box(lodging.cell),
            length=int(snapshot.stats[place, STAT.size]),
            uses=None if usage is None else usage.count(path),
            day=own_day,
            changed=_changed_on(snapshot, place),
            priority=int(snapshot.priorities[place]),
            confidence=text.confidence,
            decay=max(decay, _LEAST_DECAY),
            is_cold=bool(snapshot.cold[place]),
            links=tuple((to, at[n]) for to, n in links.get(place, ()) if n in at),
            near=near[number],
            text=text.text,
            is_dated=SOURCES[int(snapshot.date_sources[place])] != "mtime",
        )


def _changed_on(snapshot: Snapshot, place: int) -> int:
    return int(snapshot.stats[place, STAT.changed_ns] // (_DAY_SECONDS * 1_000_000_000))


def mean_vectors(snapshot: Snapshot, notes: NDArray[np.int64]) -> Matrix:
    """Return the mean vector of each note's passages, of unit length; zero for a note without any.

    Shape ``(notes, dimension)``; ``(notes, 0)`` where the index has no vectors. ``notes`` are
    places in the snapshot, ascending.
    """
    dimension = snapshot.commit.dimension
    means = np.zeros((len(notes), dimension), np.float32)
    if not dimension:
        return means
    owners = snapshot.row_note
    rows = np.argsort(owners, kind="stable")
    sorted_owners = owners[rows]
    for first in range(0, len(notes), _NOTES_AT_ONCE):
        chosen = notes[first : first + _NOTES_AT_ONCE]
        starts = np.searchsorted(sorted_owners, chosen)
        stops = np.searchsorted(sorted_owners, chosen, side="right")
        counts = stops - starts
        here = np.concatenate([rows[a:b] for a, b in zip(starts, stops, strict=True)])
        vectors = snapshot.rows_of(here)
        borders = np.concatenate([[0], np.cumsum(counts)])[:-1]
        full = counts > 0
        sums = np.add.reduceat(vectors, borders[full]) if full.any() else vectors[:0]
        lengths = np.linalg.norm(sums, axis=1, keepdims=True)
        means[first : first + len(chosen)][full] = sums / np.maximum(lengths, 1e-12)
    return means


def find_near(vectors: Matrix) -> list[tuple[int, ...]]:
    """Return for each note the places of those nearest in meaning, the nearest first.

    None where there are no vectors. Memory grows with the notes, not with their square.
    """
    count = min(NEAR, len(vectors) - 1)
    if count < 1 or vectors.shape[1] == 0:
        return [()] * len(vectors)
    found: list[tuple[int, ...]] = []
    for first in range(0, len(vectors), _COMPARED_AT_ONCE):
        block = vectors[first : first + _COMPARED_AT_ONCE]
        likeness = block @ vectors.T
        own = np.arange(len(block))
        likeness[own, own + first] = -2.0
        best = np.sort(np.argpartition(-likeness, count - 1, axis=1)[:, :count], axis=1)
        values = np.round(np.take_along_axis(likeness, best, axis=1), 4)
        order = np.argsort(-values, axis=1, kind="stable")
        ranked = np.take_along_axis(best, order, axis=1)
        kept = np.take_along_axis(values, order, axis=1) > 0
        found += [tuple(row[keep].tolist()) for row, keep in zip(ranked, kept, strict=True)]
    return found
