"""Values of a build: its inputs, the derived terms of a chunk, and its report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from memory_palace.config import Config, PalacePaths
from memory_palace.embedding.registry import Embedder
from memory_palace.index.commit import Detail
from memory_palace.index.snapshot import Snapshot
from memory_palace.models import Problem
from memory_palace.notes.note import Note


@dataclass(frozen=True, slots=True)
class Derived:
    """The terms of a chunk that are indexed besides its vector."""

    words: tuple[str, ...] = ()
    """Tokens of the chunk, repeated ones included."""
    names: tuple[str, ...] = ()
    """Tokens of the note's names, at its first chunk alone."""
    extras: tuple[str, ...] = ()
    """Tokens that describe it and need not stand there: names, tags, phrases; each counts once."""
    facts: tuple[tuple[str, str], ...] = ()
    """Facts extracted from it, as pairs of kind and key."""
    problems: tuple[Problem, ...] = ()
    """Defects of ours that left parts of the note unread, at its first chunk alone."""


Progress = Callable[[str, int, int], None]
"""Callback with an activity, the amount done and the total; the total of passages is an
estimate."""
LOOKING, READING = "looking for notes", "reading notes"
EMBEDDING, WRITING = "embedding passages", "writing the index"
"""Activities of a build that ``Progress`` is called with."""

Derive: TypeAlias = Callable[[Note, Detail, Config], Sequence[Derived]]
"""Returns the terms of each chunk of a note; a parameter, since it comes from a layer above."""


Followed: TypeAlias = tuple[tuple[str, ...], tuple[Problem, ...]]
"""Names of files derived from the whole index, and why others could not be carried over."""
Follow: TypeAlias = Callable[[Snapshot, tuple[str, ...], Embedder, int], Followed]
"""Carries these files over to a new generation before the commit: takes the snapshot without the
cold zone, the names of the files so far, embedder and time in ns."""


@dataclass(frozen=True, slots=True)
class BuildContext:
    """The constant inputs of a build."""

    paths: PalacePaths
    config: Config
    embedder: Embedder
    now_ns: int
    progress: Progress
    derive: Derive
    fingerprint: str
    """The recipe of the index: see ``commit.name_recipe``."""
    waits_for: str = ""
    """The embedder that the present one stands in for."""
    is_dry_run: bool = False
    fills_all: bool = True
    """Whether vectors are made that an earlier build left over, which may take minutes."""
    follow: Follow = lambda hot, names, embedder, now_ns: (names, ())


@dataclass(frozen=True, slots=True)
class IndexReport:
    """The counts and paths of one indexing run that succeeded."""

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    moved: tuple[tuple[str, str], ...] = ()
    """Pairs of old and new path."""
    removed: tuple[str, ...] = ()
    unchanged: int = 0
    embedded: int = 0
    reused: int = 0
    """Chunks written in this run whose vector was already known."""
    failed: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()
    seconds: float = 0.0
    bytes_written: int = 0
    """The new segments and the commit record, merges of older segments aside."""
    embedder: str | None = None
    is_dry_run: bool = False
    left_out: tuple[str, ...] = ()
    """What is left out by default, by path; folders end with a slash."""
