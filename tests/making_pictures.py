"""What every picture must be, whatever its names: read by the boxes of what is drawn."""

from __future__ import annotations

from itertools import combinations

from matplotlib.text import Text

_SLACK = 1.0
"""Pixels that boxes of letters may touch by."""


def list_texts(figure):
    """Return what is written on a figure, with its box in pixels."""
    renderer = figure.canvas.get_renderer()
    found = []
    for text in figure.findobj(Text):
        if text.get_visible() and text.get_text().strip() and _is_drawn(text):
            found.append((text.get_text(), Text.get_window_extent(text, renderer)))
    return found


def _is_drawn(text):
    """Whether a text is not the label of a tick outside of its axis, which is not drawn."""
    for axes in text.figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks()):
                if text in (tick.label1, tick.label2):
                    drawn = axis._update_ticks()
                    return axes.get_visible() and tick in drawn
    return True


def assert_readable(picture, theme):
    """Fail where a text is cut, two overlap, or a legend lies on what is drawn."""
    with picture.lay_out(theme) as figure:
        texts = list_texts(figure)
        assert texts
        page = figure.bbox
        for text, box in texts:
            is_inside = page.x0 <= box.x0 and box.x1 <= page.x1
            assert is_inside and page.y0 <= box.y0 and box.y1 <= page.y1, (picture.name, text)
        for (first, a), (second, b) in combinations(texts, 2):
            across = min(a.x1, b.x1) - max(a.x0, b.x0)
            up = min(a.y1, b.y1) - max(a.y0, b.y0)
            assert across <= _SLACK or up <= _SLACK, (picture.name, first, second)
        legends = [*figure.legends, *(a.get_legend() for a in figure.axes if a.get_legend())]
        for legend in legends:
            box = legend.get_window_extent()
            for axes in figure.axes:
                assert not box.overlaps(axes.bbox), picture.name
