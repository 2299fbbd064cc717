"""Carry anchors over to another generation of the index: the episodic part.

What the nightly build covered stays. What came since is compared with every anchor, and offers
anchors of its own, which stay staged until the next nightly build. As passages are known by their
digest, a build that began before an update simply does not cover what the update brought.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from memory_palace.anchors.build import distinct_rows, embed_anchors, find_stuffed
from memory_palace.anchors.corpus import Passage, Reader, read_passages, row_keys
from memory_palace.anchors.pairs import NO_PAIRS, PairLists, collect_pairs, list_pairs
from memory_palace.anchors.policy import allowed_notes, denier, trust_per_note
from memory_palace.anchors.postings import (
    entries,
    find_mentions,
    key_table,
    make_lists,
    score_pairs,
)  # fmt: skip
from memory_palace.anchors.tier import Anchor, Keys, Lists, Tier, read_tier, write_tier
from memory_palace.config import AnchorSettings
from memory_palace.index.snapshot import Snapshot

Live = tuple[Keys, NDArray[np.int64]]
"""The key of every passage, ascending, and one row of each."""
STAGED_PER_UPDATE = 64
_STAGED_KINDS = frozenset({"project", "entity", "title", "heading", "bold", "name"})


@dataclass(frozen=True, slots=True)
class Updater:
    """What following the index takes."""

    folder: Path
    reader: Reader
    settings: AnchorSettings
    sources: Mapping[str, str]
    now_ns: int

    def follow(self, hot: Snapshot, names: tuple[str, ...]) -> tuple[str, ...]:
        """Return the names of the anchor files for a new generation, writing one if needed.

        Without a nightly build there is nothing to follow.
        """
        if not names:
            return ()
        nightly = read_tier(self.folder, names[0])
        before = read_tier(self.folder, names[1]) if len(names) > 1 else _nothing(nightly)
        live = distinct_rows(hot)
        is_new = ~_contains(nightly.covered, live[0])
        if np.array_equal(live[0][is_new], before.covered):
            return names
        if not is_new.any():
            return names[:1]
        tier = self._extend(hot, nightly, before, live, is_new)
        return (names[0], write_tier(self.folder, tier))

    def _extend(
        self, hot: Snapshot, nightly: Tier, before: Tier, live: Live, is_new: NDArray[np.bool_]
    ) -> Tier:
        keys, rows = live[0][is_new], live[1][is_new]
        fresh = rows[~_contains(before.covered, keys)]
        passages = list(read_passages(self.reader, hot, fresh))
        staged = self._stage(passages, (*nightly.anchors, *before.anchors))
        anchors = (*nightly.anchors, *before.anchors, *staged)
        new_matrix = embed_anchors(self.reader, staged, {})
        matrix = np.concatenate([nightly.matrix, before.matrix, new_matrix])
        mentions = find_mentions(passages, key_table(anchors))
        stuffed = find_stuffed(passages, mentions[1])
        fresh = np.setdiff1d(self._reachable(hot, fresh), stuffed)
        inside = np.isin(mentions[1], fresh)
        held = (mentions[0][inside], mentions[1][inside])
        theta = nightly.theta
        found = [score_pairs(matrix, hot, fresh, held, theta=theta)]
        if staged:
            nobody = (np.zeros(0, np.int64), np.zeros(0, np.int64))
            place, row, score = score_pairs(
                new_matrix, hot, self._reachable(hot, live[1]), nobody, theta=theta
            )
            found.append((place + len(anchors) - len(staged), row, score))
        lists = self._merge(hot, before, live, found, len(anchors))
        ages = np.full(len(keys), self.now_ns, np.int64)
        is_old = _contains(before.covered, keys)
        ages[is_old] = before.added_ns[np.searchsorted(before.covered, keys[is_old])]
        all_keys = row_keys(hot)
        return replace(
            before,
            anchors=(*before.anchors, *staged),
            matrix=matrix[len(nightly.anchors) :],
            lists=lists,
            pairs=self._pair_lists(before, keys, passages, all_keys),
            covered=keys,
            added_ns=ages,
            quarantined=(
                *before.quarantined,
                *(hot.paths[int(hot.row_note[row])] for row in stuffed.tolist()),
            ),
            quarantined_keys=np.union1d(before.quarantined_keys, all_keys[stuffed]),
        )

    def _merge(
        self,
        hot: Snapshot,
        before: Tier,
        live: Live,
        found: list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float32]]],
        count: int,
    ) -> Lists:
        """Join old entries that are still alive with new ones, best first, ``k_max`` at most."""
        anchors, old_keys, scores = entries(before.lists)
        is_alive = _contains(live[0], old_keys)
        trust = trust_per_note(hot.paths, self.sources)[hot.row_note[live[1]]]
        all_keys = row_keys(hot)
        parts = [(anchors[is_alive], old_keys[is_alive], scores[is_alive])]
        parts += [(anchor, all_keys[row], score) for anchor, row, score in found]
        joined = [np.concatenate(column) for column in zip(*parts, strict=True)]
        place = np.searchsorted(live[0], joined[1])
        return make_lists(
            joined[0], joined[1], joined[2], trust[place], count=count, limit=self.settings.k_max
        )

    def _pair_lists(
        self, before: Tier, keys: Keys, passages: list[Passage], all_keys: Keys
    ) -> PairLists:
        """Join the pairs of what is still covered with those of what is new."""
        pairs, held = before.pairs.entries()
        is_alive = _contains(keys, held)
        new = collect_pairs((int(all_keys[p.row]), p.words) for p in passages)
        return list_pairs(
            np.concatenate([pairs[is_alive], new[0]]), np.concatenate([held[is_alive], new[1]])
        )

    def _reachable(self, hot: Snapshot, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        allowed = allowed_notes(hot.paths, self.settings)
        reachable: NDArray[np.int64] = rows[allowed[hot.row_note[rows]]]
        return reachable

    def _stage(self, passages: list[Passage], known: tuple[Anchor, ...]) -> tuple[Anchor, ...]:
        taken = {key for anchor in known for key in (anchor.key, *anchor.aliases)}
        is_denied = denier(self.settings.deny)
        staged: dict[str, Anchor] = {}
        for passage in passages:
            for term in passage.terms:
                is_open = term.kind in _STAGED_KINDS and not term.alias_of
                if is_open and term.key not in taken and not is_denied(term.display, term.key):
                    staged.setdefault(
                        term.key,
                        Anchor(term.key, term.display, (term.kind,), since_ns=self.now_ns),
                    )
        return tuple(staged.values())[:STAGED_PER_UPDATE]


def _contains(ordered: Keys, keys: Keys) -> NDArray[np.bool_]:
    if not len(ordered):
        return np.zeros(len(keys), np.bool_)
    places = np.minimum(np.searchsorted(ordered, keys), len(ordered) - 1)
    contained: NDArray[np.bool_] = ordered[places] == keys
    return contained


def _nothing(nightly: Tier) -> Tier:
    return replace(
        nightly,
        anchors=(),
        matrix=nightly.matrix[:0],
        lists=Lists(
            np.zeros(len(nightly.anchors) + 1, np.int64),
            np.zeros(0, np.uint64),
            np.zeros(0, np.float32),
        ),
        pairs=NO_PAIRS,
        covered=np.zeros(0, np.uint64),
        added_ns=np.zeros(0, np.int64),
        pruned=(),
        quarantined=(),
        quarantined_keys=np.zeros(0, np.uint64),
    )
