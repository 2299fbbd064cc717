"""The pictures in the documents are of what a terminal shows."""

import re
from html import unescape
from pathlib import Path

import pytest
from pictures import SCHEMES, SCREENS, THEMES, WIDTHS, draw_sample

from memory_palace.embedding.registry import is_available

ROOT = Path(__file__).parent.parent.parent
FOLDER = ROOT / "references" / "pictures"
PICTURES = sorted(FOLDER.glob("answer-*.svg"))


def rows_of(picture):
    """Return the lines of text of an SVG picture, by their height in it."""
    rows = {}
    for height, text in re.findall(r'<text [^>]*y="([\d.]+)"[^>]*>([^<]*)</text>', picture):
        rows.setdefault(float(height), []).append(unescape(text).replace("\xa0", " "))
    return ["".join(rows[height]).strip() for height in sorted(rows)]


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


@pytest.mark.long
@pytest.mark.skipif(not is_available("minilm"), reason="needs minilm")
def test_the_committed_pictures_are_of_this_version():
    drawn = draw_sample(ROOT / "palace")
    for file in PICTURES:
        assert rows_of(drawn[file.name]) == rows_of(file.read_text("utf-8")), "run `make pictures`"
