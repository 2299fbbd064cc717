"""Anchors over builds."""

from __future__ import annotations

from memory_palace.anchors.tier import Anchor
from memory_palace.anchors.vocabulary import Candidate, renew


def candidate(salience: float, kind: str = "bold") -> Candidate:
    return Candidate("Term", {kind}, set(), {0}, 1, salience)


def nights(saliences: list[float | None], kind: str = "bold") -> tuple[list[str], list[str]]:
    """Return the state after each night, and what was pruned in the end."""
    anchors: tuple[Anchor, ...] = ()
    pruned: tuple[Anchor, ...] = ()
    states = []
    for salience in saliences:
        found = {} if salience is None else {"term": candidate(salience, kind)}
        anchors, pruned = renew(found, anchors, pruned, limit=10, now_ns=1)
        states.append(anchors[0].state if anchors else "gone")
    return states, [anchor.key for anchor in pruned]


def test_an_anchor_below_half_of_its_first_salience_is_pruned_after_three_builds() -> None:
    assert nights([1.0, 0.4, 0.4, 0.4]) == (["active", "fading", "fading", "gone"], ["term"])


def test_an_anchor_that_recovers_starts_anew() -> None:
    states, pruned = nights([1.0, 0.4, 0.4, 0.6, 0.4, 0.4])
    assert states == ["active", "fading", "fading", "active", "fading", "fading"]
    assert not pruned


def test_a_curated_anchor_is_never_pruned() -> None:
    assert nights([1.0, *[0.0] * 9], "curated") == (["active"] * 10, [])


def test_a_pruned_anchor_comes_back_only_with_more_than_it_began_with() -> None:
    assert nights([1.0, 0.1, 0.1, 0.1, 0.9])[0][-1] == "gone"
    assert nights([1.0, 0.1, 0.1, 0.1, 1.1])[0][-1] == "active"


def test_a_term_that_vanished_fades_too() -> None:
    assert nights([1.0, None, None, None])[0] == ["active", "fading", "fading", "gone"]


def test_curated_anchors_do_not_count_towards_the_limit() -> None:
    found = {f"t{n}": candidate(float(n)) for n in range(20)}
    found["own"] = candidate(0.0, "curated")
    anchors, _ = renew(found, (), (), limit=10, now_ns=1)
    assert len(anchors) == 11
    assert "own" in {anchor.key for anchor in anchors}
