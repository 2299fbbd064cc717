"""Answers as they would be if notes were changed, made or gone; the palace stays as it is."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from memory_palace.facts.derive import derive
from memory_palace.index.diff import Listing
from memory_palace.index.opened import CommittedState, open_state
from memory_palace.index.rows import KnownVectors, RowMaker
from memory_palace.index.segment import (
    CONTENT,
    NoteRow,
    Segment,
    open_segment,
    tombstone,
    write_segment,
)
from memory_palace.index.snapshot import Fold, Snapshot, fold_segments
from memory_palace.index.values import BuildContext
from memory_palace.models import FileStat
from memory_palace.notes.discovery import SourceFile
from memory_palace.notes.manifest import read_manifest
from memory_palace.palace import Palace


class _Overlaid(Palace):
    """A palace that asks one given generation, and has the models of another palace open."""

    def __init__(self, palace: Palace, snapshot: Snapshot) -> None:
        super().__init__(palace.paths.root, config=palace.config)
        self.adopt(palace)
        self._overlaid = snapshot

    def snapshot(self, *, include_cold: bool = False) -> Snapshot:
        """Return the generation that it was given, whatever is committed."""
        return self._overlaid


@contextmanager
def overlay(palace: Palace, notes: Mapping[str, bytes | None]) -> Iterator[Palace]:
    """Yield a palace to which some notes, by path, hold other bytes, or none where they are gone.

    A path that is not in the index is a new note; the rest is as indexed.
    What would be a change of the index is written as one segment in a temporary folder. Passages
    that are the same are not embedded again. The archive is left out.
    """
    state = open_state(palace.paths)
    if state.commit is None:
        yield palace
        return
    with TemporaryDirectory() as folder:
        changed = _write_changes(palace, state, Path(folder).resolve(), notes)
        hot = fold_segments([*state.hot.segments, *changed])
        yield _Overlaid(palace, Snapshot(state.commit, [hot], rooms=palace.paths.rooms))


def _write_changes(
    palace: Palace, state: CommittedState, root: Path, notes: Mapping[str, bytes | None]
) -> list[Segment]:
    """Write the notes below a folder, and there the segment that an index would get of them."""
    assert state.commit is not None
    texts = {path: data for path, data in notes.items() if data is not None}
    for path, data in texts.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(data)
    context = BuildContext(
        paths=replace(palace.paths, root=root),
        config=palace.config,
        embedder=palace.embedder(),
        now_ns=time.time_ns(),
        monotonic=lambda: 0.0,
        progress=lambda doing, done, total: None,
        derive=derive,
        fingerprint=state.commit.fingerprint,
    )
    known = KnownVectors()
    for segment in state.segments:
        known.add_all(segment)
    listing = Listing(read_manifest(palace.paths), {}, "", palace.paths.rooms)
    maker = RowMaker(context, listing, known, lambda file: None)
    files = [
        SourceFile(path, FileStat(len(data), 0, 0, 0), is_cold=False)
        for path, data in texts.items()
    ]
    rows = [_as_old(row, state.hot) for batch in maker.batches(files) for row in batch.rows]
    if not state.commit.dimension:  # so far it is an index of words alone
        rows = [replace(row, vectors=row.vectors[:, :0]) for row in rows]
    rows += [tombstone(path) for path, data in notes.items() if data is None]
    if not rows:
        return []
    ref = write_segment(
        root,
        rows,
        fingerprint=state.commit.fingerprint,
        dimension=state.commit.dimension,
        is_cold=False,
    )
    return [open_segment(root, ref)]


def _as_old(row: NoteRow, fold: Fold) -> NoteRow:
    """Return a record with the age of the one it replaces: a proposal makes no note newer."""
    if row.path not in fold.paths:
        return row
    old = fold.read_row(fold.paths.index(row.path), kind=CONTENT)
    return replace(row, date=old.date, date_source=old.date_source, stat=old.stat)
