"""What the index keeps of how long a note, or a claim in it, holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from memory_palace.models import ALWAYS, Validity


def validity_line(validity: Validity) -> list[Any]:
    """Return what is kept of a validity, nothing of one that says nothing."""
    if validity == ALWAYS:
        return []
    return [validity.valid_from, validity.valid_until, list(validity.superseded_by)]


def read_validity(line: Sequence[Any]) -> Validity:
    """Return the validity of a line."""
    first, last, heirs = line
    return Validity(first, last, tuple(heirs))
