"""``Palace.anchors``: built, carried along with the index, asked, exported."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from memory_palace.embedding.registry import Embedder
from memory_palace.errors import IndexDamagedError, UsageError
from memory_palace.features.anchors.anchor_file import AnchorFile, read_anchors, write_anchors
from memory_palace.features.anchors.build import build_file, commit_file, extend_file
from memory_palace.features.anchors.lookup import Book, find_passages
from memory_palace.features.anchors.policy import source_of
from memory_palace.features.anchors.shown import AnchorBuild
from memory_palace.features.anchors.vocabulary import AnchorWork
from memory_palace.index.snapshot import Snapshot
from memory_palace.index.values import Followed, Progress
from memory_palace.index.writing import write_arrays
from memory_palace.models import AnchorEvidence, ParsedQuery, Problem
from memory_palace.palace import Feature, Palace
from memory_palace.storage import write_atomic, write_stream


class Anchors(Feature):
    """The anchors of a palace; those of the last snapshot are held open."""

    def __init__(self, palace: Palace) -> None:
        super().__init__(palace)
        self._opened: Book | None = None

    def book(self, snapshot: Snapshot | None = None) -> Book:
        """Return the anchors that a snapshot names; without one, those committed now."""
        snapshot = self.palace.snapshot() if snapshot is None else snapshot
        if self._opened is None or self._opened.snapshot is not snapshot:
            self._opened = Book(self.read(snapshot), snapshot, self.palace.config)
        return self._opened

    def read(self, snapshot: Snapshot | None = None) -> AnchorFile | None:
        """Return the anchor file that a snapshot names; without one, now's."""
        snapshot = self.palace.snapshot() if snapshot is None else snapshot
        return read_anchors(self.palace.paths.index, snapshot.commit.anchors)

    def build(
        self,
        *,
        wait_seconds: float = 30.0,
        progress: Progress = lambda doing, done, total: None,
    ) -> AnchorBuild:
        """Discover anchors anew, list where each leads, and commit them."""
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

    def evidence(self, text: str, *, projects: Sequence[str] | None = None) -> AnchorEvidence:
        """Return the anchors in a text and the passages they lead to, without any ranking.

        ``projects`` are the folders that "that project" stands for, instead of the active ones.
        """
        return find_passages(self.book(), text, projects=projects)

    def ask(
        self, query: ParsedQuery, snapshot: Snapshot, *, projects: Sequence[str] | None = None
    ) -> ParsedQuery:
        """Add to a question what its anchors lead to; only what may come to mind can answer it."""
        book = self.book(snapshot)
        rows = book.open_rows
        rows = rows if query.rows is None else np.intersect1d(rows, query.rows)
        found = find_passages(book, query.text, projects=projects)
        return replace(query, anchors=found, rows=rows)

    def work(self, embedder: Embedder | None = None, now_ns: int | None = None) -> AnchorWork:
        """Return what making anchors takes, by default with the index's embedder and now."""
        embedder = self.palace.embedder() if embedder is None else embedder
        palace = self.palace
        return AnchorWork(palace.paths, palace.config, embedder, now_ns or time.time_ns())

    def follow(
        self, hot: Snapshot, names: tuple[str, ...], embedder: Embedder, now_ns: int
    ) -> Followed:
        """Carry the anchors over to the next generation; return the name of its file.

        Those of another version are made anew. A damaged file is named and not used: there are no
        anchors then until `palace graph anchors build`, but the notes are indexed.
        """
        if not names:
            return Followed(())
        work, paths = self.work(embedder, now_ns), self.palace.paths
        try:
            before = read_anchors(paths.index, names)
        except IndexDamagedError as error:
            where = paths.index.relative_to(paths.root).as_posix()
            return Followed((), (Problem(where, None, "index", str(error)),))
        after = extend_file(work, hot, before) if before else build_file(work, hot)
        return Followed(names if after is before else (write_anchors(paths.index, after),))

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
