"""Anchor files: the vocabulary with its vectors, and where each anchor leads.

Passages are known by the first eight bytes of their text digest, never by a row: segments may be
merged, and notes renamed or deleted, and no posting leads astray.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from memory_palace.anchors.terms import TermKind
from memory_palace.index.commit import check_companion, damaged_companion
from memory_palace.index.npz import map_arrays, write_arrays
from memory_palace.models import Matrix, Scores
from memory_palace.storage.atomic import write_content

Keys = NDArray[np.uint64]
"""First eight bytes of text digests."""

SCHEMA = 3
KINDS: tuple[TermKind, ...] = get_args(TermKind)
_FIGURES = ("fingerprint", "theta", "built_ns")


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

    @property
    def kind(self) -> TermKind:
        """The surest of its kinds."""
        return next((kind for kind in KINDS if kind in self.kinds), "name")


@dataclass(frozen=True, slots=True)
class Lists:
    """Where anchors lead: for anchor ``i`` the entries ``starts[i]`` to ``starts[i + 1]``."""

    starts: NDArray[np.int64]
    keys: Keys
    scores: Scores

    def entries(self) -> tuple[NDArray[np.int64], Keys, Scores]:
        """Return anchor, passage and score of every entry."""
        anchors = np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))
        return anchors, np.asarray(self.keys), np.asarray(self.scores)


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
    fingerprint: str
    theta: float
    built_ns: int
    pruned: tuple[Anchor, ...] = ()


@dataclass(frozen=True, slots=True)
class AnchorFiles:
    """The tiers of one generation, the nightly one first; there may be none."""

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


def write_tier(folder: Path, tier: Tier) -> str:
    """Write a tier and return its name; the commit record has to name it."""
    meta = {name: getattr(tier, name) for name in _FIGURES} | {
        "schema": SCHEMA,
        "anchors": [asdict(anchor) for anchor in tier.anchors],
        "pruned": [asdict(anchor) for anchor in tier.pruned],
    }
    text = json.dumps(meta, sort_keys=True, ensure_ascii=False).encode()

    arrays: dict[str, NDArray[Any]] = {
        "meta": np.frombuffer(text, np.uint8),
        "matrix": tier.matrix,
        "starts": tier.lists.starts,
        "keys": tier.lists.keys,
        "scores": tier.lists.scores,
        "covered": tier.covered,
    }
    members = {name: [array] for name, array in arrays.items()}
    return write_content(folder, lambda file: write_arrays(file, members), "anchors-{}.npz").stem


def read_tiers(folder: Path, names: Sequence[str]) -> tuple[Tier, ...]:
    """Read the tiers of a generation; none where another version wrote them.

    One that is not whole raises ``IndexDamagedError``, and is never used.
    """
    tiers = [_read_tier(folder, name) for name in names]
    return tuple(tier for tier in tiers if tier) if all(tiers) else ()


def _read_tier(folder: Path, name: str) -> Tier | None:
    path = check_companion(folder, name)
    try:
        arrays = map_arrays(path)
        meta = json.loads(arrays["meta"].tobytes())
        if meta["schema"] != SCHEMA:
            return None
    except (OSError, ValueError, KeyError) as error:
        raise damaged_companion(path, str(error)) from error
    return Tier(
        anchors=_anchors(meta["anchors"]),
        matrix=arrays["matrix"],
        lists=Lists(arrays["starts"], arrays["keys"], arrays["scores"]),
        covered=arrays["covered"],
        **{name: meta[name] for name in _FIGURES},
        pruned=_anchors(meta["pruned"]),
    )


def _anchors(records: Sequence[dict[str, Any]]) -> tuple[Anchor, ...]:
    return tuple(
        Anchor(**{**r, "kinds": tuple(r["kinds"]), "aliases": tuple(r["aliases"])}) for r in records
    )
