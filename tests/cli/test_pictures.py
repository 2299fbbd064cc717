"""The pictures in the documents are of what a terminal shows."""

import re
from html import unescape
from pathlib import Path

import pytest
from pictures import SCHEMES, SCREENS, THEMES, WIDTHS, draw, draw_sample

from memory_palace.embedding.registry import is_available

ROOT = Path(__file__).parent.parent.parent
FOLDER = ROOT / "references" / "pictures"
PICTURES = sorted(FOLDER.glob("answer-*.svg"))
BUDGET_BYTES = 300_000
"""Of all pictures that README shows, which everybody loads who looks at the project."""


def rows_of(picture):
    """Return the lines of text of an SVG picture, by their height in it."""
    rows = {}
    for height, text in re.findall(r'<text [^>]*y="([\d.]+)"[^>]*>([^<]*)</text>', picture):
        rows.setdefault(float(height), []).append(unescape(text).replace("\xa0", " "))
    return ["".join(rows[height]).strip() for height in sorted(rows)]


@pytest.mark.parametrize("file", PICTURES, ids=lambda file: file.stem)
def test_a_picture_shows_hits_on_24_lines_the_surest_first_and_loads_nothing(file):
    picture = file.read_text("utf-8")
    rows = [row for row in rows_of(picture) if row]
    assert rows[0].startswith("$ palace query")
    assert [row[0] for row in rows if re.match(r"\d  \S", row)] == list("123")
    sure = [float(found[0]) for row in rows if (found := re.findall(r"  (0\.\d\d)$", row))]
    assert len(sure) == 3 and sure == sorted(sure, reverse=True)
    heights = {float(y) for y in re.findall(r'<text [^>]*y="([\d.]+)"', picture)}
    assert (max(heights) - min(heights)) / 24.4 <= 24.5
    assert set(re.findall(r"https?://[^\"' )]+", picture)) == {"http://www.w3.org/2000/svg"}


def test_text_of_notes_is_no_markup_in_a_picture():
    from rich.text import Text

    assert "<script" not in draw([Text("<script>&")], 40, "dark")


def pictures_of(page):
    """Return the names of the pictures that a page of the documents shows or links to."""
    return set(re.findall(r"\bpictures/([\w.-]+\.(?:png|svg))", page.read_text("utf-8")))


def test_each_picture_is_there_in_light_and_dark_and_is_mentioned():
    answers = {f"answer-{width}-{theme}.svg" for width in WIDTHS for theme in THEMES}
    plans = {
        f"{what}-{width}-{scheme}.png"
        for what in ("plan", "note")
        for width in SCREENS
        for scheme in SCHEMES
    }
    mentioned = [pictures_of(ROOT / "README.md"), *map(pictures_of, FOLDER.parent.glob("*.md"))]
    there = {file.name for file in FOLDER.iterdir()}
    assert set().union(*mentioned) == there == answers | plans


def test_the_pictures_that_readme_shows_are_together_below_300_kb():
    shown = pictures_of(ROOT / "README.md")
    assert sum((FOLDER / name).stat().st_size for name in shown) < BUDGET_BYTES


@pytest.mark.long
@pytest.mark.skipif(not is_available("minilm"), reason="needs minilm")
def test_the_committed_pictures_are_of_this_version():
    drawn = draw_sample(ROOT / "palace")
    for file in PICTURES:
        assert rows_of(drawn[file.name]) == rows_of(file.read_text("utf-8")), "run `make pictures`"
