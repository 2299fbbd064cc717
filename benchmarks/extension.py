"""Baselines and ablations, registered through the public hook by whoever measures them."""

from __future__ import annotations

from memory_palace.signals import Extension, ProfileSettings, register

_BASELINES = Extension(
    "benchmarks",
    profiles={
        "fusion": ProfileSettings("bm25", weights={"dense": 1.0, "lexical": 0}),
        "bm25-passages": ProfileSettings("bm25", weights={"lexical": 1.0, "note_lexical": 0}),
    },
)


def add_baselines() -> None:
    """Register the baselines in this process."""
    register(_BASELINES)
