"""Differences of one family, between two sentences as they stand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from memory_palace.checking.alignment import align
from memory_palace.checking.differences import TESTS
from memory_palace.checking.verdicts import Difference
from memory_palace.checking.wording import Wording

Case: TypeAlias = tuple[str, str]
"""What a note says, and what is claimed."""


def find(note: str, claim: str, *tests: str) -> list[Difference]:
    """Return what the named tests find."""
    return list(_find(Wording(claim), Wording(note), tests))


def _find(claim: Wording, note: Wording, tests: tuple[str, ...]) -> Iterator[Difference]:
    alignment = align(claim, note)
    for name in tests:
        yield from TESTS[name](claim, note, alignment)
