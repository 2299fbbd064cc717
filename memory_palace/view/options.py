"""What a plan of the palace is asked to hold."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ViewOptions:
    """Which notes a plan shows, and whether they keep their places."""

    room: str | None = None
    """Only this room, by the name the plan gives it; ``None`` for all."""
    max_notes: int | None = None
    """At most so many notes, those of priority and with many links first."""
    include_cold: bool = False
    relayout: bool = False
    """Forget the places that notes had, and lay the plan out anew."""
