"""Prove that what a store holds is what the index of the notes says, and agrees with itself."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from psycopg import Connection

from memory_palace.errors import IndexDamagedError, IndexMissingError
from memory_palace.features.store.generation import Generation, damaged, read_generation
from memory_palace.features.store.lists import (
    BLOCK_NOTES,
    NO_TERMS,
    Terms,
    list_terms,
    pack_lists,
    unpack_lists,
)
from memory_palace.features.store.notes import (
    FIGURES,
    NOTE_COLUMNS,
    pack_note,
    read_text,
    unpack_note,
)
from memory_palace.features.store.statements import Statements
from memory_palace.features.store.writing import passage_values, take_sample
from memory_palace.index.arrays import same_keys
from memory_palace.index.doctor import Finding
from memory_palace.index.store import IndexFiles, StoredNote, mark_chunks, settle, stamp
from memory_palace.index.values import Progress

CHECKING_NOTES = "comparing notes"
NOTES_AT_A_TIME = 256
_Columns = tuple[Any, ...]


class StoredIndex:
    """The generation that a store has of a palace; all that is read of it is of one moment."""

    def __init__(self, connection: Connection, palace: int) -> None:
        """Begin a transaction, which whoever owns the connection ends."""
        connection.rollback()
        connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        self.statements = Statements(connection, palace)
        found = read_generation(self.statements)
        if found is None:
            raise IndexMissingError(
                "nothing was pushed to this palace of the store; run `palace index --store URL`"
            )
        self.generation: Generation = found

    def list_notes(self) -> list[tuple[int, str, bytes]]:
        """Return number, path and stamp of every note, by number."""
        rows = self.statements.ask(
            "SELECT id, path, stamp FROM note WHERE palace = %(palace)s ORDER BY id"
        )
        return [(number, path, stamp) for number, path, stamp in rows]

    def list_stamps(self) -> Mapping[str, bytes]:
        """Return the stamp of every note, by path."""
        return {path: stamp for _, path, stamp in self.list_notes()}

    def fetch(self, notes: Sequence[int]) -> list[_Columns]:
        """Return the values of ``NOTE_COLUMNS`` of some notes as they stand, by number."""
        return self.statements.ask(
            f"SELECT {', '.join(NOTE_COLUMNS)} FROM note"
            " WHERE palace = %(palace)s AND id = ANY(%(notes)s) ORDER BY id",
            notes=list(notes),
        )

    def decode(self, columns: _Columns) -> StoredNote:
        """Return what columns say; raise ``IndexDamagedError`` where they say nothing."""
        note = dict(zip(NOTE_COLUMNS, columns, strict=True))
        dimension, path = self.generation.commit.dimension, note["path"]
        row = unpack_note(path, note["record"], note["keys"], note["vectors"], dimension)
        if len(note["figures"]) != FIGURES.itemsize:
            raise damaged(f"the figures of {path}")
        is_cold = bool(np.frombuffer(note["figures"], FIGURES)["is_cold"][0])
        return StoredNote(row, is_cold, read_text(note["text"], path))


def verify_store(
    store: StoredIndex,
    source: IndexFiles | None,
    progress: Progress = lambda doing, done, total: None,
) -> list[Finding]:
    """Return what disagrees: within the store, and with the index of the notes where it is given.

    Raise ``NotesFailedError`` where a note has changed since that index was built.
    """
    notes = store.list_notes()
    differing = dict(compare_stamps(store.list_stamps(), source)) if source else {}
    found = [Finding("note", path, f"is {kind}") for path, kind in differing.items()]
    blocks: dict[int, list[tuple[int, str]]] = defaultdict(list)
    for number, path, _ in notes:
        blocks[number // BLOCK_NOTES].append((number, path))
    counted = np.zeros(3, np.int64)
    for block, own in blocks.items():
        terms = [NO_TERMS]
        for start in range(0, len(own), NOTES_AT_A_TIME):
            chosen = own[start : start + NOTES_AT_A_TIME]
            same = {path for _, path in chosen if path not in differing}
            ours = {note.row.path: note for note in source.read_notes(same)} if source else {}
            checked = _Notes(store, [number for number, _ in chosen], ours)
            found += checked.check()
            counted += checked.counted
            terms.append(checked.terms)
            progress(CHECKING_NOTES, int(counted[0]), len(notes))
        found += _check_lists(store, block, np.concatenate(terms))
    return [
        *found,
        *_check_whole(store, None if differing else source, counted),
        *_find_orphans(store, [*blocks]),
    ]


class _Notes:
    """Some notes as they stand in the tables."""

    def __init__(
        self, store: StoredIndex, numbers: Sequence[int], ours: Mapping[str, StoredNote]
    ) -> None:
        self._store, self._ours = store, ours
        self._columns = store.fetch(numbers)
        self._passages: dict[int, list[_Columns]] = defaultdict(list)
        for number, *passage in store.statements.ask(
            "SELECT note, place, digest, vector FROM passage"
            " WHERE palace = %(palace)s AND note = ANY(%(notes)s) ORDER BY note, place",
            notes=list(numbers),
        ):
            self._passages[number].append(_comparable(*passage))
        self.terms: Terms = NO_TERMS
        """What the posting lists have to hold of them."""
        self.counted = np.zeros(3, np.int64)
        """Notes, passages outside the cold zone without questions, and all rows."""

    def check(self) -> Iterator[Finding]:
        """Yield what does not follow from the records, or is not as in the index of the notes."""
        read = []
        for columns in self._columns:
            self.counted[0] += 1
            number, path = columns[:2]
            try:
                note = self._store.decode(columns)
            except IndexDamagedError as error:
                yield Finding("note", path, str(error).partition(":")[0])
                continue
            read.append((number, note.row))
            own = sum(chunk.first_line > 0 for chunk in note.row.chunks)
            self.counted += (0, 0 if note.is_cold else own, len(note.row.chunks))
            yield from (Finding("note", path, what) for what in self._check_note(columns, note))
        self.terms = list_terms(read)

    def _check_note(self, columns: _Columns, note: StoredNote) -> Iterator[str]:
        fingerprint, chunks = self._store.generation.commit.fingerprint, note.row.chunks
        marks = mark_chunks(chunks)
        made = stamp(note.row, marks, is_cold=note.is_cold, fingerprint=fingerprint)
        for name, there, right in zip(
            NOTE_COLUMNS, columns, pack_note(columns[0], note, made), strict=True
        ):
            if there != right:
                yield f"has another {name} than its record says"
        rows = [_comparable(*values) for _, *values in passage_values(columns[0], note)]
        if self._passages[columns[0]] != rows:
            yield "has other passages than its record says"
        ours = self._ours.get(note.row.path)
        if ours is not None and not _is_same(note, ours):
            yield "is not what the index of the notes has of it"


def _comparable(place: int, digest: bytes, vector: Any) -> _Columns:
    return place, digest, None if vector is None else vector.to_list()


def compare_stamps(stamps: Mapping[str, bytes], source: IndexFiles) -> Iterator[tuple[str, str]]:
    """Yield each note that differs between a store and an index, and how it stands there."""
    ours = source.list_stamps()
    for path in sorted(stamps.keys() | ours.keys()):
        if path not in stamps:
            yield path, "not in the store"
        elif path not in ours:
            yield path, "in the store alone"
        elif stamps[path] != ours[path]:
            yield path, "another there"


def _is_same(stored: StoredNote, own: StoredNote) -> bool:
    """Compare everything, vectors and words included."""
    first, second = settle(stored.row), settle(own.row)
    return (
        (stored.is_cold, stored.text) == (own.is_cold, own.text)
        and np.array_equal(first.vectors, second.vectors)
        and len(first.chunks) == len(second.chunks)
        and all(
            same_keys(one.keys, other.keys) and (one.line, one.digest) == (other.line, other.digest)
            for one, other in zip(first.chunks, second.chunks, strict=True)
        )
    )


def _check_lists(store: StoredIndex, block: int, terms: Terms) -> Iterator[Finding]:
    """Yield where the posting lists of a block are not those of its notes."""
    held = store.statements.ask(
        "SELECT field, block, key, data FROM posting WHERE palace = %(palace)s AND block = %(one)s",
        one=block,
    )
    try:
        unpack_lists(held)
    except IndexDamagedError:
        yield Finding("postings", f"block {block}", "has lists nobody can read")
        return
    if set(held) != set(pack_lists(terms)):
        message = "does not hold the words, names and links of its notes"
        yield Finding("postings", f"block {block}", message)


def _check_whole(store: StoredIndex, source: IndexFiles | None, counted: Any) -> Iterator[Finding]:
    made = store.generation
    if [made.notes, made.passages, made.rows] != counted.tolist():
        yield Finding("statistics", "generation", "do not count what the store holds")
    ((sample, last),) = store.statements.ask(
        "SELECT sample, (SELECT max(id) FROM note WHERE palace = %(palace)s) FROM generation"
        " WHERE palace = %(palace)s"
    )
    if source and sample != take_sample(source):
        yield Finding("statistics", "generation", "has another sample of vectors")
    if made.next_note < (last or 0):
        yield Finding("statistics", "generation", "would give the number of a note again")


def _find_orphans(store: StoredIndex, blocks: Collection[int]) -> Iterator[Finding]:
    """Yield passages and posting lists of notes that are not there."""
    ask = store.statements.ask
    for note, count in ask(
        "SELECT note, count(*) FROM passage AS t WHERE palace = %(palace)s AND NOT EXISTS"
        " (SELECT FROM note WHERE palace = %(palace)s AND id = t.note)"
        " GROUP BY note ORDER BY note"
    ):
        yield Finding("row", "passage", f"{count} are of note {note}, which is not there")
    for (block,) in ask(
        "SELECT DISTINCT block FROM posting WHERE palace = %(palace)s AND block <> ALL(%(known)s)",
        known=list(blocks),
    ):
        yield Finding("postings", f"block {block}", "holds lists and is no block")
