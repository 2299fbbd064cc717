"""Nodes of a search: a pose in the plane, what was seen there, and its words."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from memory_palace.errors import UsageError
from memory_palace.language.words import STOPWORDS, tokenize

MOST_ID = 2**53
"""As far as JSON numbers are exact everywhere."""
_JOINTS = re.compile(r"[-‐‑_/]")


@dataclass(frozen=True, slots=True)
class Pose2D:
    """A place and a direction."""

    x: float
    y: float
    """Metres."""
    yaw: float = 0.0
    """Radians, counter-clockwise from the x axis."""

    def __post_init__(self) -> None:
        for name in ("x", "y", "yaw"):
            if not math.isfinite(getattr(self, name)):
                raise UsageError(
                    f"{name} of a pose must be a finite number, not {getattr(self, name)}"
                )

    def distance_to(self, other: Pose2D) -> float:
        return math.hypot(self.x - other.x, self.y - other.y)


def write_lines(path: str, first: int, last: int) -> str:
    """Return lines of a note as ``palace show`` takes them."""
    return f"{path}:{first}" + (f"-{last}" if last > first else "")


@dataclass(frozen=True, slots=True)
class NodePlace:
    """Where a node is: the note it stands in, and a pose or the lines that bear on the goal."""

    path: str
    title: str
    pose: Pose2D | None = None
    """``None`` where the search is among notes."""
    lines: tuple[int, int] | None = None
    """First and last line of the passage; ``None`` for a locus, and where nothing bears on it."""

    @property
    def where(self) -> str:
        """The path, with the lines that bear on the goal as ``palace show`` takes them."""
        return self.path if self.lines is None else write_lines(self.path, *self.lines)

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> NodePlace:
        """Take apart what the schema of sessions has checked."""
        pose, lines = value["pose"], value["lines"]
        return cls(
            value["path"],
            value["title"],
            Pose2D(**pose) if pose else None,
            (lines[0], lines[1]) if lines else None,
        )


@dataclass(frozen=True, slots=True)
class MemoryNode:
    """A place that is remembered, and what was seen there."""

    node_id: int
    pose: Pose2D
    embedding: tuple[float, ...] | None = None
    """Of any length but zero; ``None`` where the text is embedded when it is asked for."""
    tags: tuple[str, ...] = ()
    summary: str = ""

    def __post_init__(self) -> None:
        check_node_id(self.node_id)
        if self.embedding is not None and not any(self.embedding):
            raise UsageError(f"the embedding of node {self.node_id} is zero; leave it out")

    @property
    def text(self) -> str:
        """What is embedded and compared by words: the summary, then the tags."""
        return " ".join((self.summary, *self.tags))


def check_node_id(value: object) -> int:
    """Return a node's id; raise ``UsageError`` for anything but a whole number from 0."""
    if type(value) is not int or not 0 <= value <= MOST_ID:
        raise UsageError(
            f"the id of a node must be a whole number from 0 to {MOST_ID}, not {value!r:.40}"
        )
    return value


@lru_cache(maxsize=4096)
def goal_words(text: str) -> frozenset[str]:
    """Return the distinct stems of a goal's content words, of all words where it has no other.

    A hyphen separates words, and a word that is said twice counts once: the document's way makes
    "red-backpack" miss "red backpack", and "red red backpack" score below "red backpack".
    """
    parts = _JOINTS.sub(" ", text)
    pairs = list(zip(tokenize(parts, stems=False), tokenize(parts), strict=True))
    content = frozenset(stem for word, stem in pairs if word not in STOPWORDS)
    return content or frozenset(stem for _, stem in pairs)


@lru_cache(maxsize=4096)
def node_words(text: str) -> frozenset[str]:
    """Return the distinct stems of a node's text."""
    return frozenset(tokenize(text))
