"""Make a build visible: merge, calibrate, replace the commit record, sweep what nothing names.

Of a large build the words are published first, and its vectors in steps.

Small segments of like size are merged, and a large one is rewritten when a quarter of it is dead.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from memory_palace.errors import PalaceError
from memory_palace.index.chance import measure_chance
from memory_palace.index.commit import (
    Commit,
    SegmentRef,
    has_same_vectors,
    next_commit,
    write_commit,
)
from memory_palace.index.diff import MARGIN_NS
from memory_palace.index.rows import VectorMaker
from memory_palace.index.segment import (
    CONTENT,
    LARGE_ROWS,
    META,
    SOURCES,
    STAT,
    TOMBSTONE,
    NoteRow,
    Segment,
    open_segment,
    tombstone,
    write_filled,
    write_segment,
    write_vectors,
)
from memory_palace.index.snapshot import Fold, Snapshot, fold_segments, group_rows
from memory_palace.index.values import WRITING, BuildContext
from memory_palace.index.words import PostingLookup
from memory_palace.models import Matrix, Problem
from memory_palace.storage import is_named_by_content, remove_files, sweep_temporaries

PILE = 8
"""Number of segments of like size that are merged; also the factor between sizes (log-structured
merge: each record is written again once per size it passes through)."""
DEAD_SHARE = 0.25
STEP_SECONDS = 30.0
"""A build that is killed loses no more than it made in this time."""
_HUGE_ROWS = 200
"""A note of more passages gets its vectors after the others."""


def compact(folder: Path, draft: Commit, opened: dict[str, Segment]) -> tuple[SegmentRef, ...]:
    """Merge until no pile and no large segment with a dead quarter is left, zone by zone.

    Return the segments after merging. ``opened`` holds segments that are mapped already, by name,
    and gains those opened here.
    """
    done: list[SegmentRef] = []
    for is_cold in (False, True):
        zone = [ref for ref in draft.segments if ref.is_cold == is_cold]
        while True:
            for ref in zone:
                if ref.name not in opened:
                    opened[ref.name] = open_segment(folder, ref)
            fold = fold_segments([opened[ref.name] for ref in zone])
            dead = (int(np.count_nonzero(notes < 0)) for notes in fold.row_notes())
            zone = [replace(ref, dead_rows=count) for ref, count in zip(zone, dead, strict=True)]
            chosen = _choose(zone)
            if not chosen:
                break
            rows = _merge(fold, {zone[place].name for place in chosen})
            # By place: what is merged may be, byte for byte, a segment that was there before.
            before = [ref for place, ref in enumerate(zone[: chosen[-1]]) if place not in chosen]
            zone = [*before, *zone[chosen[-1] + 1 :]]
            if rows:
                merged = write_segment(
                    folder,
                    rows,
                    fingerprint=draft.fingerprint,
                    dimension=draft.dimension,
                    is_cold=is_cold,
                )
                zone.insert(len(before), merged)
        done += zone
    return tuple(done)


def _choose(zone: Sequence[SegmentRef]) -> list[int]:
    """Return the places of the segments to merge next, ascending; empty when all is well."""
    for place, ref in enumerate(zone):
        if ref.rows >= LARGE_ROWS // PILE and ref.dead_rows >= DEAD_SHARE * ref.rows:
            return [place]
    piles: dict[int, list[int]] = {}
    for place, ref in enumerate(zone):
        size = max(ref.rows, ref.notes, 1)
        if size < LARGE_ROWS:
            piles.setdefault(int(np.log2(size)) // 3, []).append(place)
    full = [pile for pile in piles.values() if len(pile) >= PILE]
    return full[0] if full else []


def _merge(fold: Fold, names: set[str]) -> list[NoteRow]:
    """Return the live records of some segments, in path order.

    A note whose chunks are in them is written with its latest record, wherever that is, so that
    the merged segment may stand anywhere after its parts. A tombstone is kept only while some other
    segment still has a record of its path.
    """
    parts = [segment for segment in fold.segments if segment.name in names]
    rows_of = {segment.name: group_rows(segment["chunk_note"]) for segment in parts}
    is_chosen = np.array([segment.name in names for segment in fold.segments])
    owned = is_chosen[np.searchsorted(fold.starts, fold.owners, side="right") - 1]
    described = is_chosen[np.searchsorted(fold.starts, fold.winners, side="right") - 1]
    rows: list[NoteRow] = []
    for place in np.flatnonzero(owned | described).tolist():
        if owned[place]:
            owner, record = fold.locate(int(fold.owners[place]))
            row = fold.read_row(place, kind=CONTENT)
            rows.append(owner.with_chunks(row, rows_of[owner.name].get(record, [])))
        else:
            rows.append(fold.read_row(place, kind=META))
    others = {path for s in fold.segments if s.name not in names for path in s.paths}
    gone = {
        path
        for segment in parts
        for path, kind in zip(segment.paths, segment["kind"].tolist(), strict=True)
        if kind == TOMBSTONE
    }
    rows += [tombstone(path) for path in gone & others - set(fold.paths)]
    return sorted(rows, key=lambda row: row.path)


class Publisher:
    """Makes the segments of a build visible, once or in steps, and counts what that wrote."""

    def __init__(
        self,
        context: BuildContext,
        before: Commit | None,
        opened: dict[str, Segment],
        *,
        manifest: str,
        git_head: str,
        keeps_before: bool,
    ) -> None:
        """Take the segments of a build, ``opened`` by name, and who listed the notes.

        ``keeps_before`` leaves readers what they have until every passage has a vector.
        """
        self._context, self._opened = context, opened
        self._before, self._keeps_before = before, keeps_before
        self._draft = Commit(
            generation=1,
            embedder=context.embedder.name,
            fingerprint=context.fingerprint,
            dimension=context.embedder.dimension,
            scanned_ns=context.now_ns,
            built_ns=context.now_ns,
            manifest=manifest,
            git_head=git_head,
            waits_for=context.waits_for,
        )
        self.record_bytes = 0
        self.problems: list[Problem] = []

    def publish(self, refs: Sequence[SegmentRef], *, is_stopped: bool = False) -> None:
        """Commit segments; they are merged once no row is without a vector.

        Who stops a build does not wait for the vectors of what refers to nothing.
        """
        context, opened, before = self._context, self._opened, self._before
        folder, draft = context.paths.index, replace(self._draft, segments=tuple(refs))
        if draft.awaiting:
            if self._keeps_before:
                return
            lacking = (opened[ref.name].lacking for ref in refs)
            has_some = any(mask is None or not mask.all() for mask in lacking)
            draft = replace(draft, dimension=draft.dimension if has_some else 0)
        else:
            context.progress(WRITING, 0, 1)
            draft = replace(draft, segments=compact(folder, draft, opened))
        hot = Snapshot(
            draft,
            [fold_segments([opened[ref.name] for ref in draft.segments if not ref.is_cold])],
            rooms=context.paths.rooms,
        )
        may_embed = bool(draft.dimension) and not is_stopped
        chance = measure_chance(hot, folder, context.embedder, may_embed=may_embed)
        draft = replace(draft, calibration=chance, languages=count_languages(hot))
        if before and before.anchors and has_same_vectors(before.fingerprint, draft.fingerprint):
            draft = replace(draft, anchors=before.anchors)
            if not draft.awaiting:
                followed = context.follow(hot, before.anchors, context.embedder, context.now_ns)
                draft = replace(draft, anchors=followed.names)
                self.problems += followed.problems
        self._before = commit = next_commit(before, draft)
        self.record_bytes += write_commit(context.paths.commit, commit)
        sweep(folder, commit)

    def fill(
        self,
        refs: Sequence[SegmentRef],
        names: Collection[str],
        maker: VectorMaker,
        read_texts: Callable[[str], Mapping[bytes, str]],
    ) -> None:
        """Make the vectors that segments lack, and publish them every half minute and when stopped.

        ``names`` are the segments that are filled; ``refs`` are all of the index. ``read_texts``
        gives the texts of a note by their digests. The newest notes come first, huge ones last.
        """
        context, opened, refs = self._context, self._opened, list(refs)
        maker.total += sum(ref.awaiting for ref in refs if ref.name in names)
        due = context.monotonic() + STEP_SECONDS
        for is_cold in (False, True):
            places = [place for place, ref in enumerate(refs) if ref.is_cold == is_cold]
            fold = fold_segments([opened[refs[place].name] for place in places])
            for place, notes in zip(places, fold.row_notes(), strict=False):
                if not refs[place].awaiting or refs[place].name not in names:
                    continue
                filling = Filling(context, opened, refs[place], notes >= 0)
                slices = maker.slices(
                    filling.texts(order_notes(fold, notes[filling.live]), read_texts)
                )
                try:
                    for digests, vectors in slices:
                        filling.put(digests, vectors)
                        if context.monotonic() >= due:
                            refs[place] = filling.write()
                            self.publish(refs)
                            due = context.monotonic() + STEP_SECONDS
                except (KeyboardInterrupt, PalaceError):
                    refs[place] = filling.write()
                    self.publish(refs, is_stopped=True)
                    raise
                refs[place] = filling.write()
                self.publish(refs)
                due = context.monotonic() + STEP_SECONDS

    def refresh(self, commit: Commit, *, hashed: int) -> None:
        """Note that files which looked racy were hashed and are the same, or who listed them."""
        draft = self._draft
        sweep(self._context.paths.index, commit)
        is_racy = hashed > 0 and draft.scanned_ns > commit.scanned_ns + MARGIN_NS
        told = {name: getattr(draft, name) for name in ("manifest", "git_head", "waits_for")}
        again = replace(commit, scanned_ns=draft.scanned_ns, **told)
        if is_racy or replace(again, scanned_ns=commit.scanned_ns) != commit:
            self._before = again
            self.record_bytes += write_commit(self._context.paths.commit, again)


class Filling:
    """The vectors of a segment that was written without them, while they are made."""

    def __init__(
        self,
        context: BuildContext,
        opened: dict[str, Segment],
        ref: SegmentRef,
        is_live: NDArray[np.bool_],
    ) -> None:
        """Take a segment of ``opened``; of its rows those that are live need a vector."""
        segment = opened[ref.name]
        assert segment.lacking is not None
        self._context, self._opened, self._ref, self._segment = context, opened, ref, segment
        self._fresh: list[tuple[Sequence[bytes], Matrix]] = []
        self.live = np.flatnonzero(is_live & segment.lacking)
        self._dead = np.flatnonzero(~is_live & segment.lacking)
        blank = np.zeros((segment.rows, context.embedder.dimension), np.float32)
        self._vectors = segment.vectors if segment.vectors.shape[1] else blank
        self._missing: dict[bytes, list[int]] = {}
        """The digest of each text without a vector, and the rows that it belongs to."""
        for row, digest in zip(self.live.tolist(), segment["chunk_digest"][self.live], strict=True):
            self._missing.setdefault(digest.tobytes(), []).append(row)

    def texts(
        self, paths: Iterable[str], read_texts: Callable[[str], Mapping[bytes, str]]
    ) -> Iterator[tuple[bytes, str]]:
        """Yield the texts of notes that have no vector yet, with their digests."""
        for path in paths:
            for digest, text in read_texts(path).items():
                if digest in self._missing:
                    yield digest, text

    def put(self, digests: Sequence[bytes], vectors: Matrix) -> None:
        """Take the vectors of some texts."""
        self._fresh.append((digests, vectors))
        for digest, vector in zip(digests, vectors, strict=True):
            self._vectors[self._missing.pop(digest, [])] = vector

    def write(self) -> SegmentRef:
        """Write what came since the last time; the whole segment once nothing is missing.

        Return how the commit record names it; ``opened`` gains it with its vectors.
        """
        folder, segment, ref = self._context.paths.index, self._segment, self._ref
        waiting = [row for rows in self._missing.values() for row in rows]
        lacking = None
        if waiting:
            lacking = np.zeros(segment.rows, np.bool_)
            lacking[[*waiting, *self._dead.tolist()]] = True
            if self._fresh:
                digests = [digest for part, _ in self._fresh for digest in part]
                made = [vectors for _, vectors in self._fresh]
                name = write_vectors(folder, digests, made, self._context.fingerprint)
                ref = replace(ref, awaiting=len(waiting), vectors=(*ref.vectors, name))
                self._fresh.clear()
        else:
            ref = write_filled(folder, ref, segment, self._vectors, self._dead)
        self._ref = ref
        self._opened[ref.name] = segment.with_vectors(self._vectors, lacking)
        return ref


def order_notes(fold: Fold, notes: NDArray[np.signedinteger]) -> list[str]:
    """Return the paths of notes, given one for each row: newest first, huge ones last."""
    is_own = fold.column("date_source") != SOURCES.index("mtime")
    changed = fold.column("stat")[:, STAT.changed_ns] / 1e9
    dates = np.where(is_own, fold.column("date"), changed)
    places, counts = np.unique(notes, return_counts=True)
    order = np.lexsort((places, -dates[places], counts > _HUGE_ROWS))
    return [fold.paths[place] for place in places[order].tolist()]


def sweep(folder: Path, commit: Commit) -> None:
    """Delete what neither this generation nor the one before it names, and damaged vectors."""
    sweep_temporaries(folder)
    named = commit.names()
    derived = [path for kind in ("seg", "vec", "anchors") for path in folder.glob(f"{kind}-*")]
    remove_files(path for path in derived if path.stem not in named)
    remove_files(path for path in folder.glob("null-*") if not is_named_by_content(path))


def count_languages(snapshot: Snapshot) -> dict[str, int]:
    """Count the passages that are not English, and those that tell, outside the cold zone."""
    facts = PostingLookup(snapshot, "facts")
    other, unclear = (facts.document_frequency("tongue", key) for key in ("other", "unclear"))
    return {"other": other, "told": int(snapshot.hot_rows.sum()) - unclear}
