"""A consistent, read-only view of one generation. Readers never lock and never write.

The segments of a zone are folded into the table of live notes: a later record of a path wins.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from memory_palace.config import SEVEN, Rooms
from memory_palace.index.arrays import Array, KeyCounts
from memory_palace.index.calibration import SAMPLE, Spread, find_spread
from memory_palace.index.commit import Commit, Detail, read_detail, read_languages
from memory_palace.index.segment import (
    CONTENT,
    COPY,
    EVERGREEN,
    HAS_PROBLEMS,
    NUMBER_COLUMNS,
    PRIORITIES,
    PRIVATE,
    SEPARATOR,
    SOURCES,
    STAT,
    TEXT_COLUMNS,
    TOMBSTONE,
    NoteRow,
    Segment,
    chunk_record,
    note_record,
)
from memory_palace.models import ChunkRecord, Matrix, NoteDate, NoteRecord, Scores, Vector
from memory_palace.notes.note import stem_of

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


ReadLines = Callable[[str], list[str]]
_MTIME = 3
_DAY_SECONDS = 86_400
_COPIED = 20
"""Files of one day, and most of those that date their notes, were copied or checked out then."""
_WIDTHS = {"stat": 5, "note_digest": 16, "days": 4}


_Rows: TypeAlias = NDArray[np.int64]
_Mask: TypeAlias = NDArray[np.bool_]

Figure = Literal["words_length", "notes", "note_length", "most_held"]
"""The mean number of words of a passage; notes with text, and their mean number of words; the
largest share of a question's words that a note holds, by weight. Of the first three cold notes are
left out."""


class Snapshot:
    """Live notes and their rows. Notes are in path order; rows are those of all segments."""

    read_lines: ReadLines | None = None
    """Returns the lines of a note as they may be shown, where they are not read from its file."""

    def __init__(self, commit: Commit, folds: Sequence[Fold], *, rooms: Rooms = SEVEN) -> None:
        self.commit = commit
        self.room_map = rooms
        self.languages = read_languages(commit.fingerprint)
        """Those whose stemmers its words were made with."""
        self._folds = tuple(folds)
        paths = [path for fold in self._folds for path in fold.paths]
        order = sorted(range(len(paths)), key=paths.__getitem__)
        self._order = np.array(order, np.int64)
        self.paths = [paths[i] for i in order]

    @cached_property
    def segments(self) -> list[Segment]:
        """The opened segments, in row order."""
        return [segment for fold in self._folds for segment in fold.segments]

    @cached_property
    def row_note(self) -> NDArray[np.int32]:
        """For each row the index of its note, or -1 where the row is dead or is no passage."""
        owners: NDArray[np.int32] = np.where(self.row_lines[:, 0], self.row_owner, np.int32(-1))
        return owners

    @cached_property
    def question_rows(self) -> NDArray[np.int64]:
        """The live rows that are questions of a note, ascending."""
        return np.flatnonzero((self.row_owner >= 0) & (self.row_note < 0))

    @cached_property
    def row_owner(self) -> NDArray[np.int32]:
        """For each row, passage or question, the index of its note, or -1 where it is dead."""
        place = np.empty(len(self._order), np.int32)
        place[self._order] = np.arange(len(self._order), dtype=np.int32)
        parts, first = [np.zeros(0, np.int32)], 0
        for fold in self._folds:
            inside = np.append(place[first : first + len(fold.paths)], np.int32(-1))
            parts += [inside[rows] for rows in fold.row_notes()]
            first += len(fold.paths)
        return np.concatenate(parts)

    @cached_property
    def hot_rows(self) -> NDArray[np.bool_]:
        """Whether each row is live and outside the cold zone."""
        hot = np.append(~self.cold, False)  # the place after the last is for dead rows
        rows: NDArray[np.bool_] = hot[self.row_note]
        return rows

    @cached_property
    def embedded_rows(self) -> NDArray[np.bool_]:
        """Whether each row is live, outside the cold zone, and has a vector."""
        return self.hot_rows if self.lacking is None else self.hot_rows & ~self.lacking

    @cached_property
    def row_lines(self) -> NDArray[np.uint32]:
        """First and last line of each row's passage, shape ``(rows, 2)``."""
        return self._rows("chunk_lines", np.zeros((0, 2), np.uint32))

    @cached_property
    def row_digests(self) -> NDArray[np.uint8]:
        """The first 16 bytes of each row's text digest."""
        return self._rows("chunk_digest", np.zeros((0, 16), np.uint8))

    @cached_property
    def row_starts(self) -> NDArray[np.int64]:
        """First row of each segment, and one more for the end."""
        return np.cumsum([0, *(segment.rows for segment in self.segments)]).astype(np.int64)

    @cached_property
    def lacking(self) -> NDArray[np.bool_] | None:
        """Whether each row is without a vector yet; ``None`` where every row has one."""
        if all(segment.lacking is None for segment in self.segments):
            return None
        lacking = np.zeros(int(self.row_starts[-1]), np.bool_)
        for segment, start in zip(self.segments, self.row_starts.tolist(), strict=False):
            if segment.lacking is not None:
                lacking[start : start + segment.rows] = segment.lacking
        return lacking

    @cached_property
    def detail(self) -> Detail:
        """The detail that the index keeps of each passage."""
        return read_detail(self.commit.fingerprint)

    def similarities(self, vector: Vector) -> Scores:
        """Return the cosine of every row with a unit vector, 0 of a row that has none yet.

        Dead rows have some value too. The matrix is not copied.
        """
        scores: Scores = np.empty(int(self.row_starts[-1]), np.float32)
        for segment, start in zip(self.segments, self.row_starts.tolist(), strict=False):
            matrix = segment.vectors
            if matrix.shape[1]:
                np.matmul(matrix, vector, out=scores[start : start + segment.rows])
            else:
                scores[start : start + segment.rows] = 0
        return scores

    def rows_of(self, rows: NDArray[np.int64]) -> Matrix:
        """Return the unit vectors of some rows, shape ``(len(rows), dimension)``."""
        found = np.empty((len(rows), self.commit.dimension), np.float32)
        numbers = np.searchsorted(self.row_starts, rows, side="right") - 1
        for number in sorted(set(numbers.tolist())):  # np.unique would import numpy.ma: 7 ms
            inside = numbers == number
            places = rows[inside] - self.row_starts[number]
            matrix = self.segments[number].vectors[places]
            found[inside] = matrix if matrix.shape[1] else 0
        return found

    def cosines_of(self, rows: NDArray[np.int64], vector: Vector) -> NDArray[np.float64]:
        """Return the cosines of some rows with a unit vector, in double precision."""
        vectors = self.rows_of(rows)
        cosines: NDArray[np.float64] = np.einsum("ij,j->i", vectors, vector, dtype=np.float64)
        return cosines

    @cached_property
    def sample(self) -> NDArray[np.int64]:
        """The rows that stand for all where cosines are measured."""
        return self.sample_rows(SAMPLE)

    def sample_rows(self, limit: int) -> NDArray[np.int64]:
        """Return the embedded rows with the smallest text digests, in the order of those.

        The same notes give the same rows, whatever the order in which they were indexed.
        """
        rows = np.flatnonzero(self.embedded_rows)
        keys = np.ascontiguousarray(self.row_digests[rows]).view(">u8")[:, 0]
        if len(keys) > limit:
            least = np.argpartition(keys, limit)[:limit]
            rows, keys = rows[least], keys[least]
        return rows[np.argsort(keys, kind="stable")]

    @property
    def statistics(self) -> Statistics:
        """Figures of all notes."""
        return Statistics(self)

    @cached_property
    def titles(self) -> list[str]:
        """Title of each note."""
        return self._texts("titles")

    @cached_property
    def types(self) -> list[str]:
        """Effective type of each note."""
        return self._texts("types")

    @cached_property
    def rooms(self) -> list[str]:
        """Room of each note, empty outside the seven."""
        return [self.room_map.room_of(path) or "" for path in self.paths]

    @cached_property
    def priorities(self) -> NDArray[np.int8]:
        """Effective priority of each note: 0 none, 1 low, 2 medium, 3 high."""
        return self._column("priority")

    @cached_property
    def date_sources(self) -> NDArray[np.uint8]:
        """The source of each note's date: a place in ``segment.SOURCES``."""
        return self._column("date_source")

    @cached_property
    def stats(self) -> NDArray[np.int64]:
        """Stat figures of each note, shape ``(notes, 5)``; the columns are ``segment.STAT``."""
        return self._column("stat")

    @cached_property
    def note_digests(self) -> NDArray[np.uint8]:
        """The first 16 bytes of each note's SHA-256."""
        return self._column("note_digest")

    @cached_property
    def dates(self) -> NDArray[np.float64]:
        """Time of each note, seconds since the epoch."""
        changed: Array = self.stats[:, STAT.changed_ns] / 1e9
        return np.where(self.date_sources == _MTIME, changed, self._column("date"))

    @cached_property
    def told_dates(self) -> NDArray[np.float64]:
        """The same, 0 where a copy or a checkout dates the note: it tells no age."""
        by_file = self.date_sources == _MTIME
        days = np.where(by_file, self.dates // _DAY_SECONDS, 0).astype(np.int64)
        least = days.min(initial=0)
        counts = np.bincount(days[by_file] - least, minlength=1)
        if counts.max() < max(_COPIED, by_file.sum() / 2):
            return self.dates
        return np.where(by_file & (days == counts.argmax() + least), 0.0, self.dates)

    @cached_property
    def days(self) -> NDArray[np.int32]:
        """First and last day of two spans that each note is of, shape ``(notes, 4)``; 0: none."""
        return self._column("days")

    @cached_property
    def evergreen(self) -> NDArray[np.bool_]:
        """Whether each note is exempt from decay."""
        return (self._column("flags") & EVERGREEN) > 0

    @cached_property
    def private(self) -> NDArray[np.bool_]:
        """Whether each note is kept out of everything that is shown."""
        return (self._column("flags") & PRIVATE) > 0

    @cached_property
    def has_problems(self) -> NDArray[np.bool_]:
        """Whether something was reported of each note when it was indexed."""
        return (self._column("flags") & HAS_PROBLEMS) > 0

    @cached_property
    def cold(self) -> NDArray[np.bool_]:
        """Whether each note is in the cold zone."""
        flags = [
            np.full(len(fold.paths), bool(fold.segments and fold.segments[0].is_cold))
            for fold in self._folds
        ]
        return np.concatenate([np.zeros(0, np.bool_), *flags])[self._order]

    @cached_property
    def copies(self) -> dict[int, list[int]]:
        """Notes that hold nothing but sentences of others, with those, none of them cold."""
        copies = (self._column("flags") & COPY).nonzero()[0].tolist()
        named = self._texts("originals") if copies else []
        hot = (~self.cold).nonzero()[0].tolist() if copies else ()
        paths = {place: self.paths[place] for place in hot}
        return find_copies({copy: _split(named[copy]) for copy in copies}, paths)

    def aliases(self) -> list[tuple[str, ...]]:
        """Return the other names of each note."""
        return [_split(text) for text in self._texts("aliases")]

    @cached_property
    def speakers(self) -> frozenset[str]:
        """Each word of the names of those who take turns in notes, casefolded."""
        return frozenset(" ".join(self._texts("speakers")).replace(SEPARATOR, " ").split())

    def link_targets(self) -> list[tuple[str, ...]]:
        """Return the link targets of each note, as written, without heading and alias."""
        return [_split(text) for text in self._texts("targets")]

    def link_names(self) -> list[tuple[str, ...]]:
        """Return the names that each note gives its link targets: target, bar and name."""
        return [_split(text) for text in self._texts("link_names")]

    @cached_property
    def shown_tags(self) -> list[tuple[str, ...]]:
        """Tags of each note as written, without ``#``; ``a/b`` is below ``a``. Private: none."""
        pairs = zip(self._texts("tags"), self.private.tolist(), strict=True)
        return [() if is_hidden else _split(text) for text, is_hidden in pairs]

    def chunk(self, row: int) -> ChunkRecord:
        """Read what is shown of a row."""
        number = int(np.searchsorted(self.row_starts, row, side="right")) - 1
        line = self.segments[number].chunk_line(row - int(self.row_starts[number]))
        path = self.paths[int(self.row_owner[row])]
        return chunk_record(line, path, self.row_lines[row], bytes(self.row_digests[row]))

    def row_keys(self, row: int) -> tuple[KeyCounts, ...]:
        """Return the terms of a row, one value for each of ``arrays.FIELDS``."""
        number = int(np.searchsorted(self.row_starts, row, side="right")) - 1
        place = row - int(self.row_starts[number])
        return tuple(keys[place] for keys in self.segments[number].row_keys)

    def note(self, index: int) -> NoteRecord:
        """Read the record of a note."""
        fold, record = self._record(index)
        segment, place = fold.locate(record)
        return note_record(
            segment.note_line(place),
            path=self.paths[index],
            title=self.titles[index],
            type=self.types[index],
            priority=PRIORITIES[int(self.priorities[index])] or None,
            date=NoteDate(float(self.dates[index]), SOURCES[int(self.date_sources[index])]),
            is_evergreen=bool(self.evergreen[index]),
            is_cold=segment.is_cold,
        )

    def _record(self, index: int) -> tuple[Fold, int]:
        position = int(self._order[index])
        for fold in self._folds:
            if position < len(fold.paths):
                return fold, int(fold.winners[position])
            position -= len(fold.paths)
        raise IndexError(index)

    def _column(self, name: str) -> Array:
        columns = [fold.column(name) for fold in self._folds if fold.paths]
        if not columns:
            return np.zeros((0, _WIDTHS[name]) if name in _WIDTHS else 0, np.int64)
        column: Array = np.concatenate(columns)[self._order]
        return column

    def _texts(self, name: str) -> list[str]:
        texts = [text for fold in self._folds for text in fold.texts(name)]
        return [texts[i] for i in self._order.tolist()]

    def _rows(self, name: str, empty: Array) -> Array:
        column: Array = np.concatenate([empty, *(segment[name] for segment in self.segments)])
        return column


def _split(text: str) -> tuple[str, ...]:
    return tuple(text.split(SEPARATOR)) if text else ()


def find_copies(
    named: Mapping[int, Sequence[str]], paths: Mapping[int, str]
) -> dict[int, list[int]]:
    """Return copies with the notes that they name, given ``paths`` of the notes that may be named.

    A note that names one which is not there, or not known by its name alone, is no copy.
    """
    places: dict[str, list[int]] = {}
    for place, path in paths.items():
        places.setdefault(stem_of(path), []).append(place)
    found = {copy: [places.get(name, []) for name in names] for copy, names in named.items()}
    return {
        copy: [place for (place,) in originals]
        for copy, originals in found.items()
        if all(len(each) == 1 for each in originals)
    }


class Statistics:
    """Figures of all notes, given those of the notes at hand.

    Here the notes at hand are all, and what is found in them is the answer. A palace of which some
    notes were chosen overrides this: it knows the figures of all by the name that is asked for.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot

    @property
    def rows(self) -> int:
        """Number of live passages outside the cold zone."""
        return int(np.count_nonzero(self._snapshot.hot_rows))

    def figure(self, name: Figure, found: float) -> float:
        """Return a figure, ``found`` of the notes at hand."""
        return found

    def frequency(self, field: str, parts: tuple[str, ...], rows: _Rows) -> int:
        """Return how many passages outside the cold zone hold a term, or a fact by its parts."""
        return int(np.count_nonzero(self._snapshot.hot_rows[rows]))

    def note_frequency(self, term: str, found: int) -> int:
        """Return how many notes outside the cold zone have a word in a passage."""
        return found

    def holds(self, field: str, parts: tuple[str, ...], rows: _Rows) -> bool:
        """Say whether any live passage holds a term, in the cold zone too where that is asked."""
        return len(rows) > 0

    def spread(self, name: str, scores: NDArray[np.float64], *counted: _Mask) -> Spread | None:
        """Return how scores are spread over the first of the masks where any is above 0.

        ``name`` is that of the signal, or ``words`` for BM25 of passages and ``note_words`` for
        that of notes.
        """
        best = float(scores.max(initial=0.0))
        for mask in counted:
            found = scores[mask]
            if len(counted) == 1 or found.any():
                return find_spread(found, count=len(found), best=best)
        return None

    def sample(self, vector: Vector) -> NDArray[np.float64]:
        """Return the cosines of a vector with the rows of ``Snapshot.sample``."""
        return self._snapshot.cosines_of(self._snapshot.sample, vector)
