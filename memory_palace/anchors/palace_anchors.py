"""The anchors of one palace: built, carried along with its index, asked, reported, exported.

What an ordinary question does not need is imported where it is used.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from memory_palace.config import Config, PalacePaths
from memory_palace.errors import IndexDamagedError, UsageError
from memory_palace.index.context import Followed, Progress
from memory_palace.index.snapshot import Snapshot
from memory_palace.models import AnchorEvidence, Problem, Query

if TYPE_CHECKING:
    from memory_palace.anchors.book import Book
    from memory_palace.anchors.build import AnchorBuild
    from memory_palace.anchors.corpus import AnchorWork
    from memory_palace.anchors.tier import Tier
    from memory_palace.anchors.why import AnchorsWhy
    from memory_palace.embedding.base import Embedder


class PalaceAnchors:
    """What a palace's anchors can do; the anchors of the last snapshot are held open."""

    def __init__(
        self,
        paths: PalacePaths,
        config: Config,
        *,
        snapshot: Callable[[], Snapshot],
        embedder: Callable[[], Embedder],
    ) -> None:
        """``snapshot`` and ``embedder`` give those of the index as it is committed now."""
        self.paths = paths
        self.config = config
        self.snapshot = snapshot
        self.embedder = embedder
        self._opened: Book | None = None

    def book(self, snapshot: Snapshot | None = None) -> Book:
        """Return the anchors that a snapshot names; without one, those committed now."""
        from memory_palace.anchors.book import Book

        snapshot = self.snapshot() if snapshot is None else snapshot
        if self._opened is None or self._opened.snapshot is not snapshot:
            settings, sources = self.config.anchors, self.config.sources
            self._opened = Book(self.tiers(snapshot), snapshot, settings, sources)
        return self._opened

    def build(
        self,
        *,
        theta: float | None = None,
        wait_seconds: float = 30.0,
        progress: Progress = lambda doing, done, total: None,
    ) -> AnchorBuild:
        """Discover anchors anew, list where each leads, and commit them.

        ``theta`` is the least cosine of anchor and passage instead of the one of the settings.
        """
        from memory_palace.anchors.build import build_anchors

        return build_anchors(self, theta=theta, wait_seconds=wait_seconds, progress=progress)

    def tiers(self, snapshot: Snapshot | None = None) -> tuple[Tier, ...]:
        """Return the anchor files that a snapshot names, nightly first; without one, now's."""
        from memory_palace.anchors.tier import read_tiers

        snapshot = self.snapshot() if snapshot is None else snapshot
        return read_tiers(self.paths.index, snapshot.commit.anchors)

    def export(self, folder: Path) -> list[Path]:
        """Write the three files of source document 003, for people and for other programs."""
        from memory_palace.anchors.export import export_files

        book = self.book()
        if not book.anchors:
            raise UsageError("there are no anchors to export; run `palace anchors build`")
        return export_files(book, folder)

    def evidence(
        self,
        text: str,
        *,
        snapshot: Snapshot | None = None,
        projects: Sequence[str] | None = None,
        has_context: bool = False,
    ) -> AnchorEvidence:
        """Return the anchors in a text and the passages they lead to, without any ranking.

        ``projects`` are the folders that "that project" stands for, instead of the active ones;
        ``has_context`` says that turns came before, which "it" may mean.
        """
        from memory_palace.anchors.lookup import find_passages

        book = self.book(snapshot)
        return find_passages(book, text, projects=projects, has_context=has_context)

    def why(self, text: str, *, whole: Snapshot) -> AnchorsWhy:
        """Say which anchors of a text fired and what they brought, and what was left out.

        ``whole`` is the snapshot with the cold zone.
        """
        from memory_palace.anchors.why import explain

        return explain(self.book(), text, whole, self.work())

    def ask(
        self, query: Query, snapshot: Snapshot, *, projects: Sequence[str] | None = None
    ) -> Query:
        """Add to a question what its anchors lead to; only what may come to mind can answer it."""
        rows = self.book(snapshot).open_rows
        rows = rows if query.rows is None else np.intersect1d(rows, query.rows)
        found = self.evidence(query.text, snapshot=snapshot, projects=projects)
        return replace(query, anchors=found, rows=rows)

    def work(self, embedder: Embedder | None = None, now_ns: int | None = None) -> AnchorWork:
        """Return what making anchors takes, by default with the index's embedder and now."""
        from memory_palace.anchors.corpus import AnchorWork

        embedder = self.embedder() if embedder is None else embedder
        return AnchorWork(self.paths, self.config, embedder, now_ns or time.time_ns())

    def follow(
        self, hot: Snapshot, names: tuple[str, ...], embedder: Embedder, now_ns: int
    ) -> Followed:
        """Carry the anchors over to the next generation; return the names of its files.

        Those of another version are made anew. Damaged files are named and not used: there are no
        anchors then until `palace anchors build`, but the notes are indexed.
        """
        if not names:
            return Followed(())
        from memory_palace.anchors.update import follow_index

        work = self.work(embedder, now_ns)
        try:
            return Followed(follow_index(work, hot, names) or (self._rebuild(work, hot),))
        except IndexDamagedError as error:
            where = self.paths.index.relative_to(self.paths.root).as_posix()
            return Followed((), (Problem(where, None, "index", str(error)),))

    def _rebuild(self, work: AnchorWork, hot: Snapshot) -> str:
        from memory_palace.anchors.build import build_tier
        from memory_palace.anchors.tier import AnchorFiles, write_tier

        return write_tier(self.paths.index, build_tier(work, hot, AnchorFiles()))
