"""What a query and a build return to whoever asked for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from memory_palace.models import AnchorEvidence, Hit, Problem


@dataclass(frozen=True, slots=True)
class QueryResult:
    """The ranked answer to one query."""

    text: str
    profile: str
    mode: Literal["vector", "lexical", "listing"]
    embedder: str | None
    hits: tuple[Hit, ...]
    gate: Mapping[str, float] = field(default_factory=dict)
    """The relevance gate's figures, empty where no gate was applied."""
    freshness: Literal["current", "stale", "unchecked"] = "unchecked"
    behind: int = 0
    """How many notes differ from the index."""
    anchors: AnchorEvidence | None = None
    """Where anchors were asked: which fired, and which way answered."""


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
