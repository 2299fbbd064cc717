"""Make a build visible: merge, calibrate, replace the commit record, sweep what nothing names.

Small segments of like size are merged, and a large one is rewritten when a quarter of it is dead.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from memory_palace.index.chance import measure_chance
from memory_palace.index.commit import Commit, SegmentRef, next_commit, write_commit
from memory_palace.index.diff import MARGIN_NS
from memory_palace.index.fold import Fold, fold_segments, group_rows
from memory_palace.index.recipes import has_same_vectors
from memory_palace.index.segment import (
    CONTENT,
    LARGE_ROWS,
    META,
    TOMBSTONE,
    NoteRow,
    Segment,
    open_segment,
    tombstone,
    write_segment,
)
from memory_palace.index.snapshot import Snapshot
from memory_palace.index.values import WRITING, BuildContext
from memory_palace.index.words import PostingLookup
from memory_palace.models import Problem
from memory_palace.storage.atomic import is_named_by_content, remove_files, sweep_temporaries

PILE = 8
"""How many segments of like size are merged; also the factor between sizes (log-structured
merge: each record is written again once per size it passes through)."""
DEAD_SHARE = 0.25


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
    """Return what is live of some segments, in path order.

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

    def refresh(self, commit: Commit, *, hashed: int) -> None:
        """Note that files which looked racy were hashed and are the same, or who listed them."""
        draft = self._draft
        sweep(self._context.paths.index, commit)
        is_racy = hashed > 0 and draft.scanned_ns > commit.scanned_ns + MARGIN_NS
        told = {name: getattr(draft, name) for name in ("manifest", "git_head", "waits_for")}
        again = replace(commit, scanned_ns=draft.scanned_ns, **told)
        if is_racy or any(getattr(commit, name) != value for name, value in told.items()):
            self._before = again
            self.record_bytes += write_commit(self._context.paths.commit, again)


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
