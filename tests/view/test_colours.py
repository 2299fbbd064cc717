"""The colours of the plan, measured as WCAG 2.2 measures contrast."""

import re

import pytest

from memory_palace.features.view.page import read

THEMES = ("LIGHT", "DARK")


def colours(theme: str) -> dict[str, list[str]]:
    """Return what ``page/colours.js`` has under each name of a theme."""
    table = re.search(rf"const {theme} = \{{(.*?)\}};", read("colours.js"), re.DOTALL)
    assert table is not None
    named = re.findall(r'(\w+): (\[[^]]*\]|"[^"]*")', table[1])
    return {name: re.findall(r"#[0-9a-f]{6}", value) for name, value in named}


def luminance(colour: str) -> float:
    parts = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return sum(w * part for w, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one: str, other: str) -> float:
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("theme", THEMES)
def test_every_place_stands_out_from_the_floor(theme: str) -> None:
    table = colours(theme)
    ground = table["floor"][0]
    assert len({*table["rooms"]}) == 20
    assert [c for c in (*table["rooms"], *table["cold"]) if contrast(c, ground) < 3] == []


@pytest.mark.parametrize("theme", THEMES)
def test_words_can_be_read_on_all_that_they_are_drawn_on(theme: str) -> None:
    table = colours(theme)
    for ground in ("floor", "card", "ground"):
        assert contrast(table["ink"][0], table[ground][0]) >= 7
        assert contrast(table["quiet"][0], table[ground][0]) >= 4.5
    for mark in ("mark", "link", "back"):
        assert contrast(table[mark][0], table["floor"][0]) >= 3
