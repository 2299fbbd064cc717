"""Colours of pictures can be seen on their paper, and told apart by everybody."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from memory_palace.plotting.themes import DASHES, LIGHT, MARKERS, THEMES

LEAST_CONTRAST = 3.0
"""Of a mark against its paper (WCAG 2.2, 1.4.11)."""
_VISION = {
    "trichromacy": np.eye(3),
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
}
"""On linear RGB: Machado, Oliveira and Fernandes 2009, table 1, severity 1."""
_TO_XYZ = np.array(
    [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
)  # IEC 61966-2-1
_WHITE = np.array([0.95047, 1.0, 1.08883])


def see(colour, vision):
    """Return CIELAB as somebody with this vision sees a colour (CIE 15:2004)."""
    share = np.array([int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    linear = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
    xyz = _TO_XYZ @ np.clip(np.array(_VISION[vision]) @ linear, 0, 1) / _WHITE
    x, y, z = np.where(xyz > (6 / 29) ** 3, np.cbrt(xyz), xyz * (29 / 6) ** 2 / 3 + 4 / 29)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def find_luminance(colour: str) -> float:
    """Return the relative luminance of a colour, 0 to 1 (WCAG 2.2)."""
    red, green, blue = (_linear(int(colour[at : at + 2], 16) / 255) for at in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def find_contrast(first: str, second: str) -> float:
    """Return the contrast of two colours, 1 to 21 (WCAG 2.2)."""
    low, high = sorted((find_luminance(first), find_luminance(second)))
    return (high + 0.05) / (low + 0.05)


def _linear(share: float) -> float:
    return share / 12.92 if share <= 0.04045 else float(((share + 0.055) / 1.055) ** 2.4)


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
def test_every_colour_can_be_seen_on_its_paper(theme):
    for colour in theme.colours:
        assert find_contrast(colour, theme.paper) >= LEAST_CONTRAST
    assert find_contrast(theme.dim, theme.paper) >= 4.5
    assert find_contrast(theme.ink, theme.paper) >= 12


def test_both_papers_give_like_contrast():
    least = [min(find_contrast(c, theme.paper) for c in theme.colours) for theme in THEMES]
    assert max(least) / min(least) < 1.2
    ink = [find_contrast(theme.ink, theme.paper) for theme in THEMES]
    assert max(ink) / min(ink) < 1.2


@pytest.mark.parametrize("vision", _VISION)
@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
def test_no_two_colours_are_alike_to_anybody(theme, vision):
    for first, second in combinations(theme.colours, 2):
        assert np.linalg.norm(see(first, vision) - see(second, vision)) >= 38


def test_series_differ_without_colour():
    count = len(LIGHT.colours) * 4
    looks = {(MARKERS[n % len(MARKERS)], DASHES[n % len(DASHES)]) for n in range(count)}
    assert len(looks) == count


def test_contrast_is_that_of_the_guidelines():
    assert find_contrast("#000000", "#ffffff") == pytest.approx(21)
    assert find_contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)
