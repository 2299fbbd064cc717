"""Turn files into rows: read, parse, look up or make vectors, in batches of bounded size."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from memory_palace.index.compact import LARGE_ROWS
from memory_palace.index.context import BuildContext
from memory_palace.index.effective import Authorities
from memory_palace.index.postings import derived_keys
from memory_palace.index.records import chunk_line, note_line
from memory_palace.index.reuse import KnownVectors, write_checkpoint
from memory_palace.index.segment import CONTENT, EVERGREEN, HAS_PROBLEMS, PRIORITIES, PRIVATE
from memory_palace.index.writing import ChunkRow, NoteRow
from memory_palace.models import Matrix, Note, Problem, SourceFile, Vector
from memory_palace.notes.parsing import parse_note
from memory_palace.notes.reading import NoteUnreadable, read_note

_SLICE = 512
"""Chunks embedded between two looks at the clock."""
_CHECKPOINT_SECONDS = 60.0


@dataclass(slots=True)
class Tally:
    """Counts that grow over a build."""

    embedded: int = 0
    reused: int = 0
    bytes_done: int = 0
    bytes_total: int = 0
    chunks: int = 0
    problems: list[Problem] = field(default_factory=list)
    vanished: set[str] = field(default_factory=set)


@dataclass(slots=True)
class _Draft:
    row: NoteRow
    texts: list[str]


class RowMaker:
    """Makes content rows for files, one batch of at most ``LARGE_ROWS`` chunks at a time."""

    def __init__(
        self,
        context: BuildContext,
        authorities: Authorities,
        known: KnownVectors,
        changed_ns: Callable[[SourceFile], int | None],
        tally: Tally,
    ) -> None:
        self._context = context
        self._authorities = authorities
        self._known = known
        self._changed_ns = changed_ns
        self._tally = tally

    def batches(self, files: Sequence[SourceFile]) -> Iterator[list[NoteRow]]:
        """Yield lists of finished rows, in the order of ``files``."""
        self._tally.bytes_total += sum(file.stat.size for file in files)
        drafts: list[_Draft] = []
        rows = 0
        for file in files:
            draft = self._draft(file)
            if draft is None:
                continue
            if drafts and rows + len(draft.texts) > LARGE_ROWS:
                yield self._finish(drafts)
                drafts, rows = [], 0
            drafts.append(draft)
            rows += len(draft.texts)
        if drafts:
            yield self._finish(drafts)

    def _draft(self, file: SourceFile) -> _Draft | None:
        self._tally.bytes_done += file.stat.size
        try:
            data, stat = read_note(
                self._context.paths.root, file, limit_bytes=self._context.config.max_note_bytes
            )
        except FileNotFoundError:
            self._tally.vanished.add(file.path)
            return None
        except NoteUnreadable as error:
            self._tally.problems.append(error.problem)
            return None
        embedder = self._context.embedder
        note = parse_note(
            file.path, data, count_tokens=embedder.count_tokens, token_limit=embedder.token_limit
        )
        self._tally.problems.extend(note.problems)
        self._tally.chunks += len(note.chunks)
        row = self._row(note, replace(file, stat=stat))
        return _Draft(row, [chunk.embed_text for chunk in note.chunks])

    def _row(self, note: Note, file: SourceFile) -> NoteRow:
        asked = self._authorities
        own_type, own_priority = note.type or "", PRIORITIES.index(note.priority or "")
        date, source = asked.date_of(note.path, note.date)
        changed = self._changed_ns(file)
        return NoteRow(
            path=note.path,
            kind=CONTENT,
            digest=bytes.fromhex(note.digest)[:16],
            title=note.title,
            type=asked.type_of(note.path, own_type),
            own_type=own_type,
            priority=asked.priority_of(note.path, own_priority),
            own_priority=own_priority,
            aliases=_joined(note.aliases),
            targets=_joined(dict.fromkeys(link.target for link in note.links if link.target)),
            date=date,
            date_source=source,
            flags=EVERGREEN * note.is_evergreen
            + PRIVATE * note.is_private
            + HAS_PROBLEMS * bool(note.problems),
            stat=(*file.stat, file.stat.mtime_ns if changed is None else changed),
            line=note_line(note),
            chunks=tuple(
                ChunkRow(
                    c.first_line,
                    c.last_line,
                    bytes.fromhex(c.digest)[:16],
                    chunk_line(c),
                    derived_keys(d),
                )
                for c, d in zip(note.chunks, self._context.derive(note), strict=True)
            ),
        )

    def _finish(self, drafts: Sequence[_Draft]) -> list[NoteRow]:
        """Give every draft its vectors; each distinct unknown text is embedded once."""
        texts = {
            chunk.digest: text
            for draft in drafts
            for chunk, text in zip(draft.row.chunks, draft.texts, strict=True)
        }
        vectors = self._known.find(list(texts)) if texts else {}
        missing = [digest for digest in texts if digest not in vectors]
        self._tally.embedded += len(missing)
        self._tally.reused += sum(len(draft.row.chunks) for draft in drafts) - len(missing)
        if not self._context.is_dry_run:
            vectors |= self._embed(missing, texts)
        return [
            replace(draft.row, vectors=self._stack(draft.row.chunks, vectors)) for draft in drafts
        ]

    def _embed(self, missing: Sequence[bytes], texts: dict[bytes, str]) -> dict[bytes, Vector]:
        """Embed in slices, and keep what is made should the build be killed."""
        made: dict[bytes, Vector] = {}
        kept, since = 0, self._context.monotonic()
        for start in range(0, len(missing), _SLICE):
            part = missing[start : start + _SLICE]
            matrix = self._context.embedder.embed_passages([texts[digest] for digest in part])
            made.update(zip(part, matrix, strict=True))
            self._report(len(missing) - start - len(part))
            if self._context.monotonic() - since > _CHECKPOINT_SECONDS:
                fresh = missing[kept : start + len(part)]
                write_checkpoint(
                    self._context.paths.index,
                    fresh,
                    np.stack([made[digest] for digest in fresh]),
                    fingerprint=self._context.fingerprint,
                )
                kept, since = start + len(part), self._context.monotonic()
        return made

    def _report(self, left: int) -> None:
        tally = self._tally
        done = tally.chunks - left
        share = tally.bytes_done / tally.bytes_total if tally.bytes_total else 1.0
        self._context.progress(done, max(tally.chunks, round(tally.chunks / max(share, 1e-9))))

    def _stack(self, chunks: Sequence[ChunkRow], vectors: dict[bytes, Vector]) -> Matrix | None:
        if not chunks or self._context.is_dry_run:
            return None
        return np.stack([vectors[chunk.digest] for chunk in chunks])


def _joined(names: Iterable[str]) -> str:
    return "\x1f".join(name.replace("\x1f", " ") for name in names)
