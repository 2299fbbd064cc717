"""One anchor file: the vocabulary with its vectors, and where each anchor leads.

Passages are known by the first eight bytes of their text digest, never by a row: segments may be
merged, and notes renamed or deleted, and no posting leads astray.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from memory_palace.anchors.pairs import NO_PAIRS, PairLists
from memory_palace.index.companions import check_companion, damaged_companion
from memory_palace.index.npz import map_arrays, write_arrays
from memory_palace.models import Matrix, Scores
from memory_palace.storage.atomic import write_content

Keys = NDArray[np.uint64]
"""First eight bytes of text digests."""

SCHEMA = 2


@dataclass(frozen=True, slots=True)
class Anchor:
    """A term of the vocabulary and its history."""

    key: str
    display: str
    kinds: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    """Other keys that trigger it."""
    state: str = "staged"
    """``staged`` until the first nightly build, then ``active`` or ``fading``; ``pruned`` ones
    are only remembered, so that they do not come back unchanged."""
    salience: float = 0.0
    first_salience: float = 0.0
    """What it was when discovered."""
    fading: int = 0
    """Builds in a row in which it had less than half of that."""
    since_ns: int = 0

    @property
    def is_curated(self) -> bool:
        """Whether a person put it into ``anchors.md``."""
        return "curated" in self.kinds


@dataclass(frozen=True, slots=True)
class Lists:
    """Where anchors lead: for anchor ``i`` the entries ``starts[i]`` to ``starts[i + 1]``."""

    starts: NDArray[np.int64]
    keys: Keys
    scores: Scores


@dataclass(frozen=True, slots=True)
class Tier:
    """A nightly build, or all updates since."""

    anchors: tuple[Anchor, ...]
    """Those that this file adds; an update's are staged."""
    matrix: Matrix
    """One vector per anchor, in the same order: there is an anchor for every row."""
    lists: Lists
    """Entries for the anchors of the nightly build, then for those staged since."""
    covered: Keys
    """Passages that were compared with every anchor, ascending."""
    added_ns: NDArray[np.int64]
    """When each covered passage came; zeros in a nightly build."""
    fingerprint: str
    theta: float
    sem_theta: float
    built_ns: int
    pairs: PairLists = NO_PAIRS
    pruned: tuple[Anchor, ...] = ()
    quarantined: tuple[str, ...] = ()
    """Passages that match implausibly many anchors, as ``path:line``."""
    quarantined_keys: Keys = field(default_factory=lambda: np.zeros(0, np.uint64))


def write_tier(folder: Path, tier: Tier) -> str:
    """Write a tier and return its name; the commit record has to name it."""
    meta = {
        "schema": SCHEMA,
        "fingerprint": tier.fingerprint,
        "theta": tier.theta,
        "sem_theta": tier.sem_theta,
        "built_ns": tier.built_ns,
        "anchors": [asdict(anchor) for anchor in tier.anchors],
        "pruned": [asdict(anchor) for anchor in tier.pruned],
        "quarantined": tier.quarantined,
    }
    text = json.dumps(meta, sort_keys=True, ensure_ascii=False).encode()

    def fill(file: BinaryIO) -> None:
        write_arrays(
            file,
            {
                "meta": [np.frombuffer(text, np.uint8)],
                "matrix": [tier.matrix],
                "starts": [tier.lists.starts],
                "keys": [tier.lists.keys],
                "scores": [tier.lists.scores],
                "pairs": [tier.pairs.pairs],
                "pair_starts": [tier.pairs.starts],
                "pair_passages": [tier.pairs.passages],
                "covered": [tier.covered],
                "added_ns": [tier.added_ns],
                "quarantined_keys": [tier.quarantined_keys],
            },
        )

    return write_content(folder, fill, "anchors-{}.npz").stem


def read_tier(folder: Path, name: str) -> Tier:
    """Read a tier. One that is not whole raises ``IndexDamagedError``, and is never used."""
    path = check_companion(folder, name)
    try:
        arrays = map_arrays(path)
        meta = json.loads(arrays["meta"].tobytes())
        if meta["schema"] != SCHEMA:
            raise ValueError("it was written by another version")
    except (OSError, ValueError, KeyError) as error:
        raise damaged_companion(path, str(error)) from error
    return Tier(
        anchors=_anchors(meta["anchors"]),
        matrix=arrays["matrix"],
        lists=Lists(arrays["starts"], arrays["keys"], arrays["scores"]),
        covered=arrays["covered"],
        added_ns=arrays["added_ns"],
        fingerprint=meta["fingerprint"],
        theta=meta["theta"],
        sem_theta=meta["sem_theta"],
        built_ns=meta["built_ns"],
        pairs=PairLists(arrays["pairs"], arrays["pair_starts"], arrays["pair_passages"]),
        pruned=_anchors(meta["pruned"]),
        quarantined=tuple(meta["quarantined"]),
        quarantined_keys=arrays["quarantined_keys"],
    )


def _anchors(records: Sequence[dict[str, Any]]) -> tuple[Anchor, ...]:
    return tuple(
        Anchor(**{**r, "kinds": tuple(r["kinds"]), "aliases": tuple(r["aliases"])}) for r in records
    )
