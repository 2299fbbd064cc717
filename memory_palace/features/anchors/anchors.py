"""``Palace.anchors``: build anchors, update them with the index, look them up, export them.

Passages are keyed by digest, so a build that began before an update merely lacks the passages of
the update. A build finds new anchors; an update adds passages to existing ones.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memory_palace.embedding.registry import Embedder
from memory_palace.errors import IndexDamagedError, UsageError, WrongEmbedderError
from memory_palace.features.anchors.anchor_file import (
    AnchorFile,
    Keys,
    key_table,
    read_anchors,
    row_keys,
    source_of,
    trust_per_note,
    write_anchors,
)
from memory_palace.features.anchors.lookup import AnchorBuild, Book, find_passages
from memory_palace.features.anchors.vocabulary import (
    AnchorWork,
    TermedPassage,
    choose_anchors,
    distinct_rows,
    read_passages,
    runs,
)
from memory_palace.index.build import sweep
from memory_palace.index.chance import find_tail
from memory_palace.index.commit import next_commit, read_commit, write_commit
from memory_palace.index.snapshot import SAMPLE, Snapshot
from memory_palace.index.values import Followed, Progress
from memory_palace.index.words import NO_ROWS
from memory_palace.index.writing import write_arrays
from memory_palace.models import Matrix, ParsedQuery, Problem, Scores
from memory_palace.palace import Feature, Palace
from memory_palace.storage import write_atomic, write_stream, writer_lock


class Anchors(Feature):
    """The anchors of a palace; the book of the last snapshot is cached."""

    def __init__(self, palace: Palace) -> None:
        super().__init__(palace)
        self._opened: Book | None = None

    def book(self, snapshot: Snapshot | None = None) -> Book:
        """Return the anchor book of a snapshot, by default of the current one."""
        snapshot = self.palace.snapshot() if snapshot is None else snapshot
        if self._opened is None or self._opened.snapshot is not snapshot:
            file = read_anchors(self.palace.paths.index, snapshot.commit.anchors)
            self._opened = Book(file, snapshot, self.palace.config)
        return self._opened

    def build(
        self, *, wait_seconds: float = 30.0, progress: Progress = lambda doing, done, total: None
    ) -> AnchorBuild:
        """Choose anchors anew, list the passages of each, and commit them."""
        started = time.monotonic()
        work = replace(self.work(), progress=progress)
        file = build_file(work, self.palace.snapshot())
        commit_file(self.palace, work, file, wait_seconds=wait_seconds)
        return AnchorBuild(
            anchors=len(file.anchors),
            entries=len(file.keys),
            empty=int(np.count_nonzero(np.diff(file.starts) == 0)),
            theta=file.theta,
            passages=len(file.covered),
            seconds=time.monotonic() - started,
        )

    def ask(
        self, query: ParsedQuery, snapshot: Snapshot, *, projects: Sequence[str] | None = None
    ) -> ParsedQuery:
        """Return a query with its anchor evidence, limited to rows that anchors may lead to."""
        book = self.book(snapshot)
        rows = book.open_rows
        rows = rows if query.rows is None else np.intersect1d(rows, query.rows)
        found = find_passages(book, query.text, projects=projects)
        return replace(query, anchors=found, rows=rows)

    def work(self, embedder: Embedder | None = None, now_ns: int | None = None) -> AnchorWork:
        """Return the inputs of a build, by default with the index's embedder and current time."""
        embedder = self.palace.embedder() if embedder is None else embedder
        palace = self.palace
        return AnchorWork(palace.paths, palace.config, embedder, now_ns or time.time_ns())

    def follow(
        self, hot: Snapshot, names: tuple[str, ...], embedder: Embedder, now_ns: int
    ) -> Followed:
        """Update the anchors for the next generation; return its file's name, and problems.

        A file of another version is rebuilt. A damaged file is reported and not used: there are no
        anchors then until `palace graph anchors build`, but the notes are indexed.
        """
        if not names:
            return (), ()
        work, paths = self.work(embedder, now_ns), self.palace.paths
        try:
            before = read_anchors(paths.index, names)
        except IndexDamagedError as error:
            where = paths.index.relative_to(paths.root).as_posix()
            return (), (Problem(where, None, "index", str(error)),)
        after = extend_file(work, hot, before) if before else build_file(work, hot)
        return names if after is before else (write_anchors(paths.index, after),), ()

    def export(self, folder: Path) -> list[Path]:
        """Write the three files of source document 003; return their paths.

        Texts and vectors have one row per anchor, with or without passages, in the same order.
        """
        book = self.book()
        if book.file is None or not book.anchors:
            raise UsageError("there are no anchors to export; run `palace graph anchors build`")
        snapshot, commit = book.snapshot, book.snapshot.commit

        def entry(place: int) -> dict[str, object]:
            chunk = snapshot.chunk(int(book.rows[place]))
            return {
                "path": chunk.path,
                "line": chunk.first_line,
                "chunk_id": chunk.digest[:16],
                "score": round(float(book.scores[place]), 4),
                "source": source_of(chunk.path, book.sources, snapshot.room_map),
                "preview": chunk.preview[:100],
            }

        figures = {
            "schema_version": 1,
            "built_at": datetime.fromtimestamp(book.file.built_ns / 1e9, UTC).isoformat(),
            "n_anchors": len(book.anchors),
            "n_chunks": len(snapshot.row_note),
            "n_files": len(snapshot.paths),
            "multi_word_anchors": sum(" " in anchor.display for anchor in book.anchors),
            "model": commit.embedder,
            "dim": commit.dimension,
            "theta": book.file.theta,
            "theta_mode": "calibrated" if book.settings.theta is None else "literal",
            "generation": commit.generation,
        }
        folder.mkdir(parents=True, exist_ok=True)
        names = ("hippocampus-index.json", "hippocampus-embeds.npz", "hippocampus-meta.json")
        index, embeds, meta = (folder / name for name in names)
        texts = np.array([anchor.display for anchor in book.anchors])
        members = {"anchor_texts": [texts], "anchor_embeds": [book.file.matrix]}
        spans = zip(book.anchors, pairwise(book.starts.tolist()), strict=True)
        entries = {a.display: [*map(entry, range(*span))] for a, span in spans if span[0] < span[1]}
        write_atomic(index, _json(entries))
        write_stream(embeds, lambda file: write_arrays(file, members))
        write_atomic(meta, _json(figures))
        return [index, embeds, meta]


def _json(value: Any) -> bytes:
    return (json.dumps(value, ensure_ascii=False, indent=1, sort_keys=True) + "\n").encode()


# --- Making an anchor file ---

THETA_TAIL = 0.01
"""Share of anchor-passage cosines in a sample that exceed the threshold."""
MENTION = 0.2
"""Added to the cosine of a passage that holds the term: a name means little to an embedder."""
LEAST_COSINE = 0.01
"""Lower bound of the threshold, which keeps unrelated passages out."""
_BLOCK = 8192
"""Rows per matrix product: 400 anchors take 13 MB."""

Places = NDArray[np.int64]
Pairs = tuple[Places, Places]
"""Anchors and rows, in parallel."""
ScoredPairs = tuple[Places, Places, Scores]
"""Anchor, row and score, in parallel."""


def build_file(work: AnchorWork, snapshot: Snapshot) -> AnchorFile:
    """Return a new anchor file: choose anchors, embed them, list the passages of each."""
    settings = work.config.anchors
    keys, rows = distinct_rows(work, snapshot)
    passages = read_passages(work, snapshot, rows)
    anchors = choose_anchors(work, snapshot, passages)
    work.progress("embedding anchors", 0, len(anchors))
    matrix: Matrix = np.zeros((0, work.embedder.dimension), np.float32)
    if anchors:
        matrix = work.embedder.embed_passages([anchor.display for anchor in anchors])
    theta = calibrate_theta(matrix, snapshot) if settings.theta is None else settings.theta
    work.progress("comparing passages", 0, len(rows))
    mentions = find_mentions(passages, key_table(anchors))
    pairs = score_pairs(matrix, snapshot, rows, mentions, theta=theta)
    lists = make_lists(work, snapshot, pairs, count=len(anchors), limit=settings.k)
    fingerprint = snapshot.commit.fingerprint
    return AnchorFile(anchors, matrix, *lists, keys, fingerprint, theta, work.now_ns)


def commit_file(palace: Palace, work: AnchorWork, file: AnchorFile, *, wait_seconds: float) -> None:
    """Commit a build, with the passages added since it began; only this takes the lock."""
    paths = palace.paths
    with writer_lock(paths.lock, wait_seconds=wait_seconds):
        hot = palace.snapshot()
        if hot.commit.fingerprint != file.fingerprint:
            raise WrongEmbedderError(
                "the index got another embedder while anchors were built; "
                "run `palace graph anchors build` again"
            )
        name = write_anchors(paths.index, extend_file(work, hot, file))
        before = read_commit(paths.commit)
        commit = next_commit(before, replace(before, anchors=(name,)))
        write_commit(paths.commit, commit)
        sweep(paths.index, commit)


def extend_file(work: AnchorWork, hot: Snapshot, file: AnchorFile) -> AnchorFile:
    """Return the anchors with the passages added since; the same file if there are none."""
    keys, rows = distinct_rows(work, hot)
    is_new = ~np.isin(keys, file.covered)
    if not is_new.any():
        return file
    passages = read_passages(work, hot, rows[is_new])
    mentions = find_mentions(passages, key_table(file.anchors))
    new = score_pairs(file.matrix, hot, rows[is_new], mentions, theta=file.theta)
    owners, old_keys, scores = file.entries()
    is_alive = np.isin(old_keys, keys)
    places = np.searchsorted(keys, old_keys[is_alive])
    old = owners[is_alive], rows[places], scores[is_alive]
    pairs = _join([old, new])
    limit = work.config.anchors.k_max
    starts, listed, best = make_lists(work, hot, pairs, count=len(file.anchors), limit=limit)
    return replace(file, starts=starts, keys=listed, scores=best, covered=keys)


def calibrate_theta(matrix: Matrix, snapshot: Snapshot) -> float:
    """Return the cosine that ``THETA_TAIL`` of anchor-passage pairs exceed; 0 without a sample.

    A fixed one (.80 in source document 003) leaves the lists nearly empty with some models: with
    MiniLM one anchor in two hundred had any passage above it.
    """
    rows = snapshot.sample
    if not matrix.size or not len(rows):
        return 0.0
    sample = matrix[:: max(len(matrix) // SAMPLE, 1)]
    cosines = (sample @ snapshot.rows_of(rows).T).ravel().astype(np.float64)
    return round(max(find_tail(cosines, THETA_TAIL)[0], 0.0), 4)


def find_mentions(passages: Iterable[TermedPassage], table: Mapping[str, Sequence[int]]) -> Pairs:
    """Return anchors and the rows whose passages hold them, in parallel, each pair once."""
    pairs = [
        (place, passage.row)
        for passage in passages
        for place in sorted({p for _, _, key in runs(passage.words) for p in table.get(key, ())})
    ]
    held = np.array(pairs, np.int64).reshape(-1, 2)
    return held[:, 0], held[:, 1]


def score_pairs(
    matrix: Matrix, snapshot: Snapshot, rows: Places, mentions: Pairs, *, theta: float
) -> ScoredPairs:
    """Return anchor, row and score of every kept pair, each once, unordered.

    A pair is kept if its cosine reaches ``theta``, or if the passage holds the term. Scores are in
    [0, 1].
    """
    rows, (anchors, held) = np.sort(rows), mentions
    at = np.searchsorted(rows, held)
    parts: list[ScoredPairs] = []
    for start in range(0, len(rows), _BLOCK):
        block = rows[start : start + _BLOCK]
        scores: Matrix = matrix @ snapshot.rows_of(block).T
        is_kept = scores >= max(theta, LEAST_COSINE)
        here = (at >= start) & (at < start + _BLOCK)
        named = anchors[here], at[here] - start
        scores[named] = np.maximum(scores[named], 0) + np.float32(MENTION)
        is_kept[named] = True
        owners, columns = np.nonzero(is_kept)
        parts.append((owners, block[columns], np.clip(scores[is_kept], 0, 1)))
    return _join(parts)


def _join(parts: Iterable[ScoredPairs]) -> ScoredPairs:
    none: ScoredPairs = NO_ROWS, NO_ROWS, np.zeros(0, np.float32)
    owners, rows, scores = zip(none, *parts, strict=True)
    return np.concatenate(owners), np.concatenate(rows), np.concatenate(scores)


def make_lists(
    work: AnchorWork, snapshot: Snapshot, pairs: ScoredPairs, *, count: int, limit: int
) -> tuple[Places, Keys, Scores]:
    """Return starts, keys and scores: by anchor, best first, ``limit`` at most.

    Entries are ordered by score times trust in the source, but hold the bare score: a lookup
    multiplies it by the trust of that day. Scores are rounded to 4 decimals, as source document 003
    stores them; ties go by key.
    """
    anchors, rows, scores = pairs[0], pairs[1], np.round(pairs[2], 4)
    keys = row_keys(snapshot)[rows]
    trust = trust_per_note(snapshot.paths, work.config.sources)[snapshot.row_note[rows]]
    order = np.lexsort((keys, -scores * trust, anchors))
    starts = np.searchsorted(anchors[order], np.arange(count + 1))
    order = order[np.arange(len(order)) - starts[anchors[order]] < limit]
    starts = np.searchsorted(anchors[order], np.arange(count + 1)).astype(np.int64)
    return starts, keys[order], scores[order].astype(np.float32)
