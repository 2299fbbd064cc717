"""What days a note is of, by its front matter and by its name."""

from datetime import UTC, date, datetime

import pytest

from memory_palace.notes.dating import date_in_front_matter, date_in_name, date_note, days_in_name

DAY = date(2026, 10, 14)


@pytest.mark.parametrize(
    "name",
    [
        "14-10-2026.md",
        "20261014-standup.md",
        "202610141530 An idea.md",
        "October 14th, 2026.md",
        "Standup 14 October 2026.md",
        "Diary/2026/Oct 14.md",
    ],
)
def test_a_note_named_by_a_day_is_of_that_day(name):
    assert days_in_name(name) == (((DAY, DAY),), None)


@pytest.mark.parametrize(
    "name",
    [
        "Reading list 2025.md",
        "release 1.2.3.md",
        "2026-13-41.md",
        "call 20261414.md",
        "2026-10-14/Climbing.md",
    ],
)
def test_a_name_that_gives_no_day_gives_none(name):
    assert days_in_name(name) == ((), None)


def test_a_month_in_a_name_is_a_span_and_no_moment():
    assert days_in_name("2026-10.md") == (((date(2026, 10, 1), date(2026, 10, 31)),), None)
    assert date_in_name("2026-10.md") is None


def test_a_day_without_a_year_takes_that_of_the_front_matter():
    assert date_note({}, "Oct 14.md").yearless == date(2000, 10, 14)
    found = date_note({"created": date(2026, 10, 15)}, "Oct 14.md")
    assert found.days[0] == (DAY, DAY) and found.yearless is None


def test_both_readings_of_a_name_in_figures_count():
    readings = ((date(2026, 3, 4),) * 2, (date(2026, 4, 3),) * 2)
    assert days_in_name("03-04-2026.md") == (readings, None)


def test_an_entry_that_was_edited_later_is_still_of_its_day():
    found = date_note({"date": DAY, "updated": date(2026, 11, 2)}, "Climbing.md")
    assert found.days == ((DAY, DAY),)
    assert found.date.timestamp == datetime(2026, 11, 2, tzinfo=UTC).timestamp()


def test_a_title_gives_the_day_where_the_name_does_not():
    assert date_note({}, "entry-7.md", "14 October 2026").days == ((DAY, DAY),)


@pytest.mark.parametrize(
    "value",
    [
        "2026-10-14T23:30:00-05:00",
        "[[2026-10-14]]",
        20261014,
        "Wednesday, October 14th 2026, 10:01:29 am",
    ],
)
@pytest.mark.parametrize("field", ["created", "Date Created", "created_at", "date"])
def test_front_matter_is_read_as_other_programs_write_it(field, value):
    assert date_note({field: value}, "Climbing.md").days == ((DAY, DAY),)


@pytest.mark.parametrize("value", ["soon", 3, True, None, [], ["a", "b"], {"a": 1}, "9999-99-99"])
def test_what_is_no_date_dates_nothing(value):
    assert date_note({"date": value}, "Climbing.md") == ((), None, None)
    assert date_in_front_matter({"updated": value}) is None
