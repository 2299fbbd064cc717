"""Many notes open without an error, and the same notes give the same file."""

import pytest
from browser.looking import list_paths, show_note
from browser.watching import build_view, run
from making_plans import make_plan

from memory_palace.features.view.page import render

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("count", [5_000, 25_000])
def test_many_notes_open_and_are_found(watch, tmp_path, count):
    file = tmp_path / "many.html"
    file.write_bytes(render(make_plan(count, 12)))
    page = watch.open(file)
    for _ in range(3):
        page.keyboard.press("+")
    page.fill("#search", "amber")
    page.locator("#results [role=option]").first.wait_for()
    show_note(page, list_paths(file)[count // 2])
    page.keyboard.press("0")


def test_the_same_notes_and_the_same_cache_give_the_same_bytes(sample, sample_view, tmp_path):
    again = build_view(sample, tmp_path / "again.html")
    assert again.read_bytes() == sample_view.read_bytes()
    assert run("-C", sample, "index", "-q") == 0
    assert build_view(sample, tmp_path / "third.html").read_bytes() == sample_view.read_bytes()


def test_a_page_that_is_printed_shows_the_note_on_white(watch, sample_view):
    page = watch.open(sample_view, theme="dark")
    show_note(page, list_paths(sample_view)[0])
    page.emulate_media(media="print")
    assert page.locator("#note").is_visible()
    assert page.locator("#search").is_hidden()
