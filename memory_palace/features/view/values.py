"""A plan of the palace: rooms, the places of notes in them, and what joins them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class Box(NamedTuple):
    """An upright rectangle of the plan.

    In plan units, of which the plan is about one wide when it is first laid out; y grows downwards.
    """

    x: float
    y: float
    width: float
    height: float


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
