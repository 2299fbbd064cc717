"""What the index holds, in figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np

from memory_palace.config import Config, PalacePaths
from memory_palace.index.freshness import FreshnessState, check_freshness
from memory_palace.index.snapshot import Snapshot
from memory_palace.models import Problem
from memory_palace.notes.manifest import read_manifest


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """The state of a palace."""

    notes: int
    cold: int
    chunks: int
    dead_rows: int
    embedder: str
    dimension: int
    generation: int
    segments: int
    index_bytes: Mapping[str, int]
    """Size of each part: vectors, postings, other arrays, records for showing, commit record."""
    rooms: Mapping[str, int]
    freshness: FreshnessState
    manifest_orphans: tuple[str, ...]
    """Paths that the manifest lists and that are not there."""
    awaiting: int
    """Passages without a vector so far; the next build makes them."""
    problems: tuple[Problem, ...]
    """What was found in notes when they were indexed; in folders and in the manifest now."""
    built: datetime
    """UTC, in whole seconds."""
    behind: int
    """Notes that are new, changed or gone since."""
    left_out: tuple[str, ...]
    """What is left out by default, by path; folders end with a slash."""


def take_status(paths: PalacePaths, config: Config, snapshot: Snapshot) -> IndexStatus:
    """Count. ``snapshot`` includes the cold zone."""
    commit = snapshot.commit
    freshness = check_freshness(paths, config, snapshot, most_entries=None)
    manifest = read_manifest(paths)
    present = set(snapshot.paths)
    orphans = [entry.path for entry in manifest.entries.values() if entry.path not in present]
    noted = [snapshot.note(place) for place in np.flatnonzero(snapshot.has_problems).tolist()]
    rooms = Counter(room or "(no room)" for room in snapshot.rooms)
    vectors = commit.rows * commit.dimension * 4
    postings = sum(segment.postings_bytes for segment in snapshot.segments)
    arrays = sum(ref.array_bytes for ref in commit.segments)
    return IndexStatus(
        notes=len(snapshot.paths),
        cold=int(snapshot.cold.sum()),
        chunks=int(np.count_nonzero(snapshot.row_note >= 0)),
        dead_rows=sum(ref.dead_rows for ref in commit.segments),
        embedder=commit.embedder,
        dimension=commit.dimension,
        generation=commit.generation,
        segments=len(commit.segments),
        index_bytes={
            "vectors": vectors,
            "postings": postings,
            "records": arrays - vectors - postings,
            "previews": sum(ref.line_bytes for ref in commit.segments),
            "commit": paths.commit.stat().st_size,
        },
        rooms=dict(sorted(rooms.items())),
        freshness=freshness.state,
        manifest_orphans=tuple(orphans),
        awaiting=commit.awaiting,
        problems=(
            *freshness.problems,
            *manifest.problems,
            *(p for note in noted for p in note.problems),
        ),
        built=datetime.fromtimestamp(commit.built_ns // 10**9, UTC),
        behind=freshness.behind,
        left_out=freshness.left_out,
    )
