"""Make the anchors of a palace anew: the nightly build, without a lock and without writing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memory_palace.anchors.corpus import (
    Passage,
    Reader,
    live_rows,
    read_curated,
    read_passages,
    row_keys,
)  # fmt: skip
from memory_palace.anchors.lifecycle import renew
from memory_palace.anchors.pairs import LEAST, collect_pairs, list_pairs
from memory_palace.anchors.policy import allowed_notes, denier, trust_per_note
from memory_palace.anchors.postings import find_mentions, key_table, make_lists, score_pairs
from memory_palace.anchors.terms import match_key
from memory_palace.anchors.tier import Anchor, Keys, Tier
from memory_palace.anchors.vocabulary import gather
from memory_palace.config import AnchorSettings
from memory_palace.index.calibration import SAMPLE, cross_cosines, find_tail, sample_rows
from memory_palace.index.snapshot import Snapshot
from memory_palace.models import Matrix

THETA_TAIL = 0.01
"""Of anchors against a sample of passages: one passage in a hundred is about an anchor."""
SEM_TAIL = 0.005
"""Of anchors against each other: a question fires what is nearer than most anchors are."""
QUARANTINE_SHARE = 0.25
"""A passage whose words match more anchors than a quarter of its words, and more than
``QUARANTINE_LEAST``, is a list made to be found; anchors do not lead to it."""
QUARANTINE_LEAST = 48


@dataclass(frozen=True, slots=True)
class Past:
    """The anchor files there were before a build."""

    tiers: tuple[Tier, ...] = ()

    @property
    def anchors(self) -> tuple[Anchor, ...]:
        """Anchors of the last nightly build, and those staged since."""
        return tuple(anchor for tier in self.tiers for anchor in tier.anchors)

    @property
    def pruned(self) -> tuple[Anchor, ...]:
        """What was pruned, ever."""
        return self.tiers[0].pruned if self.tiers else ()

    def vectors(self) -> dict[str, NDArray[np.float32]]:
        """Return the vectors that are known, by what is shown of their anchor."""
        return {
            anchor.display: vector
            for tier in self.tiers
            for anchor, vector in zip(tier.anchors, tier.matrix, strict=True)
        }

    def ages(self, keys: Keys) -> NDArray[np.int64]:
        """Return when each passage came, 0 where it was there from the start."""
        ages = np.zeros(len(keys), np.int64)
        for tier in self.tiers:
            if len(tier.covered):
                places = np.minimum(np.searchsorted(tier.covered, keys), len(tier.covered) - 1)
                is_known = tier.covered[places] == keys
                ages = np.where(is_known, np.maximum(ages, tier.added_ns[places]), ages)
        return ages


def build_tier(
    reader: Reader,
    snapshot: Snapshot,
    settings: AnchorSettings,
    past: Past,
    *,
    sources: Mapping[str, str],
    now_ns: int,
    theta: float | None = None,
) -> Tier:
    """Discover anchors, embed the new ones, and list where each leads.

    ``theta`` overrides the settings; without either it is calibrated.
    """
    keys, rows = distinct_rows(snapshot)
    passages = list(read_passages(reader, snapshot, rows))
    candidates = gather(
        passages,
        read_curated(reader),
        dates=snapshot.dates,
        links=count_links(snapshot),
        words=settings.vocabulary // 2,
        is_denied=denier(settings.deny),
    )
    vocabulary = renew(
        candidates, past.anchors, past.pruned, limit=settings.vocabulary, now_ns=now_ns
    )
    is_denied = denier(settings.deny)
    anchors = tuple(a for a in vocabulary.anchors if not is_denied(a.display, a.key))
    matrix = embed_anchors(reader, anchors, past.vectors())
    theta = theta if theta is not None else settings.theta
    theta = theta if theta is not None else calibrate_theta(matrix, snapshot)
    sem = settings.sem_theta
    mentions = find_mentions(passages, key_table(anchors))
    stuffed = find_stuffed(passages, mentions[1])
    reachable = rows[allowed_notes(snapshot.paths, settings)[snapshot.row_note[rows]]]
    reachable = np.setdiff1d(reachable, stuffed)
    inside = np.isin(mentions[1], reachable)
    pairs = score_pairs(
        matrix, snapshot, reachable, (mentions[0][inside], mentions[1][inside]), theta=theta
    )
    all_keys = row_keys(snapshot)
    return Tier(
        anchors=anchors,
        matrix=matrix,
        lists=make_lists(
            pairs[0],
            all_keys[pairs[1]],
            pairs[2],
            trust_per_note(snapshot.paths, sources)[snapshot.row_note[pairs[1]]],
            count=len(anchors),
            limit=settings.k,
        ),
        pairs=list_pairs(
            *collect_pairs((int(all_keys[p.row]), p.words) for p in passages), least=LEAST
        ),
        covered=keys,
        added_ns=past.ages(keys),
        fingerprint=snapshot.commit.fingerprint,
        theta=theta,
        sem_theta=sem if sem is not None else calibrate_sem_theta(matrix),
        built_ns=now_ns,
        pruned=vocabulary.pruned,
        quarantined=tuple(_place(snapshot, row) for row in stuffed.tolist()),
        quarantined_keys=np.sort(all_keys[stuffed]),
    )


def calibrate_theta(matrix: Matrix, snapshot: Snapshot) -> float:
    """Return the least cosine of anchor and passage, at two passages or more; else 0.

    A fixed one (.80 in source document 003) leaves the lists nearly empty with some models: with
    MiniLM one anchor in two hundred had any passage above it.
    """
    rows = sample_rows(snapshot)
    if not matrix.size or not len(rows):
        return 0.0
    cosines = thin_out(matrix) @ snapshot.rows_of(rows).T
    return round(max(find_tail(cosines.ravel().astype(np.float64), THETA_TAIL)[0], 0.0), 4)


def calibrate_sem_theta(matrix: Matrix) -> float:
    """Return the least cosine of question and anchor; 1 where there is nothing to compare."""
    sample = thin_out(matrix)
    if len(sample) < 2 or not matrix.shape[1]:
        return 1.0
    cosines = cross_cosines(sample, np.arange(len(sample)))
    return round(max(find_tail(cosines, SEM_TAIL)[0], 0.0), 4)


def thin_out(matrix: Matrix) -> Matrix:
    """Return every so many rows, about ``SAMPLE`` of them."""
    return matrix[:: max(len(matrix) // SAMPLE, 1)]


def distinct_rows(snapshot: Snapshot) -> tuple[Keys, NDArray[np.int64]]:
    """Return the key of every passage anchors may lead to, ascending, and one row of each."""
    rows = live_rows(snapshot)
    keys, firsts = np.unique(row_keys(snapshot)[rows], return_index=True)
    return keys, rows[firsts]


def count_links(snapshot: Snapshot) -> Mapping[str, int]:
    """Count the notes that link to each key."""
    return Counter(
        match_key(target.rpartition("/")[2].removesuffix(".md"))
        for targets in snapshot.link_targets()
        for target in targets
    )


def embed_anchors(
    reader: Reader, anchors: Sequence[Anchor], known: Mapping[str, NDArray[np.float32]]
) -> Matrix:
    """Return one unit vector per anchor; only those that are not known are embedded."""
    missing = sorted({anchor.display for anchor in anchors if anchor.display not in known})
    made = dict(known)
    if missing:
        made |= dict(zip(missing, reader.embedder.embed_passages(missing), strict=True))
    matrix: Matrix = np.zeros((len(anchors), reader.embedder.dimension), np.float32)
    for place, anchor in enumerate(anchors):
        matrix[place] = made[anchor.display]
    return matrix


def find_stuffed(
    passages: Sequence[Passage], mentioned_rows: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the rows of passages that match implausibly many anchors, ascending."""
    counts = Counter(mentioned_rows.tolist())
    stuffed = [
        passage.row
        for passage in passages
        if counts[passage.row] > QUARANTINE_LEAST
        and counts[passage.row] > QUARANTINE_SHARE * len(passage.words)
    ]
    return np.array(sorted(stuffed), np.int64)


def _place(snapshot: Snapshot, row: int) -> str:
    return f"{snapshot.paths[int(snapshot.row_note[row])]}:{int(snapshot.row_lines[row][0])}"
