"""The vectors that a build needs: known ones, a few made at once, many in published steps."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from memory_palace.errors import PalaceError
from memory_palace.index.commit import SegmentRef
from memory_palace.index.fold import Fold, Ids, fold_segments
from memory_palace.index.npz import Array, map_arrays
from memory_palace.index.segment import SOURCES, STAT, Segment, write_filled, write_vectors
from memory_palace.index.values import EMBEDDING, BuildContext, Tally
from memory_palace.models import Matrix, Vector
from memory_palace.storage.atomic import is_named_by_content

AT_ONCE = 64
"""Texts that a build embeds before it publishes anything; of more it publishes the words first."""
STEP_SECONDS = 30.0
"""What a build that is killed loses at most."""
_SLICE = 32
"""Texts embedded at a time, but for the first: 512 at a time take as long (21 CPU s for 256)."""
_HUGE_ROWS = 200
"""A note of more passages gets its vectors after the others."""


class Publish(Protocol):
    """Makes segments visible."""

    def __call__(self, refs: Sequence[SegmentRef], *, is_stopped: bool = False) -> None:
        """Publish; whoever stopped a build waits for nothing more."""


class KnownVectors:
    """Looks digests up in the arrays of segments and of what unfinished builds left."""

    def __init__(self) -> None:
        self._sources: list[tuple[Array, Matrix]] = []

    def add(self, digests: Array, vectors: Matrix) -> None:
        """Offer vectors, one per row of 16-byte ``digests``."""
        if len(digests):
            self._sources.append((np.ascontiguousarray(digests).view("<u8"), vectors))

    def add_all(self, segment: Segment) -> None:
        """Offer all vectors that a segment has."""
        digests, lacking, vectors = segment["chunk_digest"], segment.lacking, segment.vectors
        if lacking is None:
            self.add(digests, vectors)
        elif vectors.shape[1]:
            self.add(digests[~lacking], vectors[~lacking])

    def add_leftovers(self, folder: Path, *, fingerprint: str, committed: Iterable[str]) -> None:
        """Offer what an interrupted build wrote, where it verifies and has the same recipe."""
        named = set(committed)
        for path in sorted((*folder.glob("seg-*.npz"), *folder.glob("vec-*.npz"))):
            if path.stem not in named and is_named_by_content(path):
                arrays = map_arrays(path)
                made_by = bytes(arrays.get("fingerprint", b"")).decode()  # of another kind: none
                if made_by == fingerprint and arrays["vectors"].shape[1]:
                    self.add(arrays["chunk_digest"], arrays["vectors"])

    def find(self, digests: Sequence[bytes]) -> dict[bytes, Vector]:
        """Return the vectors of those digests that are known."""
        found: dict[bytes, Vector] = {}
        wanted = np.unique(np.frombuffer(b"".join(digests), "<u8").reshape(-1, 2)[:, 0])
        needed = set(digests)
        for keys, vectors in self._sources:
            place = np.searchsorted(wanted, keys[:, 0])
            hits = np.flatnonzero(wanted[np.minimum(place, len(wanted) - 1)] == keys[:, 0])
            for row in hits.tolist():
                digest = keys[row].tobytes()
                if digest in needed:
                    found.setdefault(digest, vectors[row])
        return found


class VectorMaker:
    """Embeds texts in slices, and counts them."""

    def __init__(self, context: BuildContext, tally: Tally) -> None:
        self._context, self._tally = context, tally
        self._done = 0
        self.total = 0
        """Texts that are to be embedded, for whoever follows the build."""

    def make(self, texts: Mapping[bytes, str]) -> dict[bytes, Vector]:
        """Return the vectors of texts by their digests."""
        made: dict[bytes, Vector] = {}
        self.total += len(texts)
        for digests, vectors in self.slices(texts.items()):
            made.update(zip(digests, vectors, strict=True))
        return made

    def slices(
        self, texts: Iterable[tuple[bytes, str]]
    ) -> Iterator[tuple[Sequence[bytes], Matrix]]:
        """Yield the digests of some texts and their vectors, until all are done."""
        waiting = iter(texts)
        self._report()
        # The first slices are small, so that the rate is known within the first second.
        while part := dict(islice(waiting, min(max(self._done, 1), _SLICE))):
            vectors = self._context.embedder.embed_passages(list(part.values()))
            self._tally.embedded += len(part)
            self._done += len(part)
            yield tuple(part), vectors
            self._report()

    def _report(self) -> None:
        if self._context.embedder.dimension:
            self._context.progress(EMBEDDING, self._done, max(self.total, self._done))


class Filling:
    """The vectors of a segment that was written without them, while they are made."""

    def __init__(self, segment: Segment, live: Ids, dimension: int) -> None:
        """``live`` are the rows that need a vector; others without one are dead."""
        assert segment.lacking is not None
        self._segment, self._fresh = segment, list[tuple[Sequence[bytes], Matrix]]()
        self._dead = np.setdiff1d(np.flatnonzero(segment.lacking), live)
        blank = np.zeros((segment.rows, dimension), np.float32)
        self._vectors = segment.vectors if segment.vectors.shape[1] else blank
        self.missing: dict[bytes, list[int]] = {}
        """The digest of each text without a vector, and the rows that it belongs to."""
        for row, digest in zip(live.tolist(), segment["chunk_digest"][live], strict=True):
            self.missing.setdefault(digest.tobytes(), []).append(row)

    def put(self, digests: Sequence[bytes], vectors: Matrix) -> None:
        """Take the vectors of some texts."""
        self._fresh.append((digests, vectors))
        for digest, vector in zip(digests, vectors, strict=True):
            self._vectors[self.missing.pop(digest, [])] = vector

    def write(
        self, context: BuildContext, ref: SegmentRef, opened: dict[str, Segment]
    ) -> SegmentRef:
        """Write what came since the last time; the whole segment once nothing is missing.

        Return how the commit record names it; ``opened`` gains it with its vectors.
        """
        folder, segment = context.paths.index, self._segment
        waiting = {row for rows in self.missing.values() for row in rows}
        if not waiting:
            ref = write_filled(folder, ref, segment, self._vectors, self._dead)
            opened[ref.name] = segment.with_vectors(self._vectors, None)
            return ref
        lacking = np.zeros(segment.rows, np.bool_)
        lacking[[*waiting, *self._dead.tolist()]] = True
        opened[ref.name] = segment.with_vectors(self._vectors, lacking)
        if not self._fresh:
            return ref
        digests = [digest for part, _ in self._fresh for digest in part]
        name = write_vectors(folder, digests, [m for _, m in self._fresh], context.fingerprint)
        self._fresh.clear()
        return replace(ref, awaiting=len(waiting), vectors=(*ref.vectors, name))


def fill_segments(
    context: BuildContext,
    refs: Sequence[SegmentRef],
    names: Collection[str],
    opened: dict[str, Segment],
    maker: VectorMaker,
    read_texts: Callable[[str], Mapping[bytes, str]],
    publish: Publish,
) -> None:
    """Make the vectors that segments lack, and publish them every half minute and when stopped.

    ``names`` are the segments that are filled; ``refs`` are all of the index. ``read_texts`` gives
    the texts of a note by their digests. The newest notes come first, huge ones last.
    """
    refs, due = list(refs), context.monotonic() + STEP_SECONDS
    maker.total += sum(ref.awaiting for ref in refs if ref.name in names)
    for is_cold in (False, True):
        places = [place for place, ref in enumerate(refs) if ref.is_cold == is_cold]
        fold = fold_segments([opened[refs[place].name] for place in places])
        for place, notes in zip(places, fold.row_notes(), strict=False):
            if not refs[place].awaiting or refs[place].name not in names:
                continue
            segment = opened[refs[place].name]
            assert segment.lacking is not None
            live = np.flatnonzero((notes >= 0) & segment.lacking)
            filling = Filling(segment, live, context.embedder.dimension)
            texts = (
                text
                for path in order_notes(fold, notes[live])
                for text in read_texts(path).items()
                if text[0] in filling.missing
            )
            try:
                for digests, vectors in maker.slices(texts):
                    filling.put(digests, vectors)
                    if context.monotonic() >= due:
                        refs[place] = filling.write(context, refs[place], opened)
                        publish(refs)
                        due = context.monotonic() + STEP_SECONDS
            except (KeyboardInterrupt, PalaceError):
                refs[place] = filling.write(context, refs[place], opened)
                publish(refs, is_stopped=True)
                raise
            refs[place] = filling.write(context, refs[place], opened)
            publish(refs)
            due = context.monotonic() + STEP_SECONDS


def order_notes(fold: Fold, notes: NDArray[np.signedinteger]) -> list[str]:
    """Return the paths of notes, given one for each row: newest first, huge ones last."""
    is_own = fold.column("date_source") != SOURCES.index("mtime")
    changed = fold.column("stat")[:, STAT.changed_ns] / 1e9
    dates = np.where(is_own, fold.column("date"), changed)
    places, counts = np.unique(notes, return_counts=True)
    order = np.lexsort((places, -dates[places], counts > _HUGE_ROWS))
    return [fold.paths[place] for place in places[order].tolist()]
