"""The anchors of one palace, held open between questions, and what follows its updates.

What an ordinary question does not need is imported where it is used.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from memory_palace.config import Config, PalacePaths
from memory_palace.errors import IndexDamagedError
from memory_palace.index.context import Followed
from memory_palace.index.snapshot import Snapshot
from memory_palace.models import AnchorEvidence, Problem, Query

if TYPE_CHECKING:
    from memory_palace.anchors.book import Book
    from memory_palace.embedding.base import Embedder


class Anchoring:
    """Opens the anchors of a snapshot once."""

    def __init__(self, paths: PalacePaths, config: Config) -> None:
        self._paths = paths
        self._config = config
        self._held: Book | None = None

    def of(self, snapshot: Snapshot) -> Book:
        """Return the anchors that a snapshot names."""
        from memory_palace.anchors.book import open_book

        if self._held is None or self._held.snapshot is not snapshot:
            settings, sources = self._config.anchors, self._config.sources
            self._held = open_book(self._paths.index, snapshot, settings, sources)
        return self._held

    def ask(self, query: Query, snapshot: Snapshot, notes: NDArray[np.bool_]) -> Query:
        """Add to a question what its anchors lead to, in the notes that its filters let pass."""
        from memory_palace.anchors.lookup import look_up

        book = self.of(snapshot)
        found = look_up(book, query.text, query.vector, now_ns=time.time_ns(), notes=notes)
        order = np.argsort(found.rows)
        anchors = AnchorEvidence(
            rows=found.rows[order],
            scores=found.anchor[order],
            path=found.path,
            fired=tuple(f"{anchor.display} ({anchor.how})" for anchor in found.fired),
            weights=(book.settings.anchor_weight, book.settings.query_weight),
        )
        return replace(query, anchors=anchors)

    def follow(
        self, hot: Snapshot, names: tuple[str, ...], embedder: Embedder, now_ns: int
    ) -> Followed:
        """Carry the anchors over to the next generation; return the names of its files.

        Damaged files are named and not used: there are no anchors then until `palace anchors
        build`, but the notes are indexed.
        """
        if not names:
            return Followed(())
        from memory_palace.anchors.corpus import Reader
        from memory_palace.anchors.update import Updater

        reader = Reader(self._paths.root, embedder, self._config.max_note_bytes)
        settings, sources = self._config.anchors, self._config.sources
        updater = Updater(self._paths.index, reader, settings, sources, now_ns)
        try:
            return Followed(updater.follow(hot, names))
        except IndexDamagedError as error:
            where = self._paths.index.relative_to(self._paths.root).as_posix()
            return Followed((), (Problem(where, None, "index", str(error)),))
