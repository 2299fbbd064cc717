"""Expressions of time in texts; single ones are lines of ``times.md``."""

from datetime import date

import pytest
from growing import assert_linear

from memory_palace.language.times import find_times

ASKED = date(2026, 11, 22)


@pytest.mark.parametrize(
    ("locale", "days"),
    [("en-GB", ["2026-04-03"]), ("en-US", ["2026-03-04"]), ("", ["2026-03-04", "2026-04-03"])],
)
def test_a_locale_says_which_number_is_the_month(locale, days):
    [found] = find_times("what did I log on 3/4/26", ASKED, locale=locale)
    assert sorted(str(window.first) for window in found.windows) == days
    assert found.certainty == (0.5 if len(days) > 1 else 0.95)


@pytest.mark.parametrize("text", ["in the last 9999 years", "9999 years ago", "in 9999 weeks"])
def test_what_lies_outside_of_the_calendar_is_left_alone(text):
    assert find_times(text, ASKED) == []


def test_other_forms_of_the_same_letters_are_read():
    for text in (
        "２０２６年５月３日",
        "le 3 fevrier 2026",
        "LE 3 FÉVRIER 2026",
        "3 fe\u0301vrier 2026",
    ):
        assert len(find_times(text, ASKED)) == 1, text


@pytest.mark.parametrize("text", ["rue du 4 septembre", "calle 5 de mayo", "via 25 aprile"])
def test_the_name_of_a_street_is_no_date(text):
    assert find_times(text, ASKED) == []


@pytest.mark.parametrize("text", ["on ", "2024-05-03 ", "q1 ", "3月", "end of "])
def test_many_expressions_take_linear_time(text):
    assert_linear(lambda repeats: find_times(text * repeats, ASKED), 300)


def test_a_count_without_end_is_read_without_harm():
    assert not find_times("九" * 5000 + "年前", ASKED)
