"""Times are compared in their parts: date, weekday, season, hour, and how often."""

from __future__ import annotations

import pytest

from memory_palace.checking.checker import check_answer
from memory_palace.checking.told_times import find_told_times
from memory_palace.checking.verdicts import Passage, Verdict
from tests.checking.finding import Case, find

_SHOP = "The shop opened on 14 March 2019 and closed in the spring of 2021."
_CHOIR = "The choir rehearses every Tuesday evening and sings twice a month since 1995."
_BUS = "The last bus leaves at 21:30, on Fridays at 10:00pm, and runs daily in summer."

SAME: list[Case] = [
    (_SHOP, "The shop opened in March 2019."),
    (_SHOP, "On 2019-03-14 the shop opened; it closed in 2021."),
    (_CHOIR, "The choir has sung since the nineties."),
    (_CHOIR, "It rehearses weekly, on Tuesdays."),
    (_BUS, "The last bus goes at half past nine in the evening."),
    (_BUS, "On Fridays it leaves at ten o'clock."),
    (_BUS, "In summer it runs every day."),
    ("He lived in the 19th century.", "He lived around 1850."),
    ("It was built in 1784.", "In 1784 it was built."),
    ("You may march on.", "You may march on."),
    ("2000 patients were seen.", "They saw 2000 patients."),
    ("Probe ist am 3. Mai um 15 Uhr.", "Am 3. Mai um 15:00 ist Probe."),
]
OTHER: list[Case] = [
    ("Tours last an hour; on Sundays there is no tour.", "On Saturdays there is no tour."),
    (_SHOP, "The shop opened on 14 March 2018 and closed in the spring of 2021."),
    (_SHOP, "The shop opened on 14 April 2019."),
    (_SHOP, "The shop opened in the autumn of 2019."),
    (_SHOP, "The shop closed in the spring of 2019."),
    (_CHOIR, "The choir rehearses every Thursday evening."),
    (_CHOIR, "The choir rehearses every Tuesday morning."),
    (_CHOIR, "The choir sings twice a week since 1995."),
    (_CHOIR, "The choir sings twice a month until 1995."),
    (_CHOIR, "In 1994 the choir was founded."),
    (_BUS, "The last bus leaves on Fridays at 10:00am."),
    (_BUS, "The last bus leaves at 21:45."),
    (_BUS, "The last bus runs hourly in summer."),
    ("Tell them before Easter.", "Tell them before Christmas."),
    ("They met last week.", "They met last year."),
    ("It is due at the end of the month.", "It is due at the end of the year."),
    ("No school before 2010 had one.", "No school after 2010 had one."),
]


@pytest.mark.parametrize(("note", "claim"), SAME)
def test_the_same_time_in_another_form_is_no_difference(note, claim):
    assert find(note, claim, "other times", "other numbers") == []


@pytest.mark.parametrize(("note", "claim"), OTHER)
def test_another_time_is_a_difference(note, claim):
    assert {difference.kind for difference in find(note, claim, "other times")} == {"time"}


def test_the_reason_names_both_times():
    [difference] = find(_CHOIR, "The choir rehearses every Thursday evening.", "other times")
    assert difference.reason == "“Thursday” where the passage says “Tuesday”"


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("every two hours", 7200),
        ("hourly", 3600),
        ("twice a day", 43200),
        ("two times daily", 43200),
        ("every other day", 172800),
        ("once in ten years", 315360000),
    ],
)
def test_how_often_is_read_as_a_period(text, seconds):
    assert find_told_times(text)[0].parts == {"every": seconds}


@pytest.mark.parametrize(
    ("claim", "is_right"),
    [
        ("A snapshot is taken every 5 minutes.", True),
        ("A snapshot is taken every 7 minutes.", False),
        ("A snapshot is taken every 12 minutes.", False),
    ],
)
def test_how_often_is_borne_out_by_the_time_between(claim, is_right):
    note = "Snapshots are saved at least 5 minutes apart, and kept for 7 days."
    (found,) = check_answer(claim, [Passage("a.md", 1, 1, note)]).sentences
    assert (found.verdict != Verdict.CONTRADICTED) is is_right
