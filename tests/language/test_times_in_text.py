"""Expressions of time that were read wrongly or not at all, one a line."""

from __future__ import annotations

from datetime import date

import pytest
from growing import assert_linear

from memory_palace.language.time.reading import find_times
from memory_palace.language.time.spans import EARLIEST

ASKED = date(2026, 11, 22)


def read(text, **options):
    """Return first and last day of the surest expression."""
    best = max(find_times(text, ASKED, **options), key=lambda item: item.certainty)
    window = best.windows[0]
    return str(window.first), str(window.last)


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("what did we plant between May and July", "2026-05-01", "2026-07-31"),
        ("what did I weigh half a year ago", "2026-05-22", "2026-05-22"),
        ("who came before June", str(EARLIEST), "2026-05-31"),
        ("what did we decide on Tuesday", "2026-11-17", "2026-11-17"),
        ("notes from the week before last", "2026-11-02", "2026-11-08"),
        ("plans for Q3", "2026-07-01", "2026-09-30"),
        ("the retro of week 32", "2026-08-03", "2026-08-09"),
        ("who was there at Christmas", "2025-12-25", "2025-12-25"),
        ("trips in August last year", "2025-08-01", "2025-08-31"),
        ("what did we eat on Good Friday two years ago", "2024-03-29", "2024-03-29"),
        ("two years ago in May", "2024-05-01", "2024-05-31"),
        ("vor zwei Jahren an Ostern", "2024-03-31", "2024-03-31"),
        ("il y a deux ans à Pâques", "2024-03-31", "2024-03-31"),
        ("en mayo de hace dos años", "2024-05-01", "2024-05-31"),
        ("the budget of Q1/2025", "2025-01-01", "2025-03-31"),
        ("notes of 5.10.2025", "2025-10-05", "2025-10-05"),
        ("Notizen vom 5. 10. 2025", "2025-10-05", "2025-10-05"),
        ("was war am 5ten Oktober", "2026-10-05", "2026-10-05"),
        ("was geschah in KW 40", "2026-09-28", "2026-10-04"),
        ("desde a semana passada", "2026-11-09", "2026-11-22"),
    ],
)
def test_what_people_asked_and_were_not_understood_is_read(text, first, last):
    assert read(text) == (first, last)


@pytest.mark.parametrize(
    ("locale", "days"),
    [("en-GB", ["2026-04-03"]), ("en-US", ["2026-03-04"]), ("", ["2026-03-04", "2026-04-03"])],
)
def test_a_locale_says_which_number_is_the_month(locale, days):
    [found] = find_times("what did I log on 3/4/26", ASKED, locale=locale)
    assert sorted(str(window.first) for window in found.windows) == days
    assert found.certainty == (0.5 if len(days) > 1 else 0.95)


@pytest.mark.parametrize(
    "text",
    [
        "in winter the cells die",
        "Sunday roast",
        "the summer tyres",
        "Christmas cake",
        "step 2 may fail",
        "où a été rangée la clé",
        "version 3.4.2024",
        "may I ask about the march",
        "how do bees survive the winter",
        "a quinta sinfonia de Beethoven",
        "what is the plan for Monday.com",
        "every Monday we clean",
        "Monday.com pricing",
    ],
)
def test_a_topic_is_no_date(text):
    assert all(found.certainty < 0.5 for found in find_times(text, ASKED))


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
