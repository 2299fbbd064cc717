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


@pytest.mark.parametrize("text", ["on ", "2024-05-03 ", "q1 ", "3月", "end of "])
def test_many_expressions_take_linear_time(text):
    assert_linear(lambda repeats: find_times(text * repeats, ASKED), 300)


def test_a_count_without_end_is_read_without_harm():
    assert not find_times("九" * 5000 + "年前", ASKED)
