"""Gather what a page shows of a palace. Nothing of a private note is taken up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from memory_palace.features.view.grid import to_box
from memory_palace.features.view.housing import Notice, house
from memory_palace.features.view.labels import LabelText, draw_districts
from memory_palace.features.view.layout import Layout
from memory_palace.features.view.values import PalacePlan, PlanDistrict, PlanNote, PlanRoom
from memory_palace.graph.near import list_links
from memory_palace.graph.resolve import ZonedNames
from memory_palace.index.segment import SOURCES, STAT
from memory_palace.index.snapshot import Snapshot
from memory_palace.markdown.prose import shown_text
from memory_palace.models import Matrix
from memory_palace.notes.parsing import read_body
from memory_palace.notes.reading import NoteUnreadable, read_named
from memory_palace.palace import Palace
from memory_palace.places import ARCHIVE

NEAR = 3
"""How many notes are named as the nearest of a note: of 25,000 notes they are half of the plan."""
_ROWS_AT_ONCE = 10_000
_COMPARED_AT_ONCE = 512
_DAY_SECONDS = 86_400


def gather(
    palace: Palace,
    *,
    include_cold: bool = False,
    relayout: bool = False,
    remark: Notice = lambda words: None,
) -> PalacePlan:
    """Return the plan of a palace as its index has it, texts as they are on the disk.

    ``relayout`` forgets the places that notes had; ``remark`` is told what a person should know of
    the layout. The same notes and the same layout beside the index give the same plan. Raise
    ``IndexMissingError`` without an index.
    """
    snapshot = palace.snapshot(include_cold=True)
    known = np.flatnonzero(~snapshot.private)
    vectors = mean_vectors(snapshot, known)
    layout = house(palace.paths, snapshot, known, vectors, relayout=relayout, remark=remark)
    seen = known if include_cold else known[~snapshot.cold[known]]
    read = ((place, read_text(palace, snapshot.paths[place])) for place in seen.tolist())
    texts = {place: text for place, text in read if text is not None}
    near = find_near(vectors[np.searchsorted(known, list(texts))])
    locked = 0 if include_cold else int(snapshot.cold[known].sum())
    members: dict[str, list[int]] = {room.name: [] for room in layout.rooms}
    for place in texts:
        members[layout.notes[snapshot.paths[place]].room].append(place)
    rooms: list[PlanRoom] = []
    districts: list[PlanDistrict] = []
    for number, (room, here) in enumerate(zip(layout.rooms, members.values(), strict=True)):
        is_cold = room.name == ARCHIVE
        box = to_box(room.extent)
        rooms.append(PlanRoom(room.name, box, is_cold, len(here), locked if is_cold else 0))
        cells = [layout.notes[snapshot.paths[place]].cell for place in here]
        words = [LabelText(snapshot.titles[p], snapshot.shown_tags[p], texts[p]) for p in here]
        districts += draw_districts(room, number, cells, words)
    return PalacePlan(
        title=palace.paths.root.resolve().name,
        rooms=tuple(rooms),
        districts=tuple(districts),
        notes=tuple(_draw_notes(snapshot, layout, texts, near)),
        day=max((_changed_on(snapshot, place) for place in texts), default=0),
    )


def read_text(palace: Palace, path: str) -> str | None:
    """Return what a page shows of a note, read from the disk.

    That is its Markdown without front matter, comments, HTML and verification tokens; lines that
    are private or hold a secret are blank, as in the index. ``None`` for a note that is private,
    gone or unreadable.
    """
    try:
        data = read_named(palace.paths, path, limit_bytes=palace.config.max_note_bytes)
    except FileNotFoundError:
        return None
    except NoteUnreadable as error:
        palace.note_unread([error.problem])
        return None
    body = read_body(path, data)
    return None if body.is_private else shown_text(body.text, keep_links=True).strip("\n")


def _draw_notes(
    snapshot: Snapshot,
    layout: Layout,
    texts: Mapping[int, str],
    near: Sequence[tuple[int, ...]],
) -> Iterator[PlanNote]:
    at = {place: number for number, place in enumerate(texts)}
    rooms = {room.name: number for number, room in enumerate(layout.rooms)}
    aliases, links = snapshot.aliases(), _resolve_links(snapshot, list(texts))
    for place, text in texts.items():
        path = snapshot.paths[place]
        lodging = layout.notes[path]
        room = rooms[lodging.room]
        yield PlanNote(
            path=path,
            title=snapshot.titles[place],
            aliases=aliases[place],
            tags=snapshot.shown_tags[place],
            room=room,
            box=layout.rooms[room].grid.box(lodging.cell),
            length=int(snapshot.stats[place, STAT.size]),
            day=int(snapshot.dates[place] // _DAY_SECONDS),
            is_dated=SOURCES[int(snapshot.date_sources[place])] != "mtime",
            changed=_changed_on(snapshot, place),
            priority=int(snapshot.priorities[place]),
            is_cold=bool(snapshot.cold[place]),
            links=tuple((target, at[to]) for target, to in links[place]),
            near=near[at[place]],
            text=text,
        )


def _changed_on(snapshot: Snapshot, place: int) -> int:
    return int(snapshot.stats[place, STAT.changed_ns] // (_DAY_SECONDS * 1_000_000_000))


def _resolve_links(snapshot: Snapshot, nodes: Sequence[int]) -> dict[int, list[tuple[str, int]]]:
    """Return for each note the targets as written, and the note each leads to, as the graph does.

    A link of a note to itself, or to one that is not among the nodes, is left out.
    """
    aliases, titles, targets = snapshot.aliases(), snapshot.titles, list_links(snapshot)
    names = ZonedNames(
        (snapshot.paths[n], (*aliases[n], titles[n]), bool(snapshot.cold[n])) for n in nodes
    )
    at = {snapshot.paths[node]: node for node in nodes}
    found: dict[int, list[tuple[str, int]]] = {}
    for node in nodes:
        path = snapshot.paths[node]
        pairs = dict.fromkeys(names.read(text, path) for text in targets[node])
        found[node] = [(text, at[to]) for text, to in pairs if to is not None and to != path]
    return found


def mean_vectors(snapshot: Snapshot, notes: NDArray[np.int64]) -> Matrix:
    """Return the mean vector of each note's passages, of unit length; zero for a note without any.

    Shape ``(notes, dimension)``; ``(notes, 0)`` where the index has no vectors. ``notes`` are
    places in the snapshot.
    """
    means = np.zeros((len(notes), snapshot.commit.dimension), np.float32)
    if not means.shape[1]:
        return means
    number = np.full(len(snapshot.paths), -1)
    number[notes] = np.arange(len(notes))
    owners = number[snapshot.row_note]
    rows = np.flatnonzero(owners >= 0)
    for first in range(0, len(rows), _ROWS_AT_ONCE):
        some = rows[first : first + _ROWS_AT_ONCE]
        np.add.at(means, owners[some], snapshot.rows_of(some))
    lengths = np.linalg.norm(means, axis=1, keepdims=True)
    found: Matrix = means / np.maximum(lengths, 1e-12)
    return found


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
