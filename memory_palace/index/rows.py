"""Turn files into rows: read, cut into passages, derive facts, look up or make vectors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np

from memory_palace.config import Config
from memory_palace.embedding.registry import Embedder
from memory_palace.index.commit import read_detail
from memory_palace.index.diff import Listing
from memory_palace.index.segment import (
    CONTENT,
    COPY,
    EVERGREEN,
    HAS_PROBLEMS,
    PRIORITIES,
    PRIVATE,
    SEPARATOR,
    Array,
    Segment,
    fact_term,
    map_arrays,
)
from memory_palace.index.values import EMBEDDING, READING, BuildContext, Derived
from memory_palace.index.writing import (
    DIGEST_BYTES,
    LARGE_ROWS,
    NO_DAYS,
    ChunkRow,
    NoteRow,
    chunk_line,
    count_keys,
    note_line,
    write_vectors,
)
from memory_palace.models import FileStat, Matrix, Problem, Vector
from memory_palace.notes.discovery import SourceFile
from memory_palace.notes.note import Chunk, Note, NoteUnreadable, read_note
from memory_palace.storage import is_named_by_content

AT_ONCE = 64
"""Texts that a build embeds before its first commit; with more, words are published first."""
_SLICE = 32
"""Texts embedded at a time, after smaller first batches: 512 are no faster (21 CPU s for 256)."""
_Draft: TypeAlias = tuple[NoteRow, dict[bytes, str]]
"""A row without its vectors, and its texts to embed, by digest."""


class Batch(NamedTuple):
    """Records of one segment."""

    rows: list[NoteRow]
    vectors: tuple[str, ...] = ()
    """Files with vectors of these rows, if the rows have none."""


class RowMaker:
    """Makes content rows for files, one batch of at most ``LARGE_ROWS`` chunks at a time."""

    def __init__(
        self,
        context: BuildContext,
        listing: Listing,
        known: KnownVectors,
        changed_ns: Callable[[SourceFile], int | None],
        *,
        may_wait: bool = False,
    ) -> None:
        """``may_wait``: a batch is left without vectors if many are to be made."""
        self._context, self._listing, self._changed_ns = context, listing, changed_ns
        self._may_wait, self._waits = may_wait, False
        self._known, self.vectors = known, VectorMaker(context)
        self.notes, self._done = 0, 0
        """Notes to be read and notes read, for the progress."""
        self.unmade, self.reused = 0, 0
        """Texts whose vectors a dry run leaves unmade; rows whose vector was known."""
        self.problems: list[Problem] = []
        self._vanished: set[str] = set()

    def gone(self) -> set[str]:
        """Return the paths that vanished or could not be read while they were being indexed."""
        left = (p.path for p in self.problems if p.is_failure and p.kind != "defect")
        return self._vanished.union(left)

    def batches(self, files: Sequence[SourceFile]) -> Iterator[Batch]:
        """Yield finished rows, in the order of ``files``."""
        drafts: list[_Draft] = []
        rows = 0
        for draft in filter(None, map(self._draft, files)):
            if drafts and rows + len(draft[0].chunks) > LARGE_ROWS:
                yield self._finish(drafts)
                drafts, rows = [], 0
            drafts.append(draft)
            rows += len(draft[0].chunks)
        if drafts:
            yield self._finish(drafts)

    def _draft(self, file: SourceFile) -> _Draft | None:
        context = self._context
        context.progress(READING, self._done, self.notes)
        self._done += 1
        read = self._read(file)
        if read is None:
            return None
        note, stat = read
        derived = context.derive(note, read_detail(context.fingerprint), context.config)
        note = replace(note, problems=(*note.problems, *(p for d in derived for p in d.problems)))
        self.problems += note.problems
        return self._row(note, derived, replace(file, stat=stat))

    def _read(self, file: SourceFile) -> tuple[Note, FileStat] | None:
        context = self._context
        try:
            limit = context.config.max_note_bytes
            data, stat = read_note(context.paths, file.path, limit_bytes=limit)
        except FileNotFoundError:
            self._vanished.add(file.path)
            return None
        except NoteUnreadable as error:
            self.problems.append(error.problem)
            return None
        return parse(file.path, data, context.embedder, context.config), stat

    def read_texts(self, files: Mapping[str, SourceFile], path: str) -> dict[bytes, str]:
        """Return the texts of a note to embed, by digest; none if the note is gone."""
        read = self._read(files[path]) if path in files else None
        if read is None:
            return {}
        chunks = (*read[0].chunks, *read[0].questions)
        return {_digest_text(chunk.embed_text): chunk.embed_text for chunk in chunks}

    def _row(self, note: Note, derived: Sequence[Derived], file: SourceFile) -> _Draft:
        """Return the row of a note, and its texts to embed, by digest."""
        asked = self._listing
        own_type, own_priority = note.type or "", PRIORITIES.index(note.priority or "")
        date, source = asked.date_of(note.path, note.date)
        changed = self._changed_ns(file)
        chunks = (*note.chunks, *note.questions)
        befores = (None, *chunks)[: len(chunks)]
        links = [link for link in note.links if link.target]
        named = (
            f"{link.target}|{link.alias}"
            for link in links
            if link.alias and link.alias.casefold() != link.target.casefold()
        )
        days = [day.toordinal() for span in note.days for day in span]
        row = NoteRow(
            path=note.path,
            kind=CONTENT,
            digest=bytes.fromhex(note.digest)[:16],
            title=note.title,
            type=asked.type_of(note.path, own_type),
            own_type=own_type,
            priority=asked.priority_of(note.path, own_priority),
            own_priority=own_priority,
            aliases=_joined(note.aliases),
            targets=_joined(dict.fromkeys(link.target for link in links)),
            link_names=_joined(dict.fromkeys(named)),
            originals=_joined(note.originals),
            tags=_joined(note.tags),
            speakers=_joined(sorted(note.talkers)),
            date=date,
            date_source=source,
            days=(*days, *NO_DAYS[len(days) :]),
            flags=EVERGREEN * note.is_evergreen
            + PRIVATE * note.is_private
            + HAS_PROBLEMS * bool(note.problems)
            + COPY * bool(note.originals),
            stat=(*file.stat, file.stat.mtime_ns if changed is None else changed),
            line=note_line(note),
            chunks=tuple(chunk_row(*each) for each in zip(chunks, derived, befores, strict=True)),
        )
        texts = (chunk.embed_text for chunk in chunks)
        return row, dict(zip((chunk.digest for chunk in row.chunks), texts, strict=True))

    def _finish(self, drafts: Sequence[_Draft]) -> Batch:
        """Return the rows of drafts with vectors; each distinct unknown text is embedded once."""
        context = self._context
        rows = [row for row, _ in drafts]
        texts = {digest: text for _, its_texts in drafts for digest, text in its_texts.items()}
        vectors = self._known.find(list(texts)) if texts else {}
        missing = [digest for digest in texts if digest not in vectors]
        self.reused += sum(len(row.chunks) for row in rows) - len(missing)
        if context.is_dry_run:
            self.unmade += len(missing)
            return Batch(rows)
        self._waits |= self._may_wait and len(missing) > AT_ONCE and context.embedder.dimension > 0
        names: tuple[str, ...] = ()
        if self._waits and missing:
            if vectors:
                found = list(vectors), [np.stack(list(vectors.values()))]
                names = (write_vectors(context.paths.index, *found, context.fingerprint),)
            vectors = dict.fromkeys(texts, np.zeros(0, np.float32))
        else:
            vectors |= self.vectors.make({digest: texts[digest] for digest in missing})
        made = (
            replace(row, vectors=np.stack([vectors[chunk.digest] for chunk in row.chunks]))
            if row.chunks
            else row
            for row in rows
        )
        return Batch(list(made), names)


def parse(path: str, data: bytes, embedder: Embedder, config: Config) -> Note:
    """Parse a file into a note, cut into passages within the token limit of an embedder."""
    from memory_palace.notes.parsing import parse_note  # delayed: most builds read no note

    return parse_note(
        path,
        data,
        count_tokens=embedder.count_tokens,
        token_limit=embedder.token_limit,
        locale=config.locale,
        line_bytes=config.max_line_bytes,
    )


def chunk_row(chunk: Chunk, derived: Derived, before: Chunk | None = None) -> ChunkRow:
    """Return the row of a chunk that follows ``before`` in its note, without its vector."""
    return ChunkRow(
        chunk.first_line,
        chunk.last_line,
        _digest_text(chunk.embed_text),
        chunk_line(chunk, before),
        (
            count_keys(derived.words),
            count_keys(derived.names),
            count_keys(set(derived.extras)),
            count_keys({fact_term(kind, key) for kind, key in derived.facts}),
        ),
    )


def _joined(names: Iterable[str]) -> str:
    return SEPARATOR.join(name.replace(SEPARATOR, " ") for name in names)


def _digest_text(text: str) -> bytes:
    """Return the digest of a text, which is the key of its vector."""
    return sha256(text.encode()).digest()[:DIGEST_BYTES]


class KnownVectors:
    """Look-up of vectors by text digest, in segments and in files of unfinished builds."""

    def __init__(self, segments: Iterable[Segment] = ()) -> None:
        self._sources: list[tuple[Array, Matrix]] = []
        for segment in segments:
            self.add_all(segment)

    def add(self, digests: Array, vectors: Matrix) -> None:
        """Add vectors, one per row of 16-byte ``digests``."""
        if len(digests):
            self._sources.append((np.ascontiguousarray(digests).view("<u8"), vectors))

    def add_all(self, segment: Segment) -> None:
        """Add all vectors that a segment has."""
        digests, lacking, vectors = segment.arrays["chunk_digest"], segment.lacking, segment.vectors
        if lacking is None:
            self.add(digests, vectors)
        elif vectors.shape[1]:
            self.add(digests[~lacking], vectors[~lacking])

    def add_leftovers(self, folder: Path, *, fingerprint: str, committed: Iterable[str]) -> None:
        """Add the vectors an interrupted build wrote, if intact and of the same recipe."""
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

    def __init__(self, context: BuildContext) -> None:
        self._context, self.dimension = context, context.embedder.dimension
        self.total, self.done = 0, 0
        """Texts to embed and texts embedded, for the progress."""

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
        """Yield the texts' digests and vectors, one batch at a time."""
        waiting = iter(texts)
        self.report()
        # The first slices are small, so that the rate is known within the first second.
        while part := dict(islice(waiting, min(max(self.done, 1), _SLICE))):
            vectors = self._context.embedder.embed_passages(list(part.values()))
            self.done += len(part)
            yield tuple(part), vectors
            self.report()

    def report(self) -> None:
        """Pass the counts to the progress callback."""
        if self.dimension:
            self._context.progress(EMBEDDING, self.done, max(self.total, self.done))
