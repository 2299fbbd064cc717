"""``Palace.metabolism``."""

from __future__ import annotations

from memory_palace.features.metabolism import cycle
from memory_palace.palace import Feature, Verb


class Metabolism(Feature):
    """Distilling, promoting and archiving of notes."""

    report = Verb(cycle.take_report)
    distill = Verb(cycle.distill)
    promote = Verb(cycle.promote)
    eliminate = Verb(cycle.eliminate)
