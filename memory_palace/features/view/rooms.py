"""Choose the rooms of a plan when it is first drawn, and the room of a note that comes later.

Rooms are folders. One that holds more than a third of the notes is divided: by its subfolders, by
the hierarchy in the names of its notes (``plugins.search``, ``11.02 Taxes``), else by meaning and
links, into parts that are called by a note that many link to, or by words of their titles.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from memory_palace.features.view.layout import Layout, cluster
from memory_palace.features.view.naming import Described, name_groups
from memory_palace.models import Matrix

MORE = "more"
"""Name of the room shared by small folders."""
MOST_ROOMS = 20
_LARGE = 1 / 3
"""Share of all notes from which on a room is divided."""
_FEWEST = 24
"""Fewest notes of a room that is divided."""
_LEAST = 3
"""Fewest notes of a room, if there are many rooms."""
_LEAST_SHARE = 0.01
_FEW = 5
"""Number of rooms that may be smaller."""
_MAIN_SHARE = 0.8
"""Share of the notes from which on a folder's subfolders become the rooms."""
_LONG = 40
"""Most characters of a title that names a room."""
_HUB_LINKS = 3
"""Fewest notes of a room that link to the note it is called by."""


class Resident(NamedTuple):
    """A note that needs a room."""

    path: str
    given: str
    """The archive or one of the seven rooms, if the note is in one; else empty."""
    described: Described
    links: tuple[int, ...] = ()
    """Indexes of the notes that it links to."""


class _Part(NamedTuple):
    """A room to be: its name, the beginning of its notes' paths, and its notes."""

    name: str
    takes: str
    """``Garden/`` or ``plugins.``; a note is taken if its path without suffix, a dot added,
    begins so."""
    notes: list[int]


def assign_rooms(
    notes: Sequence[Resident], vectors: Matrix, before: Layout
) -> tuple[dict[str, str], dict[str, str]]:
    """Return the room of each path, and the beginning of the paths that each room takes.

    A note of the layout ``before`` stays in its room. Another goes to the room that takes the
    longest beginning of its path; of several, to that of the most similar note. A new folder gets
    a room while there are few. Without a layout before, all rooms are chosen.
    """
    rooms = {note.path: note.given for note in notes if note.given}
    free = [place for place, note in enumerate(notes) if not note.given]
    if not before.takes:
        parts = choose_parts(notes, free, vectors)
        rooms |= {notes[place].path: part.name for part in parts for place in part.notes}
        return rooms, {part.name: part.takes for part in parts}
    takes = dict(before.takes)
    kept = [p for p in free if (at := before.notes.get(notes[p].path)) and at.room in takes]
    rooms |= {notes[place].path: before.notes[notes[place].path].room for place in kept}
    for place in sorted({*free} - {*kept}):
        rooms[notes[place].path] = _find_room(notes, place, vectors, kept, rooms, takes)
    return rooms, takes


def _find_room(
    notes: Sequence[Resident],
    place: int,
    vectors: Matrix,
    kept: Sequence[int],
    rooms: Mapping[str, str],
    takes: dict[str, str],
) -> str:
    """Return the room of a new note; a new room is added to ``takes``."""
    path = notes[place].path
    fitting = [name for name, begins in takes.items() if _whole(path).startswith(begins)]
    longest = max((len(takes[name]) for name in fitting), default=-1)
    folder, slash, _ = path.partition("/")
    is_new = slash and longest <= 0 and folder not in takes
    if (is_new and len(takes) < MOST_ROOMS) or not fitting:
        name = folder if slash else ""
        takes[name] = f"{folder}/" if slash else ""
        return name
    best = {name for name in fitting if len(takes[name]) == longest}
    inside = [other for other in kept if rooms[notes[other].path] in best]
    if len(best) == 1 or not inside:
        return min(best)
    likeness = np.round((vectors @ vectors[place])[inside], 4)  # no copy of the vectors
    return rooms[notes[inside[int(likeness.argmax())]].path]


def _whole(path: str) -> str:
    """Return a path with a dot in place of its suffix."""
    return path.rpartition(".")[0] + "."


def choose_parts(notes: Sequence[Resident], free: list[int], vectors: Matrix) -> list[_Part]:
    """Return between 1 and ``MOST_ROOMS`` parts of the notes at ``free``, the largest first."""
    parts = _by_level(notes, _Part("", "", free), "/") if free else []
    done: list[_Part] = []
    while parts and len(parts) + len(done) < MOST_ROOMS:
        parts.sort(key=lambda part: (len(part.notes), part.name))
        largest = parts.pop()
        pieces = [largest]
        if len(largest.notes) >= max(_FEWEST, _LARGE * len(free)):
            for mark in "/.":
                pieces = _by_level(notes, largest, mark)
                sizes = [len(piece.notes) for piece in pieces if piece.takes != largest.takes]
                if sum(size for size in sizes if size >= _LEAST) >= len(largest.notes) / 2:
                    break
            else:
                most = MOST_ROOMS - len(parts) - len(done)
                pieces = _by_meaning(notes, largest, vectors, most)
        if len(pieces) > 1:
            parts += pieces
        else:
            done.append(largest)
    parts = sorted([*done, *parts], key=lambda part: (-len(part.notes), part.name))
    least = max(_LEAST, _LEAST_SHARE * len(free))
    kept = sum(
        number < _FEW or (number < MOST_ROOMS - 1 and len(part.notes) >= least)
        for number, part in enumerate(parts)
    )
    rest = sorted(place for part in parts[kept:] for place in part.notes)
    return [*parts[:kept], _Part(MORE, "", rest)] if len(parts) > kept + 1 else parts


def _by_level(notes: Sequence[Resident], part: _Part, mark: str) -> list[_Part]:
    """Return a part by the next level of its notes' paths that divides it, and what has none.

    Levels end with ``mark``: folders with a slash, names with a dot. A name of one note is none.
    """
    begins = part.takes
    while True:
        groups: dict[str, list[int]] = {}
        for place in part.notes:
            whole = _whole(notes[place].path)
            start = begins if whole.startswith(begins) else part.takes
            level, found, _ = whole[len(start) :].partition(mark)
            groups.setdefault(f"{start}{level}{mark}" if found else start, []).append(place)
        main = max(groups, key=lambda level: (len(groups[level]), level))
        is_main = main != begins and len(groups[main]) >= _MAIN_SHARE * len(part.notes)
        inside = [_whole(notes[place].path)[len(main) : -1] for place in groups[main]]
        if not is_main or not any(mark in rest for rest in inside):
            break
        begins = main
    found_parts, rest = [], list[int]()
    for level, members in groups.items():
        if level == part.takes or (mark == "." and len(members) == 1):
            rest += members
        else:
            found_parts.append(_Part(level[:-1], level, members))
    return [*found_parts, *([_Part(part.name, part.takes, sorted(rest))] if rest else [])]


def _by_meaning(notes: Sequence[Resident], part: _Part, vectors: Matrix, most: int) -> list[_Part]:
    """Return a part divided into at most ``most`` parts, similar notes and linked ones together.

    A part without a name that fits is called by the note that most of it link to, if there is one;
    else it goes into one part with others.
    """
    places = np.array(part.notes)
    count = min(max(round(len(places) ** 0.5 / 2), 3), most)
    at = {place: number for number, place in enumerate(part.notes)}
    near: list[set[int]] = [{at[to] for to in notes[n].links if to in at} for n in part.notes]
    for number, targets in enumerate([sorted(one) for one in near]):
        for to in targets:
            near[to].add(number)
    if count < 2 or not vectors.shape[1]:
        return [part]
    points = _pull(vectors[places], near)
    groups = cluster(points, count)
    described = [notes[place].described for place in part.notes]
    names = name_groups(described, groups.tolist(), [""] * count)
    found: dict[str, list[int]] = {}
    for number in range(count):
        members = np.flatnonzero(groups == number).tolist()
        linked = {n: len(near[n].intersection(members)) for n in members}
        hub = max(members, key=lambda n: (linked[n], -n), default=0)
        is_hub = linked.get(hub, 0) >= _HUB_LINKS and len(described[hub].title) <= _LONG
        title = names[number] or (described[hub].title.replace("/", " ") if is_hub else MORE)
        name = "/".join(filter(None, (part.takes.rpartition("/")[0], title)))
        found.setdefault(name, []).extend(places[members].tolist())
    return [_Part(name, part.takes, sorted(members)) for name, members in found.items() if members]


def _pull(points: Matrix, near: Sequence[Iterable[int]]) -> Matrix:
    """Return unit vectors around the origin, each drawn halfway to the notes it is linked with."""
    centred = points - points.mean(axis=0)
    pulled = centred.copy()
    for number, to in enumerate(map(sorted, near)):
        if to:
            pulled[number] += centred[to].mean(axis=0) / 2
    found: Matrix = pulled / np.maximum(np.linalg.norm(pulled, axis=1, keepdims=True), 1e-9)
    return found
