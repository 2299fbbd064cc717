"""A question set as an index of the product's own making, kept between runs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from hashlib import sha256
from pathlib import Path

import memory_palace
from benchmarks.datasets.items import Collection, EvalDocument
from memory_palace.config import PalacePaths
from memory_palace.embedding.registry import Embedder
from memory_palace.facts import derive
from memory_palace.index.chance import calibrate, find_best_null, read_lines
from memory_palace.index.commit import (
    Commit,
    Detail,
    name_recipe,
    read_commit,
    read_detail,
    write_commit,
)
from memory_palace.index.rows import chunk_row
from memory_palace.index.segment import CONTENT
from memory_palace.index.snapshot import Snapshot, open_snapshot
from memory_palace.index.values import Derived
from memory_palace.index.writing import NoteRow, note_line, write_segment
from memory_palace.language.sentences import drop_times, find_talkers
from memory_palace.markdown.markup import Markup
from memory_palace.models import NoteDate
from memory_palace.notes.chunking import Cutter
from memory_palace.notes.note import Chunk, Note
from memory_palace.notes.parsing import parse_note

_ROOM = "palace/project_rooms"
_INDEXING = ("language", "notes", "embedding", "index", "facts")
"""Packages that decide the content of an index."""
_WHOLE = 2
"""Generation of a finished corpus: the first commit has no calibration yet."""


@dataclass(frozen=True, slots=True)
class Corpus:
    """An opened index, and which unit each of its notes and chunks is."""

    snapshot: Snapshot
    documents: Sequence[str]
    """Id of each note of the snapshot."""
    passages: Sequence[Sequence[str]]
    """For each note the ids of its passages, in order; empty where chunks are the chunker's."""

    def unit(self, path: str, first_line: int, *, is_passage: bool) -> str:
        """Return the id of what a hit is."""
        place = int(path.rpartition("/")[2].removesuffix(".md"))
        return self.passages[place][first_line - 1] if is_passage else self.documents[place]


def open_corpus(
    collection: Collection, folder: Path, embedder: Embedder, *, detail: Detail = Detail.PLAIN
) -> Corpus:
    """Open the index of a collection, or make it with the same rows the indexer writes.

    A document of passages becomes a note whose chunks are its passages, one to a line, the longest
    cut; any other is read as Markdown and chunked as notes are.
    """
    fingerprint = name_recipe(embedder, detail)
    paths = PalacePaths(folder / "corpora" / digest_index(collection, fingerprint))
    is_whole = paths.commit.exists() and read_commit(paths.commit).generation == _WHOLE
    if not is_whole:
        _write(collection, paths, embedder, fingerprint)
    return Corpus(
        open_snapshot(paths),
        [document.id for document in collection.documents],
        [[passage.id for passage in document.passages] for document in collection.documents],
    )


def digest_index(collection: Collection, fingerprint: str) -> str:
    """Digest everything that can change the index of a collection, our own code too."""
    whole = sha256(f"{fingerprint}\n{_digest_code()}\n".encode())
    for document in collection.documents:
        whole.update(json.dumps(asdict(document)).encode())
    return whole.hexdigest()[:24]


@cache
def _digest_code() -> str:
    whole = sha256(Path(__file__).read_bytes())
    for package in _INDEXING:
        for path in sorted((Path(memory_palace.__file__).parent / package).rglob("*.py")):
            whole.update(path.read_bytes())
    return whole.hexdigest()


def _write(
    collection: Collection, paths: PalacePaths, embedder: Embedder, fingerprint: str
) -> None:
    notes = [_note(n, document, embedder) for n, document in enumerate(collection.documents)]
    detail = read_detail(fingerprint)
    derived = [derive(note, detail) for note in notes]
    matrix = embedder.embed_passages([c.embed_text for note in notes for c in note.chunks])
    rows, start = [], 0
    for note, found in zip(notes, derived, strict=True):
        inside = slice(start, start := start + len(note.chunks))
        rows.append(replace(_row(note, found), vectors=matrix[inside]))
    paths.index.mkdir(parents=True, exist_ok=True, mode=0o700)
    commit = Commit(_WHOLE - 1, embedder.name, fingerprint, embedder.dimension)
    commit = replace(commit, segments=(write_segment(paths.index, rows, commit, is_cold=False),))
    write_commit(paths.commit, commit)
    snapshot = open_snapshot(paths)
    figures = calibrate(snapshot, embedder.embed_passages)
    if embedder.dimension:
        figures |= find_best_null(snapshot, embedder.embed_queries(read_lines("questions")))
    write_commit(paths.commit, replace(commit, generation=_WHOLE, calibration=figures))


def _note(number: int, document: EvalDocument, embedder: Embedder) -> Note:
    """Read a document as a note; its passages, where it has any, are the note's chunks."""
    note = parse_note(
        f"{_ROOM}/{number:07d}.md",
        document.text.encode(),
        count_tokens=embedder.count_tokens,
        token_limit=embedder.token_limit,
    )
    if document.timestamp:
        note = replace(note, date=NoteDate(document.timestamp, "front matter"))
    if not document.passages:
        return note
    digest = sha256(document.id.encode()).hexdigest()
    talkers = find_talkers("\n".join(passage.text for passage in document.passages))
    cutter = Cutter(embedder.count_tokens, embedder.token_limit, "", talkers)
    chunks = tuple(_chunks(document, cutter))
    return replace(note, digest=digest, title=document.id, talkers=talkers, chunks=chunks)


def _chunks(document: EvalDocument, cutter: Cutter) -> Iterator[Chunk]:
    """Yield the chunk of each passage; one that is too long for the model is cut as notes are."""
    for line, passage in enumerate(document.passages, start=1):
        text = drop_times(passage.text, cutter.talkers)
        if cutter.count_tokens(text) <= cutter.token_limit:
            yield Chunk((), line, line, passage.text, text, sha256(text.encode()).hexdigest())
            continue
        for group in cutter.pack(cutter.find_units(Markup(passage.text), 1)):
            yield replace(cutter.chunk(group), first_line=line, last_line=line)


def _row(note: Note, derived: Sequence[Derived]) -> NoteRow:
    return NoteRow(
        path=note.path,
        kind=CONTENT,
        digest=bytes.fromhex(note.digest)[:16],
        title=note.title,
        type="project",
        date=note.date.timestamp if note.date else 0.0,
        line=note_line(note),
        speakers="\x1f".join(sorted(note.talkers)),
        chunks=tuple(map(chunk_row, note.chunks, derived)),
    )
