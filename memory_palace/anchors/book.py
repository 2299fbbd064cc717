"""The anchors of one generation, opened: terms by key, and rows by anchor."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from memory_palace.anchors.active import active_projects
from memory_palace.anchors.build import Past
from memory_palace.anchors.corpus import live_rows, row_keys
from memory_palace.anchors.policy import allowed_notes, denier, trust_per_note
from memory_palace.anchors.postings import entries, key_table
from memory_palace.anchors.terms import match_key
from memory_palace.anchors.tier import Tier, read_tier
from memory_palace.config import AnchorSettings
from memory_palace.index.lookup import PostingLookup
from memory_palace.index.snapshot import Snapshot

LINKED_MOST = 50
"""Notes one link away that are looked at, per anchor."""


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
        self.anchors = Past(tiers).anchors
        self.table = key_table(self.anchors)
        built_with = tiers[0].sem_theta if tiers else 1.0
        self.sem_theta = built_with if settings.sem_theta is None else settings.sem_theta
        dimension = snapshot.commit.dimension
        self.matrix = np.concatenate(
            [np.zeros((0, dimension), np.float32), *(t.matrix for t in tiers)]
        )
        self._arrange()

    def _arrange(self) -> None:
        """Turn entries by digest into rows by anchor, without what may not be reached."""
        snapshot = self.snapshot
        rows = live_rows(snapshot)
        self.allowed = allowed_notes(snapshot.paths, self.settings)
        rows = rows[self.allowed[snapshot.row_note[rows]]]
        keys = row_keys(snapshot)[rows]
        note_of = snapshot.row_note[rows]
        by_note = np.argsort(note_of, kind="stable")
        self.is_open = np.zeros(len(snapshot.row_note), np.bool_)
        self.is_open[rows[~np.isin(keys, self.quarantined)]] = True
        self._note_rows, self._note_of = rows[by_note], note_of[by_note]
        order = np.argsort(keys, kind="stable")
        rows, keys = rows[order], keys[order]
        self._rows_by_key, self._keys = rows, keys
        parts = [entries(tier.lists) for tier in self.tiers]
        if not parts:
            parts = [(np.zeros(0, np.int64), np.zeros(0, np.uint64), np.zeros(0, np.float32))]
        anchors, wanted, scores = (np.concatenate(c) for c in zip(*parts, strict=True))
        is_shut = np.isin(wanted, self.quarantined)
        anchors, wanted, scores = anchors[~is_shut], wanted[~is_shut], scores[~is_shut]
        first = np.searchsorted(keys, wanted, "left")
        counts = np.searchsorted(keys, wanted, "right") - first
        anchors, scores = np.repeat(anchors, counts), np.repeat(scores, counts)
        ends = np.cumsum(counts)
        found = rows[np.arange(len(anchors)) - np.repeat(ends - counts - first, counts)]
        ages = np.repeat(Past(self.tiers).ages(wanted), counts)
        order = np.argsort(anchors, kind="stable")
        self.starts = np.searchsorted(anchors[order], np.arange(len(self.anchors) + 1))
        self.rows: NDArray[np.int64] = found[order]
        self.scores: NDArray[np.float32] = scores[order]
        self.added_ns: NDArray[np.int64] = ages[order]

    def rows_below(self, folder: str) -> NDArray[np.int64]:
        """Return the rows of the notes below a folder that anchors may lead to."""
        paths = self.snapshot.paths
        first, last = bisect_left(paths, folder), bisect_left(paths, folder + "\U0010ffff")
        part = slice(*np.searchsorted(self._note_of, [first, last]).tolist())
        rows: NDArray[np.int64] = self._note_rows[part]
        return rows

    def rows_of_pair(self, pair: str) -> NDArray[np.int64]:
        """Return the rows that hold two telling words in a row, ascending."""
        found = [keys for tier in self.tiers if len(keys := tier.pairs.find(pair))]
        if not found:
            return self._rows_by_key[:0]
        wanted = np.concatenate(found)
        first = np.searchsorted(self._keys, wanted, "left").tolist()
        last = np.searchsorted(self._keys, wanted, "right").tolist()
        parts = [self._rows_by_key[a:b] for a, b in zip(first, last, strict=True)]
        return np.sort(np.concatenate([self._rows_by_key[:0], *parts]))

    def rows_linked(self, place: int) -> NDArray[np.int64]:
        """Return the rows of the notes that the note with an anchor's title links to."""
        notes = sorted(
            {
                target
                for note in self._titles.get(self.anchors[place].key, ())
                for name in self._targets[note]
                for target in self._titles.get(match_key(name.rpartition("/")[2]), ())
            }
        )
        first = np.searchsorted(self._note_of, notes, "left").tolist()
        last = np.searchsorted(self._note_of, notes, "right").tolist()
        parts = [self._note_rows[a:b] for a, b in zip(first, last, strict=True)]
        return np.concatenate([np.zeros(0, np.int64), *parts[:LINKED_MOST]])

    @cached_property
    def _titles(self) -> dict[str, list[int]]:
        """The notes by the keys of their titles, stems and aliases."""
        found: dict[str, list[int]] = {}
        snapshot = self.snapshot
        names = zip(snapshot.paths, snapshot.titles, snapshot.aliases(), strict=True)
        for note, (path, title, aliases) in enumerate(names):
            stem = path.rpartition("/")[2].removesuffix(".md")
            for key in {match_key(name) for name in (title, stem, *aliases)}:
                found.setdefault(key, []).append(note)
        return found

    @cached_property
    def _targets(self) -> list[tuple[str, ...]]:
        return self.snapshot.link_targets()

    @cached_property
    def quarantined(self) -> NDArray[np.uint64]:
        """Keys of passages that anchors do not lead to."""
        return np.concatenate([np.zeros(0, np.uint64), *(t.quarantined_keys for t in self.tiers)])

    @cached_property
    def names(self) -> NDArray[np.bool_]:
        """Whether each anchor says what is meant: it is a name, or has several words.

        "The draft" beside "our" does not; a question with only such words may mean a project.
        """
        kinds = {"curated", "project", "entity"}
        flags = [bool(kinds & {*a.kinds}) or " " in a.key for a in self.anchors]
        return np.array(flags, np.bool_)

    @cached_property
    def postings(self) -> PostingLookup:
        """The posting lists of words."""
        return PostingLookup(self.snapshot, "words")

    @cached_property
    def denied(self) -> NDArray[np.bool_]:
        """Whether each anchor is denied now, whatever was allowed when it was built."""
        if self.is_denied is None:
            return np.zeros(len(self.anchors), np.bool_)
        flags = [self.is_denied(anchor.display, anchor.key) for anchor in self.anchors]
        return np.array(flags, np.bool_)

    @cached_property
    def is_denied(self) -> Callable[[str, str], bool] | None:
        """What says of display and key whether a term is denied; ``None`` where none is."""
        return denier(self.settings.deny) if self.settings.deny else None

    @cached_property
    def trust(self) -> NDArray[np.float32]:
        """What scores are multiplied by, per note."""
        return trust_per_note(self.snapshot.paths, self.sources)

    @cached_property
    def projects(self) -> tuple[str, ...]:
        """Folders of the active projects."""
        return active_projects(self.snapshot)


def open_book(
    folder: Path, snapshot: Snapshot, settings: AnchorSettings, sources: Mapping[str, str]
) -> Book:
    """Open the anchors that a generation names; there may be none."""
    tiers = tuple(read_tier(folder, name) for name in snapshot.commit.anchors)
    return Book(tiers, snapshot, settings, sources)
