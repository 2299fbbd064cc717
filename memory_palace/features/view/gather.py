"""Build the plan of a palace: rooms, districts with distinctive labels, and notes.

Private notes are left out entirely.
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

from memory_palace.cli.screen import vault_address
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
    notes: int


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
    day: int
    """Day of the note's date, by front matter, file name, git or mtime."""
    changed: int
    priority: int
    """0 none, 1 low, 2 medium, 3 high."""
    is_cold: bool
    links: tuple[tuple[str, int], ...]
    """Link targets as written, each with its note's index on the plan; others are left out."""
    near: tuple[int, ...]
    """Indexes of the notes with the highest cosine, highest first."""
    text: str
    """Markdown without front matter; private lines and secrets are blank."""
    is_dated: bool = True
    """Whether the day is from front matter, name or git, not from mtime, which copying changes."""


@dataclass(frozen=True, slots=True)
class PalacePlan:
    """The data of a page about a palace, without private notes."""

    title: str
    rooms: tuple[PlanRoom, ...]
    districts: tuple[PlanDistrict, ...]
    notes: tuple[PlanNote, ...]
    """In path order."""
    day: int
    """Reference day of ages: the latest ``changed`` of the notes, so that equal notes give equal
    plans."""
    vault: str = ""
    """Address of the root in Obsidian, to which a note's path is added; empty outside a vault."""


NEAR = 3
"""Nearest notes listed per note; of 25,000 notes they are half of the plan's size."""
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
    """Return the plan of a palace by its index, with texts read from disk.

    ``relayout`` discards the stored layout; ``remark`` is called with messages about the layout
    for the user. Equal notes and stored layouts give equal plans. Raise ``IndexMissingError``
    without an index.
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
        vault=vault_address(palace.paths.root.resolve()),
    )


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
    for first in range(0, len(rows), _ROWS_AT_ONCE):
        some = rows[first : first + _ROWS_AT_ONCE]
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
"""Most words of a label."""
_READ_CHARACTERS = 600
"""Characters read from a note's text, whose beginning states the subject."""
_LEAST_SHARE = 0.06
"""Lowest share of a group's notes that have a word of the group's label."""
_NEXT_BEST = 0.4
"""Lowest score of a further word of a label, relative to the first word's."""


class LabelText(NamedTuple):
    """The texts of a note from which its group's label is built."""

    title: str
    tags: tuple[str, ...]
    text: str


def draw_districts(
    room: LaidRoom, number: int, cells: Sequence[GridCell], texts: Sequence[LabelText]
) -> list[PlanDistrict]:
    """Return the districts of a room that have notes.

    ``number`` is the room's index on the plan; ``cells`` and ``texts`` are those of its notes on
    the plan.
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
    """Return the index of the district that contains a cell, or -1."""
    row, column = divmod(cell[0], grid.columns)
    for number, (left, top, right, below) in enumerate(districts):
        if left <= column < right and top <= row < below:
            return number
    return -1


def label_groups(texts: Sequence[LabelText], groups: Sequence[int], count: int) -> list[str]:
    """Return a label of up to three words for each of ``count`` groups.

    ``groups`` has the group of each text, or -1 for a text in no group, used only for contrast.
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
    """Return the form of a word that most notes use."""
    return min(forms, key=lambda form: (-forms[form], form))


def _score(
    having: Counter[str], whole: Counter[str], notes: int, all_notes: int
) -> dict[str, float]:
    """Return ``p · log(p / q)²`` of each word, ``p`` and ``q`` its share of notes in and outside.

    The square favors words that are rare elsewhere over words common to all groups, like "life".
    """
    scores: dict[str, float] = {}
    for key, count in having.items():
        here = count / notes
        elsewhere = (whole[key] - count + 0.5) / (all_notes - notes + 1)
        if count >= max(2, notes * _LEAST_SHARE) and here > elsewhere:
            scores[key] = here * math.log(here / elsewhere) ** 2
    return scores


def _choose(scores: Mapping[str, float]) -> list[str]:
    """Return the highest-scored words; CJK words that share a character are not repeated."""
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
"""Words of little meaning in English and some thirty languages, never in labels."""
_GRAMMAR = frozenset(
    "的了是在和有我你他她它们這这那不就都也很会要说到与及或而等以从被把对于之其中个為"
)
"""Chinese characters that are function words."""
_LINE_NOISE = re.compile(r"https?://\S+|\]\([^()\n]*\)|</?[a-zA-Z][^<>\n]*>|\[\[[^\[\]|\n]*\|")
_WORD = re.compile(r"[^\W\d_][\w'’-]*")
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]")
_SHORTEST, _LONGEST = 3, 24


def find_words(text: str) -> Iterator[tuple[str, str]]:
    """Yield the stem and the written form of each content word.

    Chinese, Japanese and Korean text is split into character bigrams.
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
    """Return stem and written form of a word, or ``None`` for a stop word or unusual length."""
    bare = written.strip("'’-_")
    folded = bare.casefold().replace("’", "'").removesuffix("'s")
    is_word = _SHORTEST <= len(folded) <= _LONGEST and folded not in _LITTLE
    return (stem_word(folded, ()), bare) if is_word else None
