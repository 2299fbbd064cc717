"""Notes that only their files date are undated: nothing on the page tells their day."""

from dataclasses import replace

import pytest
from browser.looking import show_note
from browser.watching import expect
from making_plans import make_plan

from memory_palace.features.view.page import render

pytestmark = pytest.mark.browser


def build(tmp_path, *, undated):
    """Return a page of 20 notes, of which the first ones have no day but their file's, the last."""
    plan = make_plan(20, 2)
    notes = tuple(
        replace(n, day=None) if place < undated else n for place, n in enumerate(plan.notes)
    )
    file = tmp_path / f"{undated}.html"
    file.write_bytes(render(replace(plan, notes=notes)))
    return file, notes


def test_a_note_that_only_its_file_dates_is_undated(watch, tmp_path):
    file, notes = build(tmp_path, undated=5)
    page = watch.open(file)
    expect(page.locator("#span")).to_have_text("all 20 notes · 5 undated")
    show_note(page, notes[0].path)
    expect(page.locator("#dates .dates")).to_contain_text("undated")
    show_note(page, notes[9].path)
    expect(page.locator("#dates .dates")).not_to_contain_text("undated")


@pytest.mark.parametrize(("undated", "is_there"), [(0, True), (18, True), (19, False), (20, False)])
def test_the_timeline_is_left_out_where_few_notes_tell_their_day(
    watch, tmp_path, undated, is_there
):
    page = watch.open(build(tmp_path, undated=undated)[0])
    expect(page.locator("#timeline")).to_be_visible(visible=is_there)
