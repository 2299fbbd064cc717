"""Notes that only their file dates are told from those that say when they were written."""

from dataclasses import replace

import pytest
from browser.looking import show_note
from browser.watching import expect
from making_plans import make_plan

from memory_palace.features.view.page import render

pytestmark = pytest.mark.browser

GREY = "rgb(139, 135, 127)"


def build(tmp_path, *, undated):
    """Return a page of 20 notes, of which the first ones have no day but their file's, the last."""
    plan = make_plan(20, 2)
    notes = tuple(
        replace(n, is_dated=place >= undated, day=plan.day if place < undated else n.day)
        for place, n in enumerate(plan.notes)
    )
    file = tmp_path / f"{undated}.html"
    file.write_bytes(render(replace(plan, notes=notes)))
    return file, notes


def read_bars(page):
    return page.locator("#timeline .bars i").evaluate_all(
        "(bars) => bars.filter((bar) => bar.clientHeight).map((bar) => bar.style.backgroundColor)"
    )


def test_notes_dated_by_their_file_are_grey_and_said_to_be(watch, tmp_path):
    file, notes = build(tmp_path, undated=5)
    page = watch.open(file)
    expect(page.locator("#legend .apart")).to_have_text("dated by its file alone: 5 notes")
    show_note(page, notes[0].path)
    expect(page.locator("#dates .dates")).to_contain_text("File of 4 October 2024")
    show_note(page, notes[9].path)
    expect(page.locator("#dates .dates")).to_contain_text("Written")


def test_without_such_notes_nothing_is_said_of_them(watch, tmp_path):
    page = watch.open(build(tmp_path, undated=0)[0])
    expect(page.locator("#legend .swatches li").first).to_be_visible()
    expect(page.locator("#legend .apart")).to_have_count(0)
    assert GREY not in read_bars(page)


def test_where_no_note_tells_its_day_the_plan_is_grey(watch, tmp_path):
    page = watch.open(build(tmp_path, undated=20)[0])
    expect(page.locator("#legend .apart")).to_have_text("dated by its file alone: 20 notes")
    expect(page.locator("#legend .swatches li")).to_have_count(0)
    assert set(read_bars(page)) == {GREY}
