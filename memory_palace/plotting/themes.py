"""Colours of pictures on light and on dark paper."""

from __future__ import annotations

from dataclasses import dataclass

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
DASHES = ((1, 0), (5, 2), (1, 1.5), (6, 2, 1, 2), (3, 1, 1, 1, 1, 1))
"""On and off, in widths of the line: lines differ where paper is printed grey."""


@dataclass(frozen=True, slots=True)
class Theme:
    """Colours as ``#rrggbb``."""

    name: str
    paper: str
    ink: str
    dim: str
    """Of axes and numbers on them: contrast 4.5 at least."""
    grid: str
    colours: tuple[str, ...]
    """Of series. They differ in lightness as well: least CIELAB difference 40 between any two, for
    every colour vision that the tests simulate, found by a random search."""

    def colour(self, place: int) -> str:
        """Return the colour of a series; they repeat, with other markers and dashes."""
        return self.colours[place % len(self.colours)]


LIGHT = Theme(
    name="light",
    paper="#ffffff",
    ink="#1b2026",
    dim="#59636e",
    grid="#dfe3e8",
    colours=("#0436e8", "#b37c00", "#28977b", "#7464c0", "#633209", "#053648"),
)
DARK = Theme(
    name="dark",
    paper="#14171c",
    ink="#e8eaed",
    dim="#a2abb5",
    grid="#31373f",
    colours=("#8ab2ff", "#b55506", "#78ab9b", "#6655ff", "#fff31b", "#daf69c"),
)
THEMES = (LIGHT, DARK)
