"""Merge small segments of like size, and rewrite a large one when a quarter of it is dead."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from memory_palace.index.commit import SegmentRef
from memory_palace.index.fold import Fold, fold_segments, group_rows
from memory_palace.index.segment import CONTENT, META, TOMBSTONE, Segment, open_segment
from memory_palace.index.state import read_row
from memory_palace.index.writing import ChunkRow, NoteRow, tombstone, write_segment

PILE = 8
"""How many segments of like size are merged; also the factor between sizes (log-structured
merge: each record is written again once per size it passes through)."""
LARGE_ROWS = 16_384
"""From here on a segment is left alone until a quarter of it is dead. It is also how many rows
a build embeds before it writes: the memory a build needs grows with it, not with the vault."""
DEAD_SHARE = 0.25


def compact(
    folder: Path,
    refs: Sequence[SegmentRef],
    opened: dict[str, Segment],
    *,
    fingerprint: str,
    dimension: int,
) -> tuple[tuple[SegmentRef, ...], int]:
    """Merge until no pile and no large segment with a dead quarter is left, zone by zone.

    Return the segments after merging, and how many bytes merging wrote. ``opened`` holds segments
    that are mapped already, by name, and gains those opened here.
    """
    done: list[SegmentRef] = []
    written = 0
    for is_cold in (False, True):
        zone = [ref for ref in refs if ref.is_cold == is_cold]
        while True:
            for ref in zone:
                if ref.name not in opened:
                    opened[ref.name] = open_segment(folder, ref)
            fold = fold_segments([opened[ref.name] for ref in zone])
            zone = _count_dead(zone, fold)
            chosen = _choose(zone)
            if not chosen:
                break
            parts = [zone[place] for place in chosen]
            merged = _merge(folder, fold, parts, fingerprint, dimension, is_cold=is_cold)
            # By place: what is merged may be, byte for byte, a segment that was there before.
            zone = [
                *(ref for n, ref in enumerate(zone[: chosen[-1]]) if n not in chosen),
                *([merged] if merged else []),
                *zone[chosen[-1] + 1 :],
            ]
            written += merged.array_bytes + merged.line_bytes if merged else 0
        done += zone
    return tuple(done), written


def _count_dead(zone: Sequence[SegmentRef], fold: Fold) -> list[SegmentRef]:
    dead = (int(np.count_nonzero(notes < 0)) for notes in fold.row_notes())
    return [replace(ref, dead_rows=count) for ref, count in zip(zone, dead, strict=True)]


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


def _merge(
    folder: Path,
    fold: Fold,
    chosen: Sequence[SegmentRef],
    fingerprint: str,
    dimension: int,
    *,
    is_cold: bool,
) -> SegmentRef | None:
    names = {ref.name for ref in chosen}
    rows = [*_live_notes(fold, names), *_needed_tombstones(fold, names)]
    if not rows:
        return None
    rows.sort(key=lambda row: row.path)
    return write_segment(
        folder, rows, fingerprint=fingerprint, dimension=dimension, is_cold=is_cold
    )


def _live_notes(fold: Fold, names: set[str]) -> Iterable[NoteRow]:
    """Carry over what is live.

    A note whose chunks are here is written with its latest record, wherever that is, so that
    the merged segment may stand anywhere after its parts.
    """
    rows_of = {s.name: group_rows(s["chunk_note"]) for s in fold.segments if s.name in names}
    is_chosen = np.array([segment.name in names for segment in fold.segments])
    owned = is_chosen[np.searchsorted(fold.starts, fold.owners, side="right") - 1]
    described = is_chosen[np.searchsorted(fold.starts, fold.winners, side="right") - 1]
    for place in np.flatnonzero(owned | described).tolist():
        if owned[place]:
            owner, record = fold.locate(int(fold.owners[place]))
            rows = rows_of[owner.name].get(record, [])
            yield with_chunks(read_row(fold, place, kind=CONTENT), owner, rows)
        else:
            yield read_row(fold, place, kind=META)


def _needed_tombstones(fold: Fold, names: set[str]) -> Iterable[NoteRow]:
    """Keep a tombstone only while some other segment still has a record of its path."""
    others = {path for s in fold.segments if s.name not in names for path in s.paths}
    live = set(fold.paths)
    gone = {
        path
        for segment in fold.segments
        if segment.name in names
        for path, kind in zip(segment.paths, segment["kind"].tolist(), strict=True)
        if kind == TOMBSTONE
    }
    return [tombstone(path) for path in gone & others - live]


def with_chunks(row: NoteRow, segment: Segment, rows: Sequence[int]) -> NoteRow:
    """Return a record with its chunks, which are consecutive rows of a segment."""
    members = segment.vector_members
    chunks = tuple(
        ChunkRow(
            int(segment["chunk_lines"][i][0]),
            int(segment["chunk_lines"][i][1]),
            tuple(bytes(segment[digests][i]) for digests in members.values()),
            segment.chunk_bytes(i),
            tuple(keys[i] for keys in segment.row_keys),
        )
        for i in rows
    )
    if not rows:
        return row
    inside = slice(rows[0], rows[-1] + 1)
    return replace(row, chunks=chunks, vectors=tuple(segment[member][inside] for member in members))
