"""The notes that may answer, from a store into a snapshot in memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from enum import IntEnum
from hashlib import md5
from pathlib import Path
from typing import Any, NamedTuple
from unicodedata import normalize

import numpy as np
from numpy.typing import NDArray

from memory_palace.config import SEVEN, Rooms
from memory_palace.features.store.collection import PostedStatistics
from memory_palace.features.store.generation import Generation
from memory_palace.features.store.naming import NameKind, split_list
from memory_palace.features.store.records import read_chunk, read_matrix, read_note_row, read_text
from memory_palace.features.store.statements import Statements
from memory_palace.graph.near import NearLinks, list_ends, read_link
from memory_palace.graph.resolve import fold_name, join_labels
from memory_palace.index.commit import Commit
from memory_palace.index.fold import fold_segments
from memory_palace.index.segment import COPY, ChunkRow, NoteRow, Segment, list_members
from memory_palace.index.snapshot import Origin, Snapshot, Statistics, find_copies
from memory_palace.language.tokens import squeeze_all
from memory_palace.models import Matrix, Scores, Vector
from memory_palace.retrieval.question import LINKED, LOOSE, SHORTEST, is_mistyped


class Likeness(IntEnum):
    """How a name is like what is asked."""

    SAME = 0
    LOOSE = 1
    """Letters and digits alone are the same."""
    NEAR = 2
    """Half of it is the same, and it is about as long."""
    LINKED = 3
    """It is what links of other notes call it."""


class CalledNote(NamedTuple):
    """A note that a question may name."""

    number: int
    path: str
    is_cold: bool
    likeness: Likeness
    value: float
    """What the name counts, see ``retrieval.question``."""
    name: str

    def weigh(self, loose: str, mistyped: float) -> float:
        """Return how surely it is named; ``mistyped`` is for a name that is one letter away."""
        if self.likeness == Likeness.NEAR:
            is_near = self.name != loose and is_mistyped(loose, self.name)
            return self.value * mistyped if is_near else 0.0
        return self.value * {Likeness.LOOSE: LOOSE}.get(self.likeness, 1.0)


_OWN = f"name WHERE palace = %(palace)s AND kind = {NameKind.CALLED:d}"
_CALLED = f"""
WITH found AS MATERIALIZED (
    SELECT note, {Likeness.SAME:d} AS likeness, value, loose FROM {_OWN} AND folded = %(asked)s
    UNION ALL SELECT note, {Likeness.LOOSE:d}, value, loose FROM {_OWN}
        AND loose = %(loose)s AND loose <> ''
    UNION ALL SELECT note, {Likeness.NEAR:d}, value, loose FROM {_OWN}
        AND loose BETWEEN %(first)s AND %(first_end)s AND char_length(loose) = ANY(%(sizes)s)
    UNION ALL SELECT note, {Likeness.NEAR:d}, value, loose FROM {_OWN}
        AND backwards BETWEEN %(last)s AND %(last_end)s AND char_length(loose) = ANY(%(sizes)s)
    UNION ALL SELECT note, {Likeness.LINKED:d}, {LINKED}, '' FROM name
        WHERE palace = %(palace)s AND kind = {NameKind.LEAF:d}
        AND folded = ANY(ARRAY(SELECT split_part(target, '/', -1) FROM name
            WHERE palace = %(palace)s AND kind = {NameKind.LINKED:d} AND folded = %(asked)s))
) SELECT n.id, n.path, n.is_cold, likeness, value, found.loose
FROM found JOIN note AS n ON n.id = found.note
WHERE n.palace = %(palace)s AND n.id = ANY(ARRAY(SELECT note FROM found))
"""
"""Of two names that differ in one letter, the first halves are the same or the last ones. Arrays
are made once, whatever the planner makes of tables that it has not counted yet."""
_LAST = "\U0010ffff"


def find_called(statements: Statements, asked: str, loose: str) -> list[CalledNote]:
    """Return the notes that may be called ``asked``, given its letters and digits alone as well."""
    half = max(len(loose) // 2 - 1, 0)
    first, last = loose[:half], loose[len(loose) - half :][::-1]
    found = statements.ask(
        _CALLED,
        # What UTF-8 or PostgreSQL has no text for is in no name.
        asked=asked.encode(errors="backslashreplace").decode().replace("\0", "\\0"),
        loose=loose,
        sizes=[len(loose) + n for n in (-1, 0, 1)] if len(loose) >= SHORTEST else [],
        first=first,
        first_end=first + _LAST,
        last=last,
        last_end=last + _LAST,
    )
    # Values are of single precision there.
    return [CalledNote._make((*row[:4], round(row[4], 6), row[5])) for row in found]


class ChosenSnapshot(Snapshot):
    """Some notes of many. Who chose them has applied the filters, and left out copies."""

    def __init__(
        self, commit: Commit, zones: Sequence[Segment], origin: Origin, *, rooms: Rooms = SEVEN
    ) -> None:
        super().__init__(commit, [fold_segments([zone]) for zone in zones], rooms=rooms)
        self.origin = self._origin = origin
        self.copies = {}

    @property
    def statistics(self) -> Statistics:
        """Figures of all notes."""
        return self._origin.statistics

    def similarities(self, vector: Vector) -> Scores:
        """Return the cosine of every row with a unit vector."""
        return self._origin.compare(vector).astype(np.float32)

    def cosines_of(self, rows: NDArray[np.int64], vector: Vector) -> NDArray[np.float64]:
        """Return the cosines of some rows with a unit vector."""
        return self._origin.compare(vector)[rows]

    def rows_of(self, rows: NDArray[np.int64]) -> Matrix:
        """Return the unit vectors of some rows."""
        return self._origin.vectors(rows)


def gather(
    commit: Commit,
    hot: Sequence[NoteRow],
    cold: Sequence[NoteRow],
    origin: Origin,
    *,
    rooms: Rooms = SEVEN,
) -> ChosenSnapshot:
    """Return a snapshot of note records, each with all of its rows; their vectors are not read.

    Its rows are those of the hot notes in the order given, then those of the cold ones.
    """
    zones = [_hold(zone, commit, is_cold=place > 0) for place, zone in enumerate((hot, cold))]
    return ChosenSnapshot(commit, zones, origin, rooms=rooms)


def _hold(notes: Sequence[NoteRow], commit: Commit, *, is_cold: bool) -> Segment:
    """Make a segment in memory."""
    bare = [replace(n, vectors=np.zeros((len(n.chunks), 0), np.float32)) for n in notes]
    members, lines = list_members(bare, fingerprint=commit.fingerprint, dimension=0)
    arrays = {name: np.concatenate(parts) for name, parts in members.items()}
    return Segment(Path("chosen.jsonl"), arrays, lines, is_cold=is_cold)


_NOTE = "id path is_cold title type room priority days flags line record".split()
_CHUNK = "note id first_line last_line digest described_digest line keys vector described".split()
_OF_NAMES = (
    "palace = %(palace)s AND id = ANY(ARRAY(SELECT note FROM name"
    " WHERE palace = %(palace)s AND kind = %(kind)s AND folded = ANY(%(names)s)))"
)
"""An array is made once, whatever the planner makes of tables that it has not counted yet."""


KEPT_ROWS = 10_000
"""So many rows of notes that were read stay for the next question, some 80 MB of them."""


class FetchedNote(NamedTuple):
    """A note with its rows, as long as the generation lasts."""

    row: NoteRow
    is_cold: bool
    room: str
    vectors: tuple[list[Any], list[Any]]
    """Of passages, and of what describes them."""


class Fetched:
    """Notes of a store with all of their rows, and what is known of the others."""

    def __init__(
        self,
        statements: Statements,
        generation: Generation,
        collection: PostedStatistics,
        allowed: NDArray[np.int32] | None,
    ) -> None:
        """Take no notes yet; ``allowed`` pass the filters, ``None`` where there are none."""
        self._statements, self._generation = statements, generation
        self.statistics, self._allowed = collection, allowed
        self._read: dict[int, FetchedNote] = collection.snapshot.read
        if sum(len(note.row.chunks) for note in self._read.values()) > KEPT_ROWS:
            self._read.clear()
        self._rows: dict[int, FetchedNote] = {}
        self._order: list[int] = []
        self._gathered: ChosenSnapshot | None = None
        self._vectors: Matrix | None = None
        self._cosines: dict[bytes, NDArray[np.float64]] = {}
        self._linked: dict[tuple[str, ...], Mapping[str, Sequence[Sequence[str]]]] = {}
        self._names: dict[tuple[str, str], list[CalledNote]] = {}
        self._lines: dict[str, list[str]] = {}

    def add(self, notes: Iterable[int]) -> None:
        """Read notes by their numbers, those aside that are here."""
        wanted = sorted(set(notes) - self._rows.keys())
        if not wanted:
            return
        self._gathered = None
        self._take([number for number in wanted if number not in self._read])
        self._rows |= {number: self._read[number] for number in wanted if number in self._read}

    def _take(self, wanted: Sequence[int]) -> None:
        if not wanted:
            return
        found = self._statements.ask(
            f"SELECT {', '.join(_NOTE)} FROM note"
            " WHERE palace = %(palace)s AND id = ANY(%(notes)s)",
            notes=wanted,
        )
        chunks: dict[int, list[tuple[ChunkRow, Any, Any]]] = {}
        rows = self._statements.connection.execute(
            f"SELECT {', '.join(_CHUNK)} FROM passage"
            " WHERE palace = %(palace)s AND note = ANY(%(notes)s) ORDER BY note, place",
            {"palace": self._statements.palace, "notes": wanted},
            binary=True,  # text takes vectors ten times as long
        )
        for values in rows:
            row = dict(zip(_CHUNK, values, strict=True))
            each = read_chunk(row), row["vector"], row["described"]
            chunks.setdefault(row["note"], []).append(each)
        for values in found:
            columns = dict(zip(_NOTE, values, strict=True))
            own = chunks.get(columns["id"], [])
            note = read_note_row(columns["path"], columns, [chunk for chunk, _, _ in own])
            vectors = [each[1] for each in own], [each[2] for each in own]
            self._read[columns["id"]] = FetchedNote(
                note, columns["is_cold"], columns["room"], vectors
            )

    def snapshot(self) -> ChosenSnapshot:
        """Return what is here as a snapshot, copies of notes that are here left out."""
        if self._gathered is None:
            self._gathered = self._gather()
        return self._gathered

    def widen(self, paths: Iterable[str]) -> ChosenSnapshot:
        """Return the same with what links to some notes or is linked from them."""
        linked = self.neighbors_of(paths)
        self.add(self.numbers_of({path for near in linked.values() for s in near for path in s}))
        return self.snapshot()

    def _gather(self) -> ChosenSnapshot:
        copies = self._find_copies()
        self._vectors, self._cosines = None, {}
        kept = [number for number in self._rows if number not in copies]
        zones = [[n for n in kept if self._rows[n].is_cold is is_cold] for is_cold in (False, True)]
        self._order = [number for zone in zones for number in zone]
        hot, cold = ([self._rows[number].row for number in zone] for zone in zones)
        rooms = {
            normalize("NFC", note.row.path.rpartition("/")[0]): note.room
            for note in self._rows.values()
            if note.room
        }
        return gather(self._generation.commit, hot, cold, self, rooms=Rooms(rooms))

    def _find_copies(self) -> set[int]:
        named = {
            number: split_list(note.originals)
            for number, (note, *_) in self._rows.items()
            if note.flags & COPY and note.originals
        }
        stems = [stem for names in named.values() for stem in names]
        if not stems:
            return set()
        known = self._statements.ask(
            f"SELECT id, path FROM note WHERE {_OF_NAMES} AND NOT is_cold",
            kind=int(NameKind.STEM),
            names=stems,
        )
        found = find_copies(named, dict(known))
        return {copy for copy, originals in found.items() if self._are_allowed(originals)}

    def _are_allowed(self, notes: Sequence[int]) -> bool:
        return self._allowed is None or bool(np.isin(notes, self._allowed).all())

    def compare(self, vector: Vector) -> NDArray[np.float64]:
        """Return the cosine of a unit vector with every row here."""
        key = vector.tobytes()
        if key not in self._cosines:
            self._cosines[key] = compare(self._matrix(), vector)
        return self._cosines[key]

    def vectors(self, rows: NDArray[np.int64]) -> Matrix:
        """Return the unit vectors of a few rows."""
        found: Matrix = self._matrix()[rows]
        return found

    def _matrix(self) -> Matrix:
        if self._vectors is None:
            rows = [self._rows[number].vectors[0] for number in self._order]
            every = [vector for vectors in rows for vector in vectors]
            self._vectors = read_matrix(every, self._generation.dimensions[0])
        return self._vectors

    def called(self, asked: str, loose: str, mistyped: float) -> Iterator[tuple[str, float]]:
        """Yield the paths that a question may name, and what that counts."""
        for note in self._called(asked, loose):
            if value := note.weigh(loose, mistyped):
                yield note.path, value

    def _called(self, asked: str, loose: str) -> list[CalledNote]:
        if (asked, loose) not in self._names:
            self._names[asked, loose] = find_called(self._statements, asked, loose)
        return self._names[asked, loose]

    def neighbors_of(self, paths: Iterable[str]) -> Mapping[str, Sequence[Sequence[str]]]:
        """Return what notes link to and what links to them."""
        asked = tuple(paths)
        if asked not in self._linked:
            self._linked[asked] = self._find_neighbors(asked)
        return self._linked[asked]

    def _find_neighbors(self, asked: Sequence[str]) -> Mapping[str, Sequence[Sequence[str]]]:
        nodes = {
            note.path: _read_names(note.aliases, note.title, note.targets, note.link_names)
            for note, is_cold, *_ in self._rows.values()
            if note.path in asked and not is_cold
        }
        own = dict(nodes)
        called = [name for path, (aliases, _) in own.items() for name in (path, *aliases)]
        ends = sorted(set(list_ends(called)))
        nodes |= self._nodes(
            "id = ANY(ARRAY(SELECT note FROM link"
            " WHERE palace = %(palace)s AND ending = ANY(%(ends)s)))",
            ends=ends,
        )
        links = [
            (path, target)
            for path, (_, targets) in nodes.items()
            for target in targets
            if path in own or not set(ends).isdisjoint(list_ends([*read_link(target, path)]))
        ]
        meant = set(list_ends([r for path, target in links for r in read_link(target, path)]))
        nodes |= self._nodes(_OF_NAMES, kind=int(NameKind.ENDING), names=sorted(meant))
        order = sorted(nodes)
        near = NearLinks(order, [nodes[p][0] for p in order], [nodes[p][1] for p in order])
        return near.neighbors_of(asked)

    def _nodes(self, where: str, **values: Any) -> dict[str, tuple[list[str], list[str]]]:
        found = self._statements.ask(
            "SELECT path, record->>'aliases', title, record->>'targets',"
            " record->>'link_names' FROM note"
            f" WHERE palace = %(palace)s AND NOT is_cold AND {where}",
            **values,
        )
        return {path: _read_names(*texts) for path, *texts in found}

    def numbers_of(self, paths: Iterable[str], *, include_cold: bool = False) -> list[int]:
        """Return the numbers of notes by their paths."""
        found = self._statements.ask(
            "SELECT id FROM note WHERE palace = %(palace)s AND (%(cold)s OR NOT is_cold)"
            " AND md5(path) = ANY(%(digests)s)",
            digests=[md5(path.encode(), usedforsecurity=False).hexdigest() for path in paths],
            cold=include_cold,
        )
        return [number for (number,) in found]

    def find_called(self, text: str, *, include_cold: bool) -> set[int]:
        """Return the notes that a question may name, if they pass the filters."""
        loose = squeeze_all([text])[0]
        return {
            note.number
            for note in self._called(fold_name(text), loose)
            if (include_cold or not note.is_cold)
            and note.weigh(loose, 1.0)
            and self._are_allowed([note.number])
        }

    def disputes(self) -> Mapping[str, tuple[str, ...]]:
        """Return the open conflicts of every note that is party to one."""
        return self.statistics.snapshot.disputes

    def prepare(self, paths: Iterable[str]) -> None:
        """Read the lines of notes that are here and will be asked for."""
        numbers = {note.path: number for number, (note, *_) in self._rows.items()}
        wanted = {numbers[path]: path for path in paths if path not in self._lines}
        found = self._statements.ask(
            "SELECT id, text FROM note WHERE palace = %(palace)s AND id = ANY(%(notes)s)",
            notes=[*wanted],
        )
        for number, text in found:
            self._lines[wanted[number]] = read_text(text, wanted[number]).split("\n")

    def lines(self, path: str) -> Sequence[str]:
        """Return the lines of a note as they may be shown."""
        if path not in self._lines:
            self.prepare([path])
        return self._lines.get(path, [])


def _read_names(
    aliases: str, title: str, targets: str, link_names: str
) -> tuple[list[str], list[str]]:
    """Return what a note is called, and what it links to, with the labels."""
    links = join_labels(split_list(targets), split_list(link_names))
    return [*split_list(aliases), title], links


def compare(matrix: Matrix, vector: Vector) -> NDArray[np.float64]:
    """Return the cosine of each row with a vector, in double precision, as files do."""
    if not matrix.shape[1]:
        return np.zeros(len(matrix))
    cosines: NDArray[np.float64] = np.einsum("ij,j->i", matrix, vector, dtype=np.float64)
    return cosines
