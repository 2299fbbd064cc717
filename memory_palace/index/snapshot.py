"""A consistent, read-only view of one generation. Readers never lock and never write.

``OpenedIndex`` keeps a generation open; ``check_freshness`` says how far it is behind the notes.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from memory_palace.config import SEVEN, Config, PalacePaths, Rooms
from memory_palace.errors import IndexDamagedError
from memory_palace.index.commit import (
    Commit,
    Detail,
    SegmentRef,
    check_recipe,
    read_commit,
    read_detail,
    read_languages,
)
from memory_palace.index.segment import (
    COPY,
    EVERGREEN,
    HAS_PROBLEMS,
    PRIORITIES,
    PRIVATE,
    SEPARATOR,
    SOURCES,
    STAT,
    Array,
    Fold,
    KeyCounts,
    Segment,
    chunk_record,
    fold_segments,
    note_record,
    open_segment,
)
from memory_palace.language.words import Languages
from memory_palace.models import ChunkRecord, Matrix, NoteDate, NoteRecord, Problem, Scores, Vector
from memory_palace.notes.discovery import discover_notes
from memory_palace.notes.note import stem_of

_MTIME = SOURCES.index("mtime")
_DAY_SECONDS = 86_400
_COPIED = 20
"""Least files of one day, also half of those dated by mtime, that mean a copy or checkout."""
SAMPLE = 512
"""Most rows in the sample that cosine statistics are measured on."""


def _of_rows(member: str, empty: Array) -> cached_property[Array]:
    """Return a cached property of a snapshot: a member of its segments, for every row."""
    return cached_property(
        lambda snapshot: np.concatenate([empty, *(s.arrays[member] for s in snapshot.segments)])
    )


def _of_notes(member: str) -> cached_property[Array]:
    """Return a cached property of a snapshot: a number or numbers for each note."""
    return cached_property(lambda snapshot: snapshot._column(member))


def _flag_of_notes(flag: int) -> cached_property[NDArray[np.bool_]]:
    """Return a cached property of a snapshot: whether each note has a flag."""
    return cached_property(lambda snapshot: (snapshot._column("flags") & flag) > 0)


def _texts_of_notes(member: str) -> cached_property[list[str]]:
    """Return a cached property of a snapshot: a text for each note."""
    return cached_property(lambda snapshot: snapshot._texts(member))


def _lists_of_notes(member: str) -> cached_property[list[tuple[str, ...]]]:
    """Return a cached property of a snapshot: a tuple of texts for each note."""
    return cached_property(lambda snapshot: list(map(split_list, snapshot._texts(member))))


class Snapshot:
    """Live notes and their rows. Notes are in path order; rows are those of all segments."""

    read_lines: Callable[[str], list[str]] | None = None
    """Returns the shown lines of a note by its path, if notes are not read from files."""
    list_sessions: Callable[..., list[tuple[int, str]]] | None = None
    """Lists dated talks or entries in order, if more of them pass than are at hand."""

    def __init__(self, commit: Commit, folds: Sequence[Fold], *, rooms: Rooms = SEVEN) -> None:
        self.commit = commit
        self.room_map = rooms
        self.languages = read_languages(commit.fingerprint)
        """Languages of the stemmers that made its words."""
        chance = commit.calibration
        self.null = chance.get("null_mean", NULL[0]), chance.get("null_std", NULL[1])
        """Mean and standard deviation of cosines of unrelated texts, see ``index.chance``."""
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
        """For each row the index of its note, or -1 for a dead row or a stored question."""
        owners: NDArray[np.int32] = np.where(self.row_lines[:, 0], self.row_owner, np.int32(-1))
        return owners

    @cached_property
    def question_rows(self) -> NDArray[np.int64]:
        """The live rows that are stored questions of a note, ascending."""
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
        """Whether each row is a live passage outside the cold zone."""
        hot = np.append(~self.cold, False)  # the place after the last is for dead rows
        rows: NDArray[np.bool_] = hot[self.row_note]
        return rows

    @cached_property
    def embedded_rows(self) -> NDArray[np.bool_]:
        """Whether each row is a live passage outside the cold zone with a vector."""
        return self.hot_rows if self.lacking is None else self.hot_rows & ~self.lacking

    row_lines = _of_rows("chunk_lines", np.zeros((0, 2), np.uint32))
    """First and last line of each row's passage, shape ``(rows, 2)``."""
    row_digests = _of_rows("chunk_digest", np.zeros((0, 16), np.uint8))
    """The first 16 bytes of each row's text digest."""

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
        """Return the cosine of every row with a unit vector, 0 for a row without a vector.

        Values of dead rows have no meaning. The matrix is not copied.
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
        """The sample of rows that cosine statistics are measured on."""
        return self.sample_rows(SAMPLE)

    def sample_rows(self, limit: int) -> NDArray[np.int64]:
        """Return the ``limit`` embedded rows with the smallest text digests, in digest order.

        The same notes give the same rows, whatever the order in which they were indexed.
        """
        rows = np.flatnonzero(self.embedded_rows)
        keys = np.ascontiguousarray(self.row_digests[rows]).view(">u8")[:, 0]
        if len(keys) > limit:
            least = np.argpartition(keys, limit)[:limit]
            rows, keys = rows[least], keys[least]
        return rows[np.argsort(keys, kind="stable")]

    @cached_property
    def passages(self) -> int:
        """Number of live passages outside the cold zone, of all notes of the palace."""
        return int(np.count_nonzero(self.hot_rows))

    @cached_property
    def statistics(self) -> Statistics:
        """Statistics of all notes."""
        return Statistics(self)

    titles = _texts_of_notes("titles")
    types = _texts_of_notes("types")
    """Effective type of each note."""
    aliases = _lists_of_notes("aliases")
    """The other names of each note."""
    link_targets = _lists_of_notes("targets")
    """The link targets of each note, as written, without heading and alias."""
    link_names = _lists_of_notes("link_names")
    """The names that each note gives its link targets: target, bar and name."""
    priorities = _of_notes("priority")
    """Effective priority of each note: 0 none, 1 low, 2 medium, 3 high."""
    date_sources = _of_notes("date_source")
    """The source of each note's date: a place in ``segment.SOURCES``."""
    stats = _of_notes("stat")
    """Stat figures of each note, shape ``(notes, 5)``; the columns are ``segment.STAT``."""
    note_digests = _of_notes("note_digest")
    """The first 16 bytes of each note's SHA-256."""
    days = _of_notes("days")
    """First and last day ordinal of two date spans of each note, shape ``(notes, 4)``; 0: none."""
    evergreen = _flag_of_notes(EVERGREEN)
    """Whether each note is exempt from decay."""
    private = _flag_of_notes(PRIVATE)
    """Whether each note is kept out of everything that is shown."""
    has_problems = _flag_of_notes(HAS_PROBLEMS)
    """Whether something was reported of each note when it was indexed."""

    @cached_property
    def rooms(self) -> list[str]:
        """Room of each note, empty outside the seven."""
        return [self.room_map.room_of(path) or "" for path in self.paths]

    @cached_property
    def dates(self) -> NDArray[np.float64]:
        """Time of each note, seconds since the epoch."""
        changed: Array = self.stats[:, STAT.changed_ns] / 1e9
        return np.where(self.date_sources == _MTIME, changed, self._column("date"))

    @cached_property
    def told_dates(self) -> NDArray[np.float64]:
        """``dates``, but 0 where the date is only that of a copy or checkout."""
        by_file = self.date_sources == _MTIME
        days = np.where(by_file, self.dates // _DAY_SECONDS, 0).astype(np.int64)
        least = days.min(initial=0)
        counts = np.bincount(days[by_file] - least, minlength=1)
        if counts.max() < max(_COPIED, by_file.sum() / 2):
            return self.dates
        return np.where(by_file & (days == counts.argmax() + least), 0.0, self.dates)

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
        """Notes made only of sentences of other notes, mapped to those notes, none of them cold.

        Left out if an original is missing or is not the only note with its stem.
        """
        copies = (self._column("flags") & COPY).nonzero()[0].tolist()
        if not copies:
            return {}
        places: dict[str, list[int]] = {}
        for place in (~self.cold).nonzero()[0].tolist():
            places.setdefault(stem_of(self.paths[place]), []).append(place)
        named = self._texts("originals")
        found = {
            copy: [places.get(name, []) for name in split_list(named[copy])] for copy in copies
        }
        return {
            copy: [place for (place,) in originals]
            for copy, originals in found.items()
            if all(len(each) == 1 for each in originals)
        }

    @cached_property
    def speakers(self) -> frozenset[str]:
        """Casefolded words of the names of all speakers in notes."""
        return frozenset(" ".join(self._texts("speakers")).replace(SEPARATOR, " ").split())

    @cached_property
    def are_talks(self) -> NDArray[np.bool_]:
        """Whether each note has speakers."""
        return np.array([bool(names) for names in self._texts("speakers")], np.bool_)

    @cached_property
    def shown_tags(self) -> list[tuple[str, ...]]:
        """Tags of each note as written, without ``#``; ``a/b`` is below ``a``. Private: none."""
        pairs = zip(self._texts("tags"), self.private.tolist(), strict=True)
        return [() if is_hidden else split_list(text) for text, is_hidden in pairs]

    def _locate(self, row: int) -> tuple[Segment, int]:
        number = int(np.searchsorted(self.row_starts, row, side="right")) - 1
        return self.segments[number], row - int(self.row_starts[number])

    def chunk(self, row: int) -> ChunkRecord:
        """Return the chunk record of a row."""
        segment, place = self._locate(row)
        path = self.paths[int(self.row_owner[row])]
        lines, digest = self.row_lines[row], bytes(self.row_digests[row])
        return chunk_record(segment.chunk_line(place), path, lines, digest)

    def row_keys(self, row: int) -> tuple[KeyCounts, ...]:
        """Return the keys and counts of a row, for each of ``segment.FIELDS``."""
        segment, place = self._locate(row)
        return tuple(keys[place] for keys in segment.row_keys)

    def note(self, index: int) -> NoteRecord:
        """Return the record of a note."""
        position = int(self._order[index])
        for fold in self._folds:
            if position < len(fold.paths):
                break
            position -= len(fold.paths)
        segment, place = fold.locate(int(fold.winners[position]))
        return note_record(
            segment.read_line("note", place),
            path=self.paths[index],
            title=self.titles[index],
            type=self.types[index],
            priority=PRIORITIES[int(self.priorities[index])] or None,
            date=NoteDate(float(self.dates[index]), SOURCES[int(self.date_sources[index])]),
            is_evergreen=bool(self.evergreen[index]),
            is_cold=segment.is_cold,
        )

    def _column(self, name: str) -> Array:
        columns = [fold.column(name) for fold in self._folds if fold.paths]
        if not columns:
            shape = {"stat": (0, 5), "note_digest": (0, 16), "days": (0, 4)}.get(name, 0)
            return np.zeros(shape, np.int64)
        column: Array = np.concatenate(columns)[self._order]
        return column

    def _texts(self, name: str) -> list[str]:
        texts = [text for fold in self._folds for text in fold.texts(name)]
        return [texts[i] for i in self._order.tolist()]


def split_list(text: str) -> tuple[str, ...]:
    """Return the values joined by ``SEPARATOR`` in one cell, such as a note's tags."""
    return tuple(text.split(SEPARATOR)) if text else ()


_QUANTUM = 10_000
"""Scores are rounded to this fraction: sums of whole numbers do not depend on the order of rows."""
NULL = (0.05, 0.1)
"""Default mean and standard deviation of the null: cosines of unrelated texts."""
PRIOR = 4
"""Unrelated pseudo-passages that are added to those of a palace: without them the only passage,
equal passages, or a word that all passages hold would not stand above the mean. On LoCoMo dev and
SciFact 1 to 8 rank alike."""


class Spread(NamedTuple):
    """Mean and deviation of the scores of a collection."""

    mean: float
    deviation: float
    best: float
    """The highest score, rows that are not counted included."""


def find_spread(scores: NDArray[np.float64], *, count: int, best: float) -> Spread | None:
    """Return the spread of ``count`` scores and ``PRIOR`` zeros; ``None`` if all scores are 0.

    ``scores`` may leave out zeros, which ``count`` includes.
    """
    whole = np.rint(scores * _QUANTUM).astype(np.int64)
    if not whole.any():
        return None
    count += PRIOR
    total, squares = int(whole.sum()), float((whole.astype(np.float64) ** 2).sum())
    mean = total / count
    deviation = max(squares / count - mean * mean, 0.0) ** 0.5
    return Spread(mean / _QUANTUM, max(deviation, 1.0) / _QUANTUM, best)


_Rows: TypeAlias = NDArray[np.int64]
_Mask: TypeAlias = NDArray[np.bool_]
Figure = Literal["words_length", "notes", "note_length", "most_held"]
"""Mean number of words of a passage; number of notes with text, and their mean number of words;
largest idf-weighted share of a question's words in one note. The first three leave out cold
notes."""


class Statistics:
    """Statistics of all notes, given those of the loaded notes.

    Here all notes are loaded, and the given values are returned. A palace that loads only chosen
    notes overrides this with statistics of all, looked up by name.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot

    def figure(self, name: Figure, found: float) -> float:
        """Return a figure of all notes; ``found`` is that of the loaded ones."""
        return found

    def frequency(self, field: str, parts: tuple[str, ...], rows: _Rows) -> int:
        """Return the number of passages outside the cold zone with a term or fact."""
        return int(np.count_nonzero(self._snapshot.hot_rows[rows]))

    def note_frequency(self, term: str, found: int) -> int:
        """Return the number of notes outside the cold zone with a word in a passage."""
        return found

    def holds(self, field: str, parts: tuple[str, ...], rows: _Rows) -> bool:
        """Whether any live passage holds a term, in the cold zone too if that is open."""
        return len(rows) > 0

    def spread(self, name: str, scores: NDArray[np.float64], *counted: _Mask) -> Spread | None:
        """Return the spread of scores over the first of the masks that has one above 0.

        ``name`` is that of the signal, or ``words`` for BM25 of passages and ``note_words`` for
        BM25 of notes.
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


class OpenedIndex:
    """The committed generation; its segments stay open while later generations have them."""

    def __init__(self, paths: PalacePaths, languages: Languages = ()) -> None:
        """``languages`` are those of the settings; an index for others is refused."""
        self._paths, self._languages = paths, languages
        self._snapshots: dict[bool, Snapshot] = {}
        self._segments: dict[SegmentRef, tuple[_Stamp, Segment]] = {}

    def snapshot(self, *, include_cold: bool = False) -> Snapshot:
        """Return the committed snapshot, reopened only if the record or a segment changed."""
        held, folder = self._snapshots.get(include_cold), self._paths.index
        if (
            held is None
            or held.commit != read_commit(self._paths.commit)
            or any(_stamp(folder, ref) != stamp for ref, (stamp, _) in self._segments.items())
        ):
            held = open_snapshot(self._paths, include_cold=include_cold, opener=self._open)
            check_recipe(held.commit, self._languages)
            kept = set(held.commit.segments)
            self._segments = {ref: opened for ref, opened in self._segments.items() if ref in kept}
            self._snapshots = {
                is_cold: snapshot
                for is_cold, snapshot in self._snapshots.items()
                if snapshot.commit == held.commit
            } | {include_cold: held}
        return held

    def _open(self, folder: Path, ref: SegmentRef) -> Segment:
        stamp = _stamp(folder, ref)
        before = self._segments.get(ref)
        if before is not None and before[0] == stamp:
            return before[1]
        self._segments.pop(ref, None)
        segment = open_segment(folder, ref)
        self._segments[ref] = stamp, segment
        return segment


_Stamp: TypeAlias = tuple[tuple[int, ...], ...]


def _stamp(folder: Path, ref: SegmentRef) -> _Stamp:
    """Return inode, size and mtime of the files of a segment; empty if one is missing."""
    with suppress(FileNotFoundError):
        found = [os.stat(f"{folder}/{ref.name}{kind}") for kind in (".npz", ".jsonl")]  # noqa: PTH116
        return tuple((s.st_ino, s.st_size, s.st_mtime_ns) for s in found)
    return ()


def open_snapshot(
    paths: PalacePaths, *, include_cold: bool = False, opener: Callable[..., Segment] = open_segment
) -> Snapshot:
    """Open the committed generation.

    A writer may commit and sweep between the reading of the record and the opening of its segments.
    Then the record is read again; ``IndexDamagedError`` is raised if it is still the same.
    """
    commit = read_commit(paths.commit)
    while True:
        try:
            folds = [
                fold_segments(
                    [opener(paths.index, ref) for ref in commit.segments if ref.is_cold == is_cold]
                )
                for is_cold in ((False, True) if include_cold else (False,))
            ]
        except IndexDamagedError:
            again = read_commit(paths.commit)
            if again == commit:
                raise
            commit = again
        else:
            return Snapshot(commit, folds, rooms=paths.rooms)


FreshnessState: TypeAlias = Literal["current", "stale", "unchecked"]
MOST_ENTRIES = 10_000
"""Most files and folders a query scans; with more of them freshness is ``unchecked``."""


@dataclass(frozen=True, slots=True)
class Freshness:
    """The result of a scan, compared with a snapshot."""

    state: FreshnessState
    behind: int = 0
    """Notes that are new, changed or gone."""
    left_out: tuple[str, ...] = ()
    """What is left out by default, by path; folders end with a slash."""
    problems: tuple[Problem, ...] = ()
    """Files and folders that could not be read, or are not followed."""
    folders: tuple[str, ...] | None = ()
    """See ``Discovery.folders``."""


def check_freshness(
    paths: PalacePaths,
    config: Config,
    snapshot: Snapshot,
    *,
    most_entries: int | None = MOST_ENTRIES,
) -> Freshness:
    """Compare stat figures of the notes in the snapshot's zones; no note is opened.

    Cold notes are compared only if the snapshot has some. With more than ``most_entries`` files and
    folders nothing is compared: the state is ``unchecked``.
    """
    found = discover_notes(paths, ignore=config.ignore, most_entries=most_entries)
    if not found.is_complete:
        return Freshness("unchecked", problems=found.problems, folders=found.folders)
    stats = snapshot.stats[:, : STAT.changed_ns].tolist()
    known = dict(zip(snapshot.paths, stats, strict=True))
    has_cold = bool(snapshot.cold.any())
    problems = list(found.problems)
    behind = 0
    for file in found.files:
        if file.is_cold and not has_cold:
            continue
        if known.pop(file.path, None) != list(file.stat):
            behind += 1
            if not os.access(paths.file_of(file.path), os.R_OK):
                message = "cannot be read; check who may read it"
                problems.append(Problem(file.path, None, "unreadable", message, is_failure=True))
    behind += sum(not found.may_hold(path) for path in known)
    state: FreshnessState = "stale" if behind else "current"
    return Freshness(state, behind, found.left_out, tuple(problems), found.folders)
