"""Labels in pictures: what the fonts can draw, wrapped to a width."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from memory_palace.language.visible import visible_line

FONTS = (
    "DejaVu Sans",
    *("Noto Sans CJK JP", "Noto Sans CJK SC", "Noto Sans JP", "Noto Sans SC", "Noto Sans KR"),
    *("Hiragino Sans", "PingFang SC", "Yu Gothic", "Meiryo", "Microsoft YaHei", "Malgun Gothic"),
    *("WenQuanYi Zen Hei", "IPAGothic", "Noto Sans Arabic", "Noto Sans Hebrew"),
    *("Noto Sans Devanagari", "Noto Sans Thai", "Noto Emoji", "Arial Unicode MS", "Unifont"),
)
"""The first comes with matplotlib; of the others those are taken that this machine has."""
MISSING = "□"
"""Stands for a character that no font of these has."""
_ENDS = "…"


@lru_cache(maxsize=1)
def find_fonts() -> tuple[str, ...]:
    """Return the names of the fonts that are here."""
    from matplotlib.font_manager import fontManager

    present = set(fontManager.get_font_names())
    return tuple(name for name in FONTS if name in present)


@lru_cache(maxsize=1)
def _list_characters() -> frozenset[int]:
    from matplotlib.font_manager import FontProperties, findfont, get_font

    files = [findfont(FontProperties(family=name)) for name in find_fonts()]
    return frozenset(code for file in files for code in get_font(file).get_charmap())


def legible(text: str) -> str:
    """Return text on one line that can be drawn; what no font has is ``MISSING``."""
    known = _list_characters()
    line = " ".join(visible_line(" ".join(text.split())).split())
    return "".join(c if ord(c) in known else MISSING for c in line)


def measure(text: str, size: float, *, weight: str = "normal") -> float:
    """Return the width of a line in points."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font: Any = FontProperties(family=list(find_fonts()), size=size, weight=weight)
    return float(text_to_path.get_text_width_height_descent(text, font, False)[0])


def fit(text: str, width: float, size: float, *, lines: int = 2, weight: str = "normal") -> str:
    """Return text that is legible, on ``lines`` lines at most, each within ``width`` points."""
    rest, found = legible(text), list[str]()
    while rest and len(found) < lines:
        line = _cut(rest, width, size, weight)
        rest = rest[len(line) :].lstrip()
        found.append(line.rstrip())
    if rest:
        last = found[-1]
        while last and measure(last + _ENDS, size, weight=weight) > width:
            last = last[:-1]
        found[-1] = last.rstrip() + _ENDS
    return "\n".join(found)


def _cut(text: str, width: float, size: float, weight: str) -> str:
    """Return the beginning that fits: up to a blank where there is one in its second half."""
    low, high = 1, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if measure(text[:middle], size, weight=weight) <= width:
            low = middle
        else:
            high = middle - 1
    if low == len(text):
        return text
    blank = text.rfind(" ", low // 2, low + 1)
    return text[:low] if blank < 0 else text[:blank]
