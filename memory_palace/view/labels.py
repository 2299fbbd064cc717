"""The words that tell a group of notes from others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class LabelText(NamedTuple):
    """What a note offers for the label of its group."""

    title: str
    tags: tuple[str, ...]
    text: str


def label_groups(texts: Sequence[LabelText], groups: Sequence[int], count: int) -> list[str]:
    """Return a label for each of ``count`` groups; ``groups`` has that of each text, or -1."""
    del texts, groups
    return [""] * count
