"""Stretch an indexed palace to many more notes, without a model: what a large palace costs."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import blake2b, sha256

import numpy as np
from numpy.typing import NDArray

from memory_palace.config import PalacePaths
from memory_palace.errors import UsageError
from memory_palace.index.commit import write_commit
from memory_palace.index.postings import FIELDS, KeyCounts
from memory_palace.index.segment import CONTENT, PREVIEW_CHARACTERS, SOURCES
from memory_palace.index.writing import DIGEST_BYTES, ChunkRow, NoteRow, write_segment
from memory_palace.models import Matrix
from memory_palace.notes.manifest import read_manifest
from memory_palace.palace import Palace
from memory_palace.places import PALACE

PER_NOTE = 8
"""Passages of a note, all of one subject."""
_NEAR = 32
"""How many real passages a subject has."""
_KEPT = 0.75
"""Of the words of a real passage that a made one keeps; as many as it drops come from another."""
_SEGMENT_ROWS = 250_000
_FIRST_DAY, _DAYS = 946_684_800, 9_000
"""Notes are dated by chance: from when, in seconds, and over how many days."""
_LINES_BEFORE = 5
"""What stands above the first passage of a note."""

Ids = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _Real:
    """What passages are made from, with one value for each real passage."""

    vectors: Matrix
    near: Ids
    """The passages nearest to each, itself among them."""
    first: list[int]
    """The first passage of its note."""
    keys: list[tuple[KeyCounts, ...]]
    titles: list[str]
    texts: list[str]
    lines: list[bytes]


def stretch_palace(source: Palace, paths: PalacePaths, passages: int) -> Palace:
    """Make a palace of notes like those of another, with its index, and open it.

    A passage has the vector of a real one with noise (``spread_vectors``), three of four of its
    words, and as many as are dropped from another; its text is that of the real one. Raise
    ``UsageError`` for a palace with too few passages, or without vectors.
    """
    rng = np.random.default_rng(1)
    real, commit = _read(source), source.snapshot().commit
    paths.index.mkdir(parents=True)
    subjects = np.repeat(rng.integers(0, len(real.first), -(-passages // PER_NOTE)), PER_NOTE)
    origins = real.near[subjects[:passages], rng.integers(0, _NEAR, passages)]
    refs = []
    for start in range(0, passages, _SEGMENT_ROWS):
        notes = list(_make_notes(paths, real, origins[start : start + _SEGMENT_ROWS], start, rng))
        refs.append(
            write_segment(
                paths.index,
                notes,
                fingerprint=commit.fingerprint,
                dimension=commit.dimension,
                is_cold=False,
            )
        )
    made = replace(
        commit,
        generation=1,
        segments=tuple(refs),
        previous=(),
        anchors=(),
        scanned_ns=time.time_ns(),
        manifest=read_manifest(paths).digest,
    )
    write_commit(paths.commit, made)
    return Palace(paths.root)


def spread_vectors(real: Matrix, origins: Ids, rng: np.random.Generator) -> Matrix:
    """Return unit vectors that lie about real ones as real ones lie about each other.

    Each is a real one turned towards the difference of two others, so that the noise lies in the
    directions of the data, as far as a real one drawn by chance is from its nearest neighbour.
    """
    drawn = real[rng.choice(len(real), min(len(real), 2_000), replace=False)]
    nearest = np.sort(drawn @ real.T, axis=1)[:, -2].clip(0.3, 0.95)
    made = np.empty((len(origins), real.shape[1]), np.float32)
    for start in range(0, len(origins), 50_000):
        base = real[origins[start : start + 50_000]]
        one = rng.integers(0, len(real), len(base))
        other = (one + rng.integers(1, len(real), len(base))) % len(real)
        noise = real[one] - real[other]
        noise -= np.sum(noise * base, axis=1, keepdims=True) * base
        noise /= np.maximum(np.linalg.norm(noise, axis=1, keepdims=True), 1e-6)
        cosine = rng.choice(nearest, len(base))[:, None]
        made[start : start + len(base)] = cosine * base + np.sqrt(1 - cosine**2) * noise
    made /= np.linalg.norm(made, axis=1, keepdims=True)
    return made


def _read(source: Palace) -> _Real:
    snapshot = source.snapshot()
    rows = np.flatnonzero(snapshot.hot_rows)
    if len(rows) < _NEAR + 1 or not snapshot.commit.dimension:
        raise UsageError(
            f"{source.paths.root} has {len(rows)} passages, and {snapshot.commit.dimension} numbers"
            f" for each: to be stretched it needs {_NEAR + 1}, and vectors"
        )
    vectors, notes = snapshot.rows_of(rows), snapshot.row_note[rows]
    near = [
        np.argpartition(part @ -vectors.T, _NEAR, axis=1)[:, :_NEAR]
        for part in np.array_split(vectors, len(vectors) // 1_000 + 1)
    ]
    first = np.searchsorted(notes, notes).tolist()
    real = _Real(vectors, np.concatenate(near), first, [], [], [], [])
    for row, note in zip(rows.tolist(), notes.tolist(), strict=True):
        chunk = snapshot.chunk(row)
        lines = (source.paths.root / chunk.path).read_text("utf-8").split("\n")
        text = " ".join(" ".join(lines[chunk.first_line - 1 : chunk.last_line]).split())
        real.keys.append(snapshot.row_keys(row))
        real.titles.append(" ".join(snapshot.titles[note].split()))
        real.texts.append(text.lstrip("# ") or "-")
        shown = [chunk.heading_path, real.texts[-1][:PREVIEW_CHARACTERS]]
        real.lines.append(json.dumps(shown, ensure_ascii=False).encode() + b"\n")
    return real


def _make_notes(
    paths: PalacePaths, real: _Real, origins: Ids, start: int, rng: np.random.Generator
) -> Iterator[NoteRow]:
    """Write notes, and yield their records in the order of their paths."""
    vectors = spread_vectors(real.vectors, origins, rng)
    others = rng.integers(0, len(real.first), len(origins))
    for place in range(0, len(origins), PER_NOTE):
        inside = slice(place, place + PER_NOTE)
        own, number = origins[inside].tolist(), (start + place) // PER_NOTE
        chunks = [
            _make_chunk(real, row, other, start + place + i, i, rng)
            for i, (row, other) in enumerate(zip(own, others[inside].tolist(), strict=True))
        ]
        date = float(_FIRST_DAY + 86_400 * rng.integers(0, _DAYS))
        title = f"{real.titles[own[0]]} {number}"
        day = datetime.fromtimestamp(date, UTC).date().isoformat()
        passages = "\n".join(f"{real.texts[row]}\n" for row in own)
        text = f"---\ndate: {day}\n---\n# {title}\n\n{passages}".encode()
        path = f"{PALACE}/grand_hall/{number // 500:05d}/{number:07d}.md"
        file = paths.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text)
        stat = file.stat()
        yield NoteRow(
            path,
            CONTENT,
            digest=sha256(text).digest()[:DIGEST_BYTES],
            title=title,
            date=date,
            date_source=SOURCES.index("front matter"),
            stat=(stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino, 0),
            chunks=tuple(chunks),
            vectors=(vectors[inside],),
        )


def _make_chunk(
    real: _Real, row: int, other: int, number: int, place: int, rng: np.random.Generator
) -> ChunkRow:
    words, names, *rest = (
        real.keys[row][FIELDS.index(field)] for field in ("words", "names", "extras", "facts")
    )
    names = (
        real.keys[real.first[row]][1] if not place else KeyCounts(names.keys[:0], names.counts[:0])
    )
    line = _LINES_BEFORE + 1 + 2 * place
    digest = blake2b(number.to_bytes(8), digest_size=DIGEST_BYTES).digest()
    keys = (_mix(words, real.keys[other][0], rng), names, *rest)
    return ChunkRow(line, line, (digest,), real.lines[row], keys)


def _mix(own: KeyCounts, other: KeyCounts, rng: np.random.Generator) -> KeyCounts:
    """Return most of the words of a passage, and some of another."""
    is_kept = rng.random(len(own.keys)) < _KEPT
    is_taken = rng.random(len(other.keys)) > _KEPT
    keys = np.concatenate([own.keys[is_kept], other.keys[is_taken]])
    counts = np.concatenate([own.counts[is_kept], other.counts[is_taken]])
    keys, places = np.unique(keys, return_index=True)
    return KeyCounts(keys, counts[places])
