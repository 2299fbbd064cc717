"""What becomes of anchors from one nightly build to the next: active, fading, pruned."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from memory_palace.anchors.tier import Anchor
from memory_palace.anchors.vocabulary import Candidate

FADED_SHARE = 0.5
"""Below this share of its first salience an anchor fades."""
FADING_BUILDS = 3
"""After as many fading builds in a row it is pruned (source document 003)."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The anchors of a build in order of their keys, and those that were pruned."""

    anchors: tuple[Anchor, ...]
    pruned: tuple[Anchor, ...]


def renew(
    candidates: Mapping[str, Candidate],
    before: Iterable[Anchor],
    pruned: Iterable[Anchor],
    *,
    limit: int,
    now_ns: int,
) -> Vocabulary:
    """Carry anchors on, add the most salient new ones up to ``limit``, and prune.

    A curated anchor never fades. A pruned one comes back when it has more salience than when it
    was first discovered.
    """
    known = {anchor.key: anchor for anchor in before}
    gone = {anchor.key: anchor for anchor in pruned}
    for key in [key for key in gone if _is_back(candidates.get(key), gone[key])]:
        del gone[key]
    carried = {
        key: _carry(anchor, candidates.get(key))
        for key, anchor in known.items()
        if not (anchor.is_curated and key not in candidates)
    }
    for key, anchor in carried.items():
        if anchor.state == "pruned":
            gone[key] = anchor
    new = [key for key in candidates if key not in carried and key not in gone]
    live = {key: anchor for key, anchor in carried.items() if anchor.state != "pruned"}
    live |= {key: _discover(key, candidates[key], now_ns) for key in new}
    kept = sorted(live.values(), key=lambda a: (not a.is_curated, -a.salience, a.key))
    room = limit + sum(anchor.is_curated for anchor in kept)
    return Vocabulary(
        tuple(sorted(kept[:room], key=lambda anchor: anchor.key)),
        tuple(sorted(gone.values(), key=lambda anchor: anchor.key)),
    )


def _discover(key: str, candidate: Candidate, now_ns: int) -> Anchor:
    return Anchor(
        key, candidate.display, tuple(sorted(candidate.kinds)), tuple(sorted(candidate.aliases)),
        "active", candidate.salience, candidate.salience, 0, now_ns,
    )  # fmt: skip


def _is_back(candidate: Candidate | None, anchor: Anchor) -> bool:
    if candidate is None:
        return False
    return "curated" in candidate.kinds or candidate.salience > anchor.first_salience


def _carry(anchor: Anchor, candidate: Candidate | None) -> Anchor:
    if candidate is None:
        candidate = Candidate(anchor.display, set(anchor.kinds), set(anchor.aliases))
    first = anchor.first_salience or candidate.salience
    has_faded = candidate.salience < FADED_SHARE * first and "curated" not in candidate.kinds
    fading = anchor.fading + 1 if has_faded else 0
    state = "pruned" if fading >= FADING_BUILDS else "fading" if fading else "active"
    return replace(
        anchor,
        display=candidate.display,
        kinds=tuple(sorted(candidate.kinds)),
        aliases=tuple(sorted(candidate.aliases)),
        state=state,
        salience=candidate.salience,
        first_salience=first,
        fading=fading,
    )
