"""Carry anchors over to another generation of the index: the episodic part.

What the nightly build covered stays. What came since is compared with every anchor, and offers
anchors of its own, which stay staged until the next nightly build. As passages are known by their
digest, a build that began before an update simply does not cover what the update brought.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from memory_palace.anchors.corpus import (
    AnchorWork,
    TermedPassage,
    distinct_rows,
    read_passages,
    row_keys,
)
from memory_palace.anchors.policy import denier
from memory_palace.anchors.postings import (
    Live,
    ScoredKeys,
    ScoredPairs,
    allowed_rows,
    connect,
    make_lists,
    score_pairs,
)
from memory_palace.anchors.tier import (
    Anchor,
    Lists,
    Tier,
    read_tiers,
    write_tier,
)
from memory_palace.index.postings import find_sorted
from memory_palace.index.snapshot import Snapshot
from memory_palace.models import Matrix

STAGED_PER_UPDATE = 64
_SLICE = 32
"""Anchors embedded at a time."""
_STAGED_KINDS = frozenset({"project", "entity", "title", "name"})


def follow_index(work: AnchorWork, hot: Snapshot, names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of the anchor files for a new generation, writing one if needed.

    Without a nightly build there is nothing to follow, nor where another version made it.
    """
    if not names:
        return ()
    folder = work.paths.index
    tiers = read_tiers(folder, names)
    if not tiers:
        return ()
    nightly, before = tiers if len(tiers) > 1 else (tiers[0], _empty_tier(tiers[0]))
    live = distinct_rows(hot)
    is_new = ~find_sorted(nightly.covered, live[0])[1]
    if np.array_equal(live[0][is_new], before.covered):
        return names
    if not is_new.any():
        return names[:1]
    return names[0], write_tier(folder, _extend(work, hot, nightly, before, live, is_new))


def _extend(
    work: AnchorWork,
    hot: Snapshot,
    nightly: Tier,
    before: Tier,
    live: Live,
    is_new: NDArray[np.bool_],
) -> Tier:
    keys, rows = live[0][is_new], live[1][is_new]
    is_old = find_sorted(before.covered, keys)[1]
    passages = read_passages(work, hot, rows[~is_old])
    staged = _stage(work, passages, (*nightly.anchors, *before.anchors))
    anchors = (*nightly.anchors, *before.anchors, *staged)
    new_matrix = embed_anchors(work, staged, {})
    matrix = np.concatenate([nightly.matrix, before.matrix, new_matrix])
    found = [connect(work, hot, anchors, matrix, passages, rows[~is_old], theta=nightly.theta)]
    if staged:
        everywhere = allowed_rows(work, hot, live[1])
        place, row, score = score_pairs(new_matrix, hot, everywhere, theta=nightly.theta)
        found.append((place + len(anchors) - len(staged), row, score))
    entries = _merge(hot, before, live, found)
    limit = work.config.anchors.k_max
    return replace(
        before,
        anchors=(*before.anchors, *staged),
        matrix=matrix[len(nightly.anchors) :],
        lists=make_lists(work, hot, live, entries, count=len(anchors), limit=limit),
        covered=keys,
    )


def _merge(hot: Snapshot, before: Tier, live: Live, found: Sequence[ScoredPairs]) -> ScoredKeys:
    """Join old entries that are still alive with new ones."""
    old, old_keys, old_scores = before.lists.entries()
    is_alive = find_sorted(live[0], old_keys)[1]
    return (
        np.concatenate([old[is_alive], *(anchors for anchors, _, _ in found)]),
        np.concatenate([old_keys[is_alive], *(row_keys(hot)[rows] for _, rows, _ in found)]),
        np.concatenate([old_scores[is_alive], *(scores for _, _, scores in found)]),
    )


def _stage(
    work: AnchorWork, passages: Sequence[TermedPassage], known: Sequence[Anchor]
) -> tuple[Anchor, ...]:
    """Return the terms of new passages that become anchors until the next nightly build."""
    taken = {key for anchor in known for key in (anchor.key, *anchor.aliases)}
    is_denied = denier(work.config.anchors.deny)
    staged: dict[str, Anchor] = {}
    for term in (term for passage in passages for term in passage.terms):
        is_open = term.kind in _STAGED_KINDS and not term.alias_of and term.key not in taken
        if is_open and not is_denied(term.display, term.key):
            anchor = Anchor(term.key, term.display, (term.kind,), since_ns=work.now_ns)
            staged.setdefault(term.key, anchor)
    return tuple(staged.values())[:STAGED_PER_UPDATE]


def embed_anchors(
    work: AnchorWork, anchors: Sequence[Anchor], known: Mapping[str, NDArray[np.float32]]
) -> Matrix:
    """Return one unit vector per anchor; only those that are not known are embedded."""
    missing = sorted({anchor.display for anchor in anchors if anchor.display not in known})
    made = dict(known)
    for start in range(0, len(missing), _SLICE):
        work.progress("embedding anchors", start, len(missing))
        part = missing[start : start + _SLICE]
        made |= dict(zip(part, work.embedder.embed_passages(part), strict=True))
    matrix: Matrix = np.zeros((len(anchors), work.embedder.dimension), np.float32)
    for place, anchor in enumerate(anchors):
        matrix[place] = made[anchor.display]
    return matrix


def _empty_tier(nightly: Tier) -> Tier:
    """Return the updates since a nightly build before there are any."""
    starts = np.zeros(len(nightly.anchors) + 1, np.int64)
    return Tier(
        anchors=(),
        matrix=nightly.matrix[:0],
        lists=Lists(starts, np.zeros(0, np.uint64), np.zeros(0, np.float32)),
        covered=np.zeros(0, np.uint64),
        fingerprint=nightly.fingerprint,
        theta=nightly.theta,
        built_ns=nightly.built_ns,
    )
