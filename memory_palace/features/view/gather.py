"""Gather what a page shows of a palace: rooms, districts under words that tell them apart, notes.

Nothing of a private note is taken up.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memory_palace.features.view.layout import (
    Box,
    Grid,
    GridCell,
    GridSpan,
    LaidRoom,
    Layout,
    Notice,
    house,
    to_box,
)
from memory_palace.graph.resolve import ZonedNames, list_links
from memory_palace.index.segment import SOURCES, STAT
from memory_palace.index.snapshot import Snapshot
from memory_palace.language.visible import shown_text
from memory_palace.language.words import (
    AUXILIARIES,
    DETERMINERS,
    FUNCTION_WORDS,
    STOPWORDS,
    TIME_WORDS,
    WORDS,
    stem_word,
)
from memory_palace.models import Matrix
from memory_palace.notes.note import NoteUnreadable, read_body, read_note
from memory_palace.palace import Palace
from memory_palace.places import ARCHIVE


@dataclass(frozen=True, slots=True)
class PlanRoom:
    """A room, or a folder of a palace without rooms."""

    name: str
    """The room, or the folder relative to the root; empty for notes that lie in the root."""
    box: Box
    is_cold: bool
    notes: int
    """How many are on the plan."""
    locked: int = 0
    """How many are kept out of it because they are cold; such a room is drawn as locked."""


@dataclass(frozen=True, slots=True)
class PlanDistrict:
    """Notes of a room that lie together and are about the same: what is drawn from afar."""

    room: int
    box: Box
    label: str
    """The words that tell it from the rest of the room; empty where none do."""
    notes: int


@dataclass(frozen=True, slots=True)
class PlanNote:
    """A note in its place. Days are those since 1970-01-01, UTC."""

    path: str
    title: str
    aliases: tuple[str, ...]
    tags: tuple[str, ...]
    room: int
    """Place among the rooms of the plan."""
    box: Box
    """Its cell; no two overlap."""
    length: int
    """Bytes of the note."""
    day: int
    """What it is of, by front matter, name, git or file."""
    changed: int
    priority: int
    """0 none, 1 low, 2 medium, 3 high."""
    is_cold: bool
    links: tuple[tuple[str, int], ...]
    """Each target as written, and the note on the plan that it leads to; others are left out."""
    near: tuple[int, ...]
    """The notes on the plan that are nearest by meaning, the nearest first."""
    text: str
    """Its Markdown without front matter; what is private and what is secret is blank."""
    is_dated: bool = True
    """Whether front matter, name or git tells its day; else it is the file's, a copy's too."""


@dataclass(frozen=True, slots=True)
class PalacePlan:
    """What a page shows of a palace. Nothing of a private note is in it."""

    title: str
    rooms: tuple[PlanRoom, ...]
    districts: tuple[PlanDistrict, ...]
    notes: tuple[PlanNote, ...]
    """In path order."""
    day: int
    """The day it counts ages from: the latest of its notes, so that the same notes give the same
    plan."""


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
        box = to_box(*room.extent)
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
        data, _ = read_note(palace.paths, path, limit_bytes=palace.config.max_note_bytes)
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
    aliases, links = snapshot.aliases, _resolve_links(snapshot, list(texts))
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


MOST_WORDS = 3
"""Of a label."""
_READ_CHARACTERS = 600
"""Of a note's text: what it is about stands in its beginning."""
_LEAST_SHARE = 0.06
"""Of the notes of a group, that have a word of its label."""
_NEXT_BEST = 0.4
"""A word with less than this share of the first one's weight is not worth its space."""


class LabelText(NamedTuple):
    """What a note offers for the label of its group."""

    title: str
    tags: tuple[str, ...]
    text: str


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


def label_groups(texts: Sequence[LabelText], groups: Sequence[int], count: int) -> list[str]:
    """Return a label of one to three words for each of ``count`` groups, or nothing.

    ``groups`` has the group of each text, or -1 for a text that only counts as one of the others.
    """
    having = [Counter[str]() for _ in range(count + 1)]
    forms: dict[str, Counter[str]] = defaultdict(Counter)
    for text, group in zip(texts, groups, strict=True):
        tags = ". ".join(tag.replace("/", " ") for tag in text.tags)
        found = dict(find_words(f"{text.text[:_READ_CHARACTERS]}. {tags}. {text.title}"))
        having[group].update(found.keys())
        for key, written in found.items():
            forms[key][written] += 1
    whole, sizes = sum(having, Counter[str]()), Counter(groups)
    scores = [_score(having[n], whole, sizes[n], len(texts)) for n in range(count)]
    return [" · ".join(_spell(forms[key]) for key in _choose(found)) for found in scores]


def _spell(forms: Counter[str]) -> str:
    """Return a word in the form in which most notes write it."""
    return min(forms, key=lambda form: (-forms[form], form))


def _score(
    having: Counter[str], whole: Counter[str], notes: int, all_notes: int
) -> dict[str, float]:
    """Return how much more usual each word is in a group than outside: p · log(p / q)².

    The square is for what is rare elsewhere: without it every group of essays is about life.
    """
    scores: dict[str, float] = {}
    for key, count in having.items():
        here = count / notes
        elsewhere = (whole[key] - count + 0.5) / (all_notes - notes + 1)
        if count >= max(2, notes * _LEAST_SHARE) and here > elsewhere:
            scores[key] = here * math.log(here / elsewhere) ** 2
    return scores


def _choose(scores: Mapping[str, float]) -> list[str]:
    """Return the words with the highest scores; of those without spaces none share a character."""
    order = sorted(scores, key=lambda key: (-round(scores[key], 6), key))
    chosen: list[str] = []
    for key in order:
        if scores[key] < _NEXT_BEST * scores[order[0]] or len(chosen) == MOST_WORDS:
            break
        unspaced = "".join(filter(_UNSPACED.match, chosen))
        if not _UNSPACED.match(key) or set(unspaced).isdisjoint(key):
            chosen.append(key)
    return chosen


_LITTLE = (
    STOPWORDS
    | TIME_WORDS
    | FUNCTION_WORDS
    | AUXILIARIES
    | DETERMINERS
    | WORDS["vague"]
    | WORDS["elsewhere"]
    | WORDS["foreign"]
)
"""What says little, in English and some thirty languages."""
_GRAMMAR = frozenset(
    "的了是在和有我你他她它们這这那不就都也很会要说到与及或而等以从被把对于之其中个為"
)
"""Characters of Chinese that are grammar."""
_LINE_NOISE = re.compile(r"https?://\S+|\]\([^()\n]*\)|</?[a-zA-Z][^<>\n]*>|\[\[[^\[\]|\n]*\|")
_WORD = re.compile(r"[^\W\d_][\w'’-]*")
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]")
_SHORTEST, _LONGEST = 3, 24


def find_words(text: str) -> Iterator[tuple[str, str]]:
    """Yield each word that says something as a key, which its other forms share, and as written.

    Of Chinese, Japanese and Korean every two characters in a row are one.
    """
    for found in _WORD.finditer(_LINE_NOISE.sub(" ", text)):
        written = found[0]
        if _UNSPACED.search(written):
            pairs = (written[at : at + 2] for at in range(len(written) - 1))
            yield from ((pair, pair) for pair in pairs if _GRAMMAR.isdisjoint(pair))
        elif word := _read_word(written):
            yield word


@lru_cache(maxsize=1 << 16)
def _read_word(written: str) -> tuple[str, str] | None:
    """Return what forms of a word have in common, and the word; ``None`` for one of no weight."""
    bare = written.strip("'’-_")
    folded = bare.casefold().replace("’", "'").removesuffix("'s")
    is_word = _SHORTEST <= len(folded) <= _LONGEST and folded not in _LITTLE
    return (stem_word(folded, ()), bare) if is_word else None
