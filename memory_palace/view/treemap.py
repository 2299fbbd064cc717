"""Where rooms lie: a squarified treemap at first, and places beside it for rooms that come later.

Bruls, Huizing and van Wijk, "Squarified treemaps" (2000).
"""

from __future__ import annotations

from collections.abc import Sequence

from memory_palace.view.grid import MILLION, Extent

PLAN = Extent(0, 0, MILLION, 640_000)
"""What a plan fills when it is first laid out: about the shape of a screen."""
CORRIDOR = 14_000
"""Width of a corridor."""


def squarify(weights: Sequence[float], whole: Extent = PLAN) -> list[Extent]:
    """Divide a rectangle in proportion to the weights, the greatest first; return them in order."""
    order = sorted(range(len(weights)), key=lambda place: (-weights[place], place))
    found: list[Extent] = [whole] * len(weights)
    left, x, y, width, height = order, *map(float, whole)
    while left:
        total = sum(weights[place] for place in left)
        scale = width * height / total
        row = _next_row([weights[place] * scale for place in left], min(width, height))
        taken, left = left[:row], left[row:]
        share = sum(weights[place] for place in taken) / total
        deep = (width if width >= height else height) * share
        along = 0.0
        for place in taken:
            part = weights[place] / (share * total)
            if width >= height:
                found[place] = _whole(x, y + along * height, deep, part * height)
            else:
                found[place] = _whole(x + along * width, y, part * width, deep)
            along += part
        if width >= height:
            x, width = x + deep, width - deep
        else:
            y, height = y + deep, height - deep
    return [_inset(extent, CORRIDOR // 2) for extent in found]


def find_site(taken: Sequence[Extent], width: int, height: int) -> Extent:
    """Return where a further room of this size goes: where it lengthens the plan least."""
    if not taken:
        return Extent(CORRIDOR // 2, CORRIDOR // 2, width, height)
    right = sorted({PLAN.x + CORRIDOR // 2, *(e.x + e.width + CORRIDOR for e in taken)})
    below = sorted({PLAN.y + CORRIDOR // 2, *(e.y + e.height + CORRIDOR for e in taken)})
    sites = [Extent(x, y, width, height) for x in right for y in below]
    free = [site for site in sites if not any(_meet(site, other) for other in taken)]
    longest = max(e.x + e.width for e in taken), max(e.y + e.height for e in taken)
    return min(free, key=lambda site: (_length(site, longest), site.y, site.x))


def _length(site: Extent, longest: tuple[int, int]) -> float:
    shape = PLAN.width / PLAN.height
    right, below = max(longest[0], site.x + site.width), max(longest[1], site.y + site.height)
    return max(right, below * shape) + (right + below * shape) / MILLION


def _meet(one: Extent, other: Extent) -> bool:
    gap = CORRIDOR - 2  # rounding may have narrowed one
    return (
        one.x < other.x + other.width + gap
        and other.x < one.x + one.width + gap
        and one.y < other.y + other.height + gap
        and other.y < one.y + one.height + gap
    )


def _next_row(areas: Sequence[float], side: float) -> int:
    """Return how many of the areas share a row, the worst of them as square as can be."""
    best, total = float("inf"), 0.0
    for count, area in enumerate(areas, start=1):
        total += area
        deep = total / side
        worst = max(max(deep * deep / a, a / (deep * deep)) for a in (areas[0], area))
        if worst > best:
            return count - 1
        best = worst
    return len(areas)


def _whole(x: float, y: float, width: float, height: float) -> Extent:
    left, top = round(x), round(y)
    return Extent(left, top, round(x + width) - left, round(y + height) - top)


def _inset(extent: Extent, by: int) -> Extent:
    by = min(by, extent.width // 4, extent.height // 4)
    return Extent(extent.x + by, extent.y + by, extent.width - 2 * by, extent.height - 2 * by)
