"""What a build is given: places, settings, clock and embedder, fixed before it starts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from memory_palace.config import Config, PalacePaths
from memory_palace.embedding.base import Embedder
from memory_palace.index.recipes import Detail, read_detail
from memory_palace.index.snapshot import Snapshot
from memory_palace.index.values import Derived
from memory_palace.models import Problem, Vector
from memory_palace.notes.note import Note

Progress = Callable[[str, int, int], None]
"""Told what is being done, how much of it is done, and how much there will be: the last of passages
by the present estimate."""
LOOKING, READING = "looking for notes", "reading notes"
EMBEDDING, WRITING = "embedding passages", "writing the index"
"""What a build says it is doing."""

FindVectors = Callable[[str, Sequence[bytes]], Mapping[bytes, Vector]]
"""Returns the vectors that are known elsewhere, given a recipe and the digests of texts."""

Derive = Callable[[Note, Detail, Config], Sequence[Derived]]
"""Says what each chunk of a note is found by; a parameter, for it comes from a layer above."""


class Followed(NamedTuple):
    """What is derived from the whole index, carried over to a new generation."""

    names: tuple[str, ...]
    problems: tuple[Problem, ...] = ()
    """What could not be carried over, and why."""


Follow = Callable[[Snapshot, tuple[str, ...], Embedder, int], Followed]
"""Carries over, before the commit: given the notes outside the cold zone, the names of the files
so far, embedder and time."""


def find_none(fingerprint: str, digests: Sequence[bytes]) -> Mapping[bytes, Vector]:
    """Know no vectors."""
    return {}


@dataclass(frozen=True, slots=True)
class BuildContext:
    """The fixed part of a build."""

    paths: PalacePaths
    config: Config
    embedder: Embedder
    now_ns: int
    monotonic: Callable[[], float]
    progress: Progress
    derive: Derive
    fingerprint: str
    """Everything that decides what is in the index: see ``recipes.name_recipe``."""
    waits_for: str = ""
    """The embedder that the present one stands in for."""
    is_dry_run: bool = False
    fills_all: bool = True
    """Whether vectors are made that an earlier build left over, which may take minutes."""
    find_vectors: FindVectors = find_none
    follow: Follow = lambda hot, names, embedder, now_ns: Followed(names)

    @property
    def detail(self) -> Detail:
        """How much is kept of each passage."""
        return read_detail(self.fingerprint)
