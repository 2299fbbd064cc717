"""The anchors of one generation, opened: terms by key, and rows by anchor."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from memory_palace.anchors.corpus import live_rows, row_keys
from memory_palace.anchors.policy import allowed_notes, denier, source_of, trust_per_note
from memory_palace.anchors.postings import key_table
from memory_palace.anchors.projects import active_projects
from memory_palace.anchors.tier import AnchorFiles, Keys, Tier
from memory_palace.index.postings import NO_ROWS
from memory_palace.index.snapshot import Snapshot
from memory_palace.models import Matrix, Scores
from memory_palace.ranking import AnchorSettings

_NO_KEYS: Keys = np.zeros(0, np.uint64)


class Book:
    """What a lookup needs, arranged once per generation so that no lookup walks the palace."""

    def __init__(
        self,
        tiers: tuple[Tier, ...],
        snapshot: Snapshot,
        settings: AnchorSettings,
        sources: Mapping[str, str],
    ) -> None:
        self.snapshot = snapshot
        self.settings = settings
        self.sources = sources
        self.tiers = tiers
        self.anchors = AnchorFiles(tiers).anchors
        self.table = key_table(self.anchors)
        rows = live_rows(snapshot)
        self.open_rows = rows[allowed_notes(snapshot.paths, settings)[snapshot.row_note[rows]]]
        """Rows that may come to mind: of live notes, not private, not cold, allowed; ascending."""
        self._arrange()

    def _arrange(self) -> None:
        """Turn entries by digest into rows by anchor, without what may not be reached."""
        parts = [tier.lists.entries() for tier in self.tiers]
        parts.append((NO_ROWS, _NO_KEYS, np.zeros(0, np.float32)))
        anchors, keys, scores = (np.concatenate(column) for column in zip(*parts, strict=True))
        rows, counts = self._find_rows(keys)
        order = np.argsort(np.repeat(anchors, counts), kind="stable")
        owners = np.repeat(anchors, counts)[order]
        self.starts = np.searchsorted(owners, np.arange(len(self.anchors) + 1))
        self.rows: NDArray[np.int64] = rows[order]
        self.scores: NDArray[np.float32] = np.repeat(scores, counts)[order]

    def _find_rows(self, keys: Keys) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the rows of each passage one after the other, and how many each has."""
        known = row_keys(self.snapshot)[self.open_rows]
        order = np.argsort(known, kind="stable")
        known, by_key = known[order], self.open_rows[order]
        first = np.searchsorted(known, keys, "left")
        counts = np.searchsorted(known, keys, "right") - first
        ends = np.cumsum(counts)
        places = np.arange(counts.sum()) - np.repeat(ends - counts - first, counts)
        return by_key[places], counts

    @cached_property
    def matrix(self) -> Matrix:
        """One vector per anchor, in the same order."""
        nothing = np.zeros((0, self.snapshot.commit.dimension), np.float32)
        return np.concatenate([nothing, *(tier.matrix for tier in self.tiers)])

    def entries_of(self, place: int) -> tuple[NDArray[np.int64], Scores]:
        """Return the rows that an anchor leads to, and how surely it leads to each."""
        part = slice(int(self.starts[place]), int(self.starts[place + 1]))
        return self.rows[part], self.scores[part]

    def notes_of(self, place: int) -> list[str]:
        """Return the paths of the notes that an anchor leads to, the surest first."""
        rows, scores = self.entries_of(place)
        order = np.lexsort((rows, -scores))
        notes = dict.fromkeys(self.snapshot.row_note[rows[order]].tolist())
        return [self.snapshot.paths[note] for note in notes]

    def rows_below(self, folder: str) -> NDArray[np.int64]:
        """Return the rows of the notes below a folder that anchors may lead to."""
        paths = self.snapshot.paths
        first, last = bisect_left(paths, folder), bisect_left(paths, folder + "\U0010ffff")
        notes = self.snapshot.row_note[self.open_rows]
        return self.open_rows[(notes >= first) & (notes < last)]

    @cached_property
    def denied(self) -> NDArray[np.bool_]:
        """Whether each anchor is denied now, whatever was allowed when it was built."""
        is_denied = denier(self.settings.deny)
        flags = [is_denied(anchor.display, anchor.key) for anchor in self.anchors]
        return np.array(flags, np.bool_)

    @cached_property
    def trust(self) -> NDArray[np.float32]:
        """What scores are multiplied by, per note."""
        return trust_per_note(self.snapshot.paths, self.sources)

    @cached_property
    def capped(self) -> tuple[str, ...]:
        """The source of each note that may fill only part of an answer, else empty."""
        if not self.sources:
            return ()
        paths, rooms = self.snapshot.paths, self.snapshot.room_map
        return tuple(
            "" if trust == 1 else source_of(path, self.sources, rooms)
            for path, trust in zip(paths, self.trust.tolist(), strict=True)
        )

    @cached_property
    def projects(self) -> tuple[str, ...]:
        """Folders of the active projects."""
        return active_projects(self.snapshot)
