"""Build the plan of a palace: rooms, districts with distinctive labels, and notes.

Private notes are left out entirely.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memory_palace.features.view.layout import Box, Layout, Notice, house, lay_out
from memory_palace.features.view.naming import Described, name_groups
from memory_palace.features.view.rooms import MORE, Resident, assign_rooms
from memory_palace.graph.resolve import ZonedNames, list_links
from memory_palace.index.segment import SOURCES, STAT
from memory_palace.index.snapshot import Snapshot
from memory_palace.language.visible import shown_text
from memory_palace.models import Matrix
from memory_palace.notes.discovery import vault_address
from memory_palace.notes.note import NoteUnreadable, read_body, read_note
from memory_palace.palace import Palace
from memory_palace.places import ARCHIVE


@dataclass(frozen=True, slots=True)
class PlanRoom:
    """A room, or a folder of a palace without rooms."""

    name: str
    """Name of the room, or folder relative to the root; empty for notes in the root."""
    box: Box
    is_cold: bool
    notes: int
    """Number of notes on the plan."""
    locked: int = 0
    """Number of cold notes left out of the plan; a room with such notes is drawn as locked."""


@dataclass(frozen=True, slots=True)
class PlanDistrict:
    """A group of adjacent notes of similar meaning in a room, drawn when zoomed out."""

    room: int
    box: Box
    label: str
    """Words that distinguish the district from the rest of the room; may be empty."""


@dataclass(frozen=True, slots=True)
class PlanNote:
    """A note on the plan. Days count from 1970-01-01, UTC."""

    path: str
    title: str
    aliases: tuple[str, ...]
    tags: tuple[str, ...]
    room: int
    """Index into the rooms of the plan."""
    box: Box
    """Filled part of the note's cell; boxes of notes do not overlap."""
    length: int
    """Bytes of the note."""
    day: int | None
    """Day of the note's date; ``None`` if there is but the file's, which copying changes."""
    is_cold: bool
    links: tuple[tuple[str, int], ...]
    """Link targets as written, each with its note's index on the plan; others are left out."""
    near: tuple[int, ...]
    """Indexes of the notes with the highest cosine, highest first."""
    text: str
    """Markdown without front matter; private lines and secrets are blank."""


@dataclass(frozen=True, slots=True)
class PalacePlan:
    """The data of a page about a palace, without private notes."""

    title: str
    rooms: tuple[PlanRoom, ...]
    districts: tuple[PlanDistrict, ...]
    notes: tuple[PlanNote, ...]
    """In path order."""
    vault: str = ""
    """Address of the root in Obsidian, to which a note's path is added; empty outside a vault."""


NEAR = 3
"""Nearest notes listed per note; of 25,000 notes they are half of the plan's size."""
_AT_ONCE = 1_024


def gather(
    palace: Palace,
    *,
    include_cold: bool = False,
    new_plan: bool = False,
    remark: Notice = lambda words: None,
) -> PalacePlan:
    """Return the plan of a palace by its index, with texts read from disk.

    ``new_plan`` discards the stored layout; ``remark`` is called with messages about the layout
    for the user. Equal notes and stored layouts give equal plans. Raise ``IndexMissingError``
    without an index.
    """
    snapshot = palace.snapshot(include_cold=True)
    known = np.flatnonzero(~snapshot.private)
    vectors = mean_vectors(snapshot, known)
    seen = known if include_cold else known[~snapshot.cold[known]]
    read = ((place, read_text(palace, snapshot.paths[place])) for place in seen.tolist())
    texts = {place: text for place, text in read if text is not None}
    described = {
        place: Described(snapshot.titles[place], snapshot.shown_tags[place], texts.get(place, ""))
        for place in known.tolist()
    }
    layout = house(
        palace.paths,
        lambda before: _follow(snapshot, described, vectors, before),
        new_plan=new_plan,
        remark=remark,
    )
    near = find_near(vectors[np.searchsorted(known, list(texts))])
    locked = 0 if include_cold else int(snapshot.cold[known].sum())
    counts = Counter(layout.notes[snapshot.paths[place]].room for place in texts)
    shown = "\n".join(f"{snapshot.titles[place]}\n{snapshot.paths[place]}" for place in texts)
    shown = shown.replace("/", " ").casefold()
    rooms = [
        PlanRoom(
            f"room {number + 1}" if _is_stale(room.name, layout, shown) else room.name,
            room.extent,
            (is_cold := room.name == ARCHIVE),
            counts[room.name],
            locked if is_cold else 0,
        )
        for number, room in enumerate(layout.rooms)
    ]
    districts = draw_districts(
        layout, [(snapshot.paths[place], described[place]) for place in texts]
    )
    return PalacePlan(
        title=palace.paths.root.resolve().name,
        rooms=tuple(rooms),
        districts=tuple(districts),
        notes=tuple(_draw_notes(snapshot, layout, texts, near)),
        vault=vault_address(palace.paths.root.resolve()),
    )


def _is_stale(name: str, layout: Layout, shown: str) -> bool:
    """Whether a room is named by a title that is not shown: its note may have become private."""
    terms = name.rpartition("/")[2].casefold().split(" · ")
    is_named = layout.takes.get(name, f"{name}/") != f"{name}/" and terms != [MORE]
    return is_named and any(term not in shown for term in terms)


def _follow(
    snapshot: Snapshot, described: Mapping[int, Described], vectors: Matrix, before: Layout
) -> Layout:
    """Return the layout of the notes ``described``; notes in ``before`` keep room and cell."""
    at = {place: number for number, place in enumerate(described)}
    links = {} if before.takes else _resolve_links(snapshot, list(at))  # for new rooms alone
    notes = [
        Resident(
            snapshot.paths[place],
            ARCHIVE if snapshot.cold[place] else snapshot.rooms[place],
            words,
            tuple(at[to] for _, to in links.get(place, ())),
        )
        for place, words in described.items()
    ]
    rooms, takes = assign_rooms(notes, vectors, before)
    return lay_out({note.path: rooms[note.path] for note in notes}, vectors, before, takes)


def read_text(palace: Palace, path: str) -> str | None:
    """Return a note's text for the page, read from disk.

    It is Markdown without front matter, comments, HTML and verification tokens; private lines and
    lines with a secret are blank, as in the index. Return ``None`` for a note that is private,
    missing or unreadable.
    """
    try:
        data, _ = read_note(palace.paths, path, limit_bytes=palace.config.max_note_bytes)
    except FileNotFoundError:
        return None
    except NoteUnreadable as error:
        palace.note_unread([error.problem])
        return None
    body = read_body(path, data)
    return None if body.is_private else shown_text(body.text, keep_links=True).strip("\n")


def _draw_notes(
    snapshot: Snapshot, layout: Layout, texts: Mapping[int, str], near: Sequence[tuple[int, ...]]
) -> Iterator[PlanNote]:
    at = {place: number for number, place in enumerate(texts)}
    rooms = {room.name: number for number, room in enumerate(layout.rooms)}
    aliases, links = snapshot.aliases, _resolve_links(snapshot, list(texts))
    for place, text in texts.items():
        path = snapshot.paths[place]
        lodging = layout.notes[path]
        room, is_dated = rooms[lodging.room], SOURCES[snapshot.date_sources[place]] != "mtime"
        yield PlanNote(
            path=path,
            title=snapshot.titles[place],
            aliases=aliases[place],
            tags=snapshot.shown_tags[place],
            room=room,
            box=layout.rooms[room].districts[lodging.district].box(lodging.cell),
            length=int(snapshot.stats[place, STAT.size]),
            day=int(snapshot.dates[place] // 86_400) if is_dated else None,
            is_cold=bool(snapshot.cold[place]),
            links=tuple((target, at[to]) for target, to in links[place]),
            near=near[at[place]],
            text=text,
        )


def _resolve_links(snapshot: Snapshot, nodes: Sequence[int]) -> dict[int, list[tuple[str, int]]]:
    """Return each note's link targets as written with the notes they resolve to, as in the graph.

    Links of a note to itself or to notes not among ``nodes`` are left out.
    """
    aliases, titles, targets = snapshot.aliases, snapshot.titles, list_links(snapshot)
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
    """Return the normalized mean of each note's passage vectors; zero for a note without vectors.

    Shape ``(notes, dimension)``, or ``(notes, 0)`` if the index has no vectors. ``notes`` are
    indexes into the snapshot's notes.
    """
    means = np.zeros((len(notes), snapshot.commit.dimension), np.float32)
    if not means.shape[1]:
        return means
    number = np.full(len(snapshot.paths), -1)
    number[notes] = np.arange(len(notes))
    owners = number[snapshot.row_note]
    rows = np.flatnonzero(owners >= 0)
    for first in range(0, len(rows), _AT_ONCE):
        some = rows[first : first + _AT_ONCE]
        np.add.at(means, owners[some], snapshot.rows_of(some))
    lengths = np.linalg.norm(means, axis=1, keepdims=True)
    found: Matrix = means / np.maximum(lengths, 1e-12)
    return found


def find_near(vectors: Matrix) -> list[tuple[int, ...]]:
    """Return each note's indexes of up to ``NEAR`` notes with positive cosine, highest first.

    Empty tuples without vectors. Memory is linear in the number of notes.
    """
    count = min(NEAR, len(vectors) - 1)
    if count < 1 or vectors.shape[1] == 0:
        return [()] * len(vectors)
    found: list[tuple[int, ...]] = []
    for first in range(0, len(vectors), _AT_ONCE):
        likeness = vectors[first : first + _AT_ONCE] @ vectors.T
        np.fill_diagonal(likeness[:, first:], -2.0)
        best = np.argpartition(-likeness, count - 1, axis=1)[:, :count]
        values = np.round(np.take_along_axis(likeness, best, axis=1), 4)
        for notes, cosines in zip(best.tolist(), values.tolist(), strict=True):
            ranked = sorted(zip(cosines, notes, strict=True), key=lambda one: (-one[0], one[1]))
            found.append(tuple(note for cosine, note in ranked if cosine > 0))
    return found


def draw_districts(
    layout: Layout, notes: Sequence[tuple[str, Described]]
) -> Iterator[PlanDistrict]:
    """Yield the districts that have notes; ``notes`` are those on the plan, with their paths.

    The only district of a room has no label: the room's name says it.
    """
    numbers = {room.name: number for number, room in enumerate(layout.rooms)}
    lodgings = [layout.notes[path] for path, _ in notes]
    at = [(numbers[lodging.room], lodging.district) for lodging in lodgings]
    used = sorted({*at})
    several = Counter(room for room, _ in used)
    named = [one for one in used if several[one[0]] > 1]
    groups = {one: group for group, one in enumerate(named)}
    within = [layout.rooms[room].name.rpartition("/")[2] for room, _ in named]
    labels = name_groups([words for _, words in notes], [groups.get(one, -1) for one in at], within)
    for one in used:
        box = layout.rooms[one[0]].districts[one[1]].inside
        yield PlanDistrict(one[0], box, labels[groups[one]] if one in groups else "")
