"""How a palace is, in the words of ``palace`` and of ``palace status``."""

from __future__ import annotations

from datetime import UTC, datetime

from memory_palace.cli.printing import plural
from memory_palace.index.status import IndexStatus


def describe_notes(status: IndexStatus) -> str:
    """Return how many notes and passages there are."""
    archived = f" ({status.cold:,} archived)" if status.cold else ""
    noun = "passage" if status.chunks == 1 else "passages"
    return f"{status.notes:,}{archived}, in {status.chunks:,} {noun}"


def describe_model(status: IndexStatus) -> str:
    """Return what compares by meaning, or that nothing does."""
    if status.awaiting:
        return f"{status.embedder}, so far of {status.chunks - status.awaiting:,} passages"
    return status.embedder if status.dimension else "none: words only, no meaning"


def describe_freshness(status: IndexStatus) -> str:
    """Return how far the index is behind the notes, and when it was built."""
    built = datetime.fromtimestamp(status.built_ns / 1e9, UTC)
    return f"{_compare(status)}, built {built:%Y-%m-%d %H:%M} UTC"


def _compare(status: IndexStatus) -> str:
    if status.freshness.state == "current":
        return "up to date"
    behind = status.freshness.behind
    return f"{plural(behind, 'note')} behind" if behind else "not compared with the notes"
