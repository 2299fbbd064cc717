"""What settings may say of a ranking: its signals and profiles by name, and its anchors.

Here are names alone, so that settings can be checked without loading what ranks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

SIGNALS: Mapping[str, str] = {
    name: module
    for module, names in {
        "table": "semantic dense note_dense lexical note_lexical covered replied asked_kind "
        "beside_words beside_meaning speaker statement called titled anchor anchoring questions "
        "question_words recency importance",
        "time": "temporal dated",
    }.items()
    for name in names.split()
}
"""The module of ``retrieval.signals`` in which the function of each name stands. It is imported
when a profile first asks: reading a question costs as much as answering it. Others are registered
through ``memory_palace.signals``."""

METADATA = frozenset({"recency", "importance"})
"""Those that say nothing about the question: without a gate a fresh note beats the right one."""

OF_VECTORS = frozenset(
    {"semantic", "dense", "note_dense", "beside_meaning", "anchoring", "questions"}
)
"""Signals that are silent without vectors."""

SHIPPED = ("compound", "raw", "hybrid", "anchors", "bm25")
"""Names of ``retrieval.profiles.PROFILES``, in that order; extensions have others."""

DEFAULT_PROFILE = "hybrid"
"""It answers notes best; the measurements are in references/decisions.md."""


@dataclass(frozen=True, slots=True)
class ProfileSettings:
    """A profile as an extension has it. ``None`` is inherited from the profile it extends."""

    extends: str | None = None
    weights: Mapping[str, float] = field(default_factory=dict)
    """By signal; 0 takes one away from what is extended."""
    gated: tuple[str, ...] | None = None
    capped: tuple[str, ...] | None = None
    cap: float | None = None
    preserve_rank: bool | None = None


TRUST: Mapping[str, float] = {"own": 1.0, "import": 0.8, "untrusted": 0.5}
"""What the anchor score of a passage is multiplied by, per level of trust in its source."""


@dataclass(frozen=True, slots=True)
class AnchorSettings:
    """Parameters of anchors, with the defaults of source document 003 where it names any."""

    k: int = 20
    """Passages per anchor, at a nightly build."""
    k_max: int = 50
    """Passages per anchor, with those of later updates."""
    max_chunks: int = 30
    """Passages that one lookup returns at most."""
    theta: float | None = None
    """Least cosine of anchor and passage; ``None`` is calibrated per embedder."""
    vocabulary: int = 400
    """Discovered anchors at most, and one per eight passages; curated ones do not count."""
    deny: tuple[str, ...] = ()
    """Anchors that never trigger."""
    allow: tuple[str, ...] = ()
    """Path prefixes that anchors may lead to; empty means all."""
    source_cap: float = 0.34
    """Largest share of an answer that one source below trust ``own`` may fill."""
