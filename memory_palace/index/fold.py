"""Fold the segments of one zone into the table of live notes: a later record of a path wins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memory_palace.index.npz import Array
from memory_palace.index.segment import (
    CONTENT,
    NUMBER_COLUMNS,
    STAT,
    TEXT_COLUMNS,
    TOMBSTONE,
    NoteRow,
    Segment,
)

Ids = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Fold:
    """Live notes of one zone, in path order. Record ids count through all segments in order."""

    segments: tuple[Segment, ...]
    starts: Ids
    """First record id of each segment, and one more for the end."""
    paths: list[str]
    winners: Ids
    """Record id of each note's latest record."""
    owners: Ids
    """Record id of the content record that holds each note's chunks."""

    def column(self, name: str) -> Array:
        """One value per live note, from its latest record."""
        if not self.segments:
            return np.zeros(0, np.int64)
        joined = [segment[name] for segment in self.segments]
        column: Array = np.concatenate(joined)[self.winners]
        return column

    def texts(self, name: str) -> list[str]:
        """One string per live note, from its latest record."""
        joined = [text for segment in self.segments for text in segment.texts(name)]
        return [joined[record] for record in self.winners.tolist()]

    def locate(self, record: int) -> tuple[Segment, int]:
        """Return the segment of a record id, and its place there."""
        number = int(np.searchsorted(self.starts, record, side="right")) - 1
        return self.segments[number], record - int(self.starts[number])

    def read_row(self, place: int, *, kind: int) -> NoteRow:
        """Rebuild the record of a live note, without its chunks."""
        segment, record = self.locate(int(self.winners[place]))
        columns: dict[str, Any] = {
            field: segment.texts(member)[record] for member, field in TEXT_COLUMNS.items()
        }
        columns |= {member: segment[member][record].item() for member in NUMBER_COLUMNS}
        return NoteRow(
            **columns | {"path": self.paths[place], "kind": kind},
            line=segment.note_bytes(record),
            digest=bytes(segment["note_digest"][record]),
            days=tuple(segment["days"][record].tolist()),
            stat=tuple(segment["stat"][record].tolist()),
        )

    def changed_ns(self, place: int) -> int:
        """Return when the content of a live note last changed, by its mtime at that moment."""
        segment, record = self.locate(int(self.winners[place]))
        return int(segment["stat"][record][STAT.changed_ns])

    def row_notes(self) -> list[NDArray[np.int32]]:
        """Per segment: for every row the index of its note here, -1 where the row is dead."""
        note_of_record = np.full(int(self.starts[-1]), -1, np.int32)
        note_of_record[self.owners] = np.arange(len(self.paths), dtype=np.int32)
        return [
            note_of_record[start : start + segment.notes][segment["chunk_note"]]
            for segment, start in zip(self.segments, self.starts.tolist(), strict=False)
        ]


def fold_segments(segments: Sequence[Segment]) -> Fold:
    """Fold segments, oldest first."""
    starts = np.cumsum([0, *(segment.notes for segment in segments)]).astype(np.int64)
    latest: dict[str, int] = {}
    content: dict[str, int] = {}
    gone: set[str] = set()
    for segment, start in zip(segments, starts.tolist(), strict=False):
        kinds: Array = segment["kind"]
        latest.update(zip(segment.paths, range(start, start + segment.notes), strict=True))
        if not kinds.any():
            content.update(zip(segment.paths, range(start, start + segment.notes), strict=True))
            gone.difference_update(segment.paths)
            continue
        for place, (path, kind) in enumerate(zip(segment.paths, kinds.tolist(), strict=True)):
            if kind == CONTENT:
                content[path] = start + place
            (gone.add if kind == TOMBSTONE else gone.discard)(path)
    paths = sorted(path for path in latest if path not in gone and path in content)
    return Fold(
        tuple(segments),
        starts,
        paths,
        np.fromiter((latest[path] for path in paths), np.int64, len(paths)),
        np.fromiter((content[path] for path in paths), np.int64, len(paths)),
    )


def group_rows(notes: NDArray[np.integer]) -> dict[int, list[int]]:
    """Return the rows of each note, given the note of each row, -1 for a row of none."""
    rows: dict[int, list[int]] = {}
    for row, note in enumerate(notes.tolist()):
        if note >= 0:
            rows.setdefault(note, []).append(row)
    return rows
