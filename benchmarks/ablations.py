"""The configurations of source document 001, and the shipped profile without each part."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from benchmarks.systems import add_baselines
from memory_palace.features.structure.signals import LOW_PRECISION
from memory_palace.retrieval.signals import PROFILES, Profile

ADDED = 0.1
"""What a standard deviation of structure is tried at; that of words weighs .3 in ``hybrid``."""
CAP = 0.3
"""The upper end of what the source document gives for the sum of low-precision boosts, here of the
nearness of a passage a standard deviation above the mean."""
_NAMES = {
    "keyword": "lexical",
    "logic": "logic",
    "preference": "preference",
    "noun phrase": "noun_phrase",
    "temporal": "temporal",
    "quoted": "quoted",
    "name": "name",
    "temporal phrase": "temporal_phrase",
}


def configurations() -> Iterator[Profile]:
    """Yield vector, vector with one signal each, everything, and everything without a guard."""
    add_baselines()
    vector = Profile("vector", {"dense": 1.0})
    yield vector
    for name, signal in _NAMES.items():
        yield replace(vector, name=f"+{name}", weights={**vector.weights, signal: ADDED})
    weights = {**vector.weights, **dict.fromkeys(_NAMES.values(), ADDED), "anchoring": 0.5}
    full = Profile("full", weights, capped=frozenset(LOW_PRECISION), cap=CAP, preserves_rank=True)
    yield full
    yield replace(full, name="full-cap", capped=frozenset())
    yield replace(full, name="full-anchoring", weights=_without(weights, "anchoring"))
    yield replace(full, name="full-preservation", preserves_rank=False)


def without_each() -> Iterator[Profile]:
    """Yield the shipped profile, and it without each signal, and with each it leaves out."""
    shipped = PROFILES["hybrid"]
    yield shipped
    for signal in shipped.weights:
        yield replace(shipped, name=f"hybrid-{signal}", weights=_without(shipped.weights, signal))
    for signal in _NAMES.values():
        if signal not in shipped.weights:
            weights = {**shipped.weights, signal: ADDED}
            yield replace(shipped, name=f"hybrid+{signal}", weights=weights)
    anchored = {**shipped.weights, "anchoring": 0.5}
    yield replace(shipped, name="hybrid+anchoring", weights=anchored)
    yield replace(shipped, name="hybrid+preservation", preserves_rank=True)


def _without(weights: Mapping[str, float], signal: str) -> dict[str, float]:
    return {name: weight for name, weight in weights.items() if name != signal}
