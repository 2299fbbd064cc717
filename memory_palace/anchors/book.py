"""The anchors of one generation, opened: terms by key, and rows by anchor."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from memory_palace.anchors.corpus import live_rows, row_keys
from memory_palace.anchors.policy import allowed_notes, denier, trust_per_note
from memory_palace.anchors.postings import key_table
from memory_palace.anchors.projects import active_projects
from memory_palace.anchors.terms import match_key
from memory_palace.anchors.tier import AnchorFiles, Keys, Tier
from memory_palace.config import AnchorSettings
from memory_palace.index.postings import NO_ROWS, PostingLookup
from memory_palace.index.snapshot import Snapshot
from memory_palace.notes.rooms import stem_of

LINKED_MOST = 50
"""Notes one link away that are looked at, per anchor."""
_NAMING = frozenset({"curated", "project", "entity"})
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
        built_with = tiers[0].sem_theta if tiers else 1.0
        self.sem_theta = built_with if settings.sem_theta is None else settings.sem_theta
        nothing = np.zeros((0, snapshot.commit.dimension), np.float32)
        self.matrix = np.concatenate([nothing, *(tier.matrix for tier in tiers)])
        rows = live_rows(snapshot)
        rows = rows[allowed_notes(snapshot.paths, settings)[snapshot.row_note[rows]]]
        keys = row_keys(snapshot)[rows]
        quarantined = np.concatenate([_NO_KEYS, *(tier.quarantined_keys for tier in tiers)])
        self.is_open = np.zeros(len(snapshot.row_note), np.bool_)
        self.is_open[rows[~np.isin(keys, quarantined)]] = True
        by_note = np.argsort(snapshot.row_note[rows], kind="stable")
        self._note_rows = rows[by_note]
        self._note_of = snapshot.row_note[self._note_rows]
        order = np.argsort(keys, kind="stable")
        self._rows_by_key, self._keys = rows[order], keys[order]
        self._arrange(quarantined)

    def _arrange(self, quarantined: Keys) -> None:
        """Turn entries by digest into rows by anchor, without what may not be reached."""
        parts = [tier.lists.entries() for tier in self.tiers]
        parts.append((NO_ROWS, _NO_KEYS, np.zeros(0, np.float32)))
        anchors, keys, scores = (np.concatenate(column) for column in zip(*parts, strict=True))
        is_kept = ~np.isin(keys, quarantined)
        anchors, keys, scores = anchors[is_kept], keys[is_kept], scores[is_kept]
        rows, counts = self._find_rows(keys)
        order = np.argsort(np.repeat(anchors, counts), kind="stable")
        owners = np.repeat(anchors, counts)[order]
        added_ns = AnchorFiles(self.tiers).added_ns(keys)
        self.starts = np.searchsorted(owners, np.arange(len(self.anchors) + 1))
        self.rows: NDArray[np.int64] = rows[order]
        self.scores: NDArray[np.float32] = np.repeat(scores, counts)[order]
        self.added_ns: NDArray[np.int64] = np.repeat(added_ns, counts)[order]

    def _find_rows(self, keys: Keys) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the rows of each passage one after the other, and how many each has."""
        first = np.searchsorted(self._keys, keys, "left")
        counts = np.searchsorted(self._keys, keys, "right") - first
        ends = np.cumsum(counts)
        places = np.arange(counts.sum()) - np.repeat(ends - counts - first, counts)
        return self._rows_by_key[places], counts

    def rows_below(self, folder: str) -> NDArray[np.int64]:
        """Return the rows of the notes below a folder that anchors may lead to."""
        paths = self.snapshot.paths
        first, last = bisect_left(paths, folder), bisect_left(paths, folder + "\U0010ffff")
        return self._rows_of_notes(np.arange(first, last))

    def rows_of_pair(self, pair: str) -> NDArray[np.int64]:
        """Return the rows that hold two telling words in a row, ascending."""
        keys = np.concatenate([_NO_KEYS, *(tier.pairs.find(pair) for tier in self.tiers)])
        return np.sort(self._find_rows(keys)[0])

    def rows_linked(self, place: int) -> NDArray[np.int64]:
        """Return the rows of the notes that the note with an anchor's title links to."""
        notes = {
            target
            for note in self._titles.get(self.anchors[place].key, ())
            for name in self._targets[note]
            for target in self._titles.get(match_key(name.rpartition("/")[2]), ())
        }
        return self._rows_of_notes(np.array(sorted(notes)[:LINKED_MOST], np.int64))

    def _rows_of_notes(self, notes: NDArray[np.int64]) -> NDArray[np.int64]:
        first = np.searchsorted(self._note_of, notes, "left").tolist()
        last = np.searchsorted(self._note_of, notes, "right").tolist()
        parts = [self._note_rows[a:b] for a, b in zip(first, last, strict=True)]
        return np.concatenate([NO_ROWS, *parts])

    @cached_property
    def _titles(self) -> dict[str, list[int]]:
        """The notes by the keys of their titles, stems and aliases."""
        found: dict[str, list[int]] = {}
        snapshot = self.snapshot
        names = zip(snapshot.paths, snapshot.titles, snapshot.aliases(), strict=True)
        for note, (path, title, aliases) in enumerate(names):
            for key in {match_key(name) for name in (title, stem_of(path), *aliases)}:
                found.setdefault(key, []).append(note)
        return found

    @cached_property
    def _targets(self) -> list[tuple[str, ...]]:
        return self.snapshot.link_targets()

    @cached_property
    def is_name(self) -> list[bool]:
        """Whether each anchor says what is meant: it is a name, or has several words.

        "The draft" beside "our" does not; a question with only such words may mean a project.
        """
        return [not _NAMING.isdisjoint(a.kinds) or " " in a.key for a in self.anchors]

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
