"""What a build keeps of a chunk, and what it reports in the end."""

from __future__ import annotations

from dataclasses import dataclass

from memory_palace.models import Problem


@dataclass(frozen=True, slots=True)
class Derived:
    """What is indexed of a chunk besides its vector."""

    words: tuple[str, ...] = ()
    """Tokens of the chunk, repeated as often as they stand there."""
    names: tuple[str, ...] = ()
    """Tokens of the note's names, at its first chunk alone."""
    extras: tuple[str, ...] = ()
    """Tokens that describe it and need not stand there: names, tags, phrases; each counts once."""
    facts: tuple[tuple[str, str], ...] = ()
    """Pairs of kind and key of what was extracted from it."""
    problems: tuple[Problem, ...] = ()
    """What of the note a defect of ours left unread, at its first chunk alone."""


@dataclass(frozen=True, slots=True)
class IndexReport:
    """What one indexing run did, counted after it succeeded."""

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
    """By the update itself: the new segment and the commit record."""
    bytes_merged: int = 0
    """By merges of older segments in the same run."""
    embedder: str | None = None
    is_dry_run: bool = False
    left_out: tuple[str, ...] = ()
    """What is left out by default, by path; folders end with a slash."""
