"""Numbers are compared as what they are said of: unit, what is counted, and the words around."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_palace.checking.amounts import find_amounts
from memory_palace.checking.numbers import find_numbers
from tests.checking.finding import Case, find

_KINDS = ("other numbers", "other times")
_LIGHTS = (
    "Each side light covers 112.5 degrees, the masthead light 225 degrees and the stern light 135."
)
_TWO_LIGHTS = (
    "Each side light covers 112.5 degrees; together the two side lights cover 225 degrees."
)
_MILL = "The new beam carries three times the load of the old one and cost 1,200 euros."
_TANK = "The tank holds 2 litres of water, weighs 500 grams and was filled four times a day."
_TRIAL = "At least three users joined on Monday; 12 of the 48 patients fainted within 15 minutes."

SAME: list[Case] = [
    (_LIGHTS, "The stern light covers 135 degrees."),
    (_LIGHTS, "The masthead light covers 225° and each side light 112.5°."),
    (_MILL, "The new beam bears thrice what the old one did."),
    (_MILL, "It cost 1200 €."),
    (_MILL, "It cost twelve hundred euros, 1.2k."),
    (_TANK, "There are 2000 ml of water in the tank, which weighs half a kilo."),
    (_TANK, "The tank was filled every six hours."),
    (_TRIAL, "A quarter of the patients fainted within a quarter of an hour."),
    (_TRIAL, "25 % of the patients fainted, one in four."),
    ("The walk takes 90 minutes.", "The walk takes an hour and a half."),
    ("The walk takes 90 minutes.", "It is a one and a half hours' walk."),
    ("Each quarter, that is every three months, 12 eggs are laid.", "A dozen eggs are laid."),
    ("We saw 897 geese.", "We saw about 900 geese."),
    ("We saw 897 geese.", "More than 850 geese were seen."),
    ("The lake is 0.9 km wide.", "The lake is 900 m wide."),
    ("The reef is 3 kilometres away.", "The reef is 1.9 miles away."),
    ("It has three modes: idle, slow and fast.", "Of idle, slow and fast, the three modes, …"),
    ("Choose between red, green and blue.", "There are three colours to choose from."),
    ("The file has 40 lines.", "One may say that the file has forty lines."),
    ("It runs at 100k requests per second.", "It serves a hundred thousand requests a second."),
    ("The gene Cys340 was tested in 1.2 × 10^3 mice.", "1,200 mice were tested."),
    ("Das Tal ist 1.200 Meter lang.", "The valley is 1200 metres long."),
    ("Die Probe dauert 15 Minuten.", "Die Probe dauert eine Viertelstunde, fünfzehn Minuten."),
    ("Versions up to 1.5.3 are read.", "It reads version 1.5.3."),
    ("On average 350 visitors come each week.", "About fifty visitors a day come."),
    (_TWO_LIGHTS, "Together the side lights cover 225 degrees."),
    ("Of the visitors two fifths are pupils.", "Of the visitors 40 % are pupils."),
    ("La réunion dure trois heures et coûte 1 200 euros.", "Elle dure 3 heures et coûte 1200 €."),
    ("Hay cinco mesas.", "Hay 5 mesas."),
    ("Sales rose from 20 to 30 million.", "The increase was 10 million, or 50 %."),
    ("The battery lasts 8 to 10 hours.", "The battery lasts about nine hours."),
    ("Keep backups for 30 days.", "Backups are kept for a month."),
    ("Answers come within 3 business days.", "They answer within three working days."),
    ("The port is 8080 and the timeout 1.5 s.", "It waits 1500 ms on port 8080."),
    (
        "It costs the same whether 10 or 10,000 people use it.",
        "Ten people, or ten thousand, use it.",
    ),
    ("Entry is free up to 50 MB.", "Files above 50 MB are not free."),
]
OTHER: list[tuple[str, str, str]] = [
    (_LIGHTS, "The stern light covers 225 degrees.", "number"),
    (_LIGHTS, "Each side light covers 135 degrees.", "number"),
    (_MILL, "The new beam carries nine times the load of the old one.", "number"),
    (_MILL, "The new beam carries 40 times the load of the old one.", "number"),
    (_MILL, "The new beam cost 1,300 euros.", "number"),
    (_TANK, "The tank holds 2 gallons of water.", "unit"),
    (_TANK, "The tank weighs 500 pounds.", "unit"),
    (_TANK, "The tank was filled seven times a day.", "time"),
    (_TRIAL, "At least three users joined on Tuesday.", "time"),
    (_TRIAL, "At most three users joined on Monday.", "number"),
    (_TRIAL, "At least three meetings joined on Monday.", "unit"),
    (_TRIAL, "12 of the 48 patients fainted within 15 hours.", "unit"),
    ("The reef is 3 kilometres away.", "The reef is 3 miles away.", "unit"),
    ("Answers come within 3 business days.", "Answers come within 3 business weeks.", "unit"),
    ("Keep backups for 30 days.", "Backups are kept for a year.", "number"),
    ("Die Sitzung dauert 45 Minuten.", "Die Sitzung dauert 45 Stunden.", "unit"),
    ("Es gibt drei Räume im Haus.", "Es gibt fünf Räume im Haus.", "number"),
    ("同期は15分かかります。", "同期は30分かかります。", "number"),
    ("Chapter 3 covers maps and chapter 5 covers trees.", "Chapter 5 covers maps.", "number"),
    ("It carries 2000 vehicles/day.", "It carries two thousand vehicles an hour.", "unit"),
    ("It takes 50 to 70 per cent.", "Between fifty and seventy months are taken.", "unit unit"),
    ("They lose $70 a head.", "They lose $70 a tonne.", "unit"),
    ("It does 5000 calls per second.", "It does 5000 calls per minute.", "unit"),
    ("There are three servers in the hall.", "There is one server in the hall.", "number"),
    ("The second trial failed.", "The fourth trial failed.", "number"),
    ("Run GPT-4 on it.", "Run GPT-3 on it.", "number"),
    ("It needs version 1.5.3 to start.", "It needs version 1.6.3 to start.", "number"),
    ("Half of the seeds sprout.", "A third of the seeds sprout.", "number"),
    ("It takes 5 seconds of inactivity.", "It takes 5 requests of inactivity.", "unit"),
]


@pytest.mark.parametrize(("note", "claim"), SAME)
def test_the_same_number_in_another_form_is_no_difference(note, claim):
    assert find(note, claim, *_KINDS) == []


@pytest.mark.parametrize(("note", "claim", "kind"), OTHER)
def test_another_number_unit_or_thing_is_a_difference(note, claim, kind):
    assert [difference.kind for difference in find(note, claim, *_KINDS)] == kind.split()


def test_the_reason_names_both_numbers():
    [difference] = find(_MILL, "The new beam cost 1,300 euros.", *_KINDS)
    assert difference.reason == "“1,300 euros” where the passage says “1,200 euros”"
    assert (difference.mine, difference.theirs) == ("1,300 euros", "1,200 euros")


def test_the_reason_ends_no_number_with_of():
    (difference,) = find("One no aborts all of it.", "One no aborts 7 of it.", *_KINDS)
    assert difference.mine == "7"


@pytest.mark.parametrize(
    ("text", "bound"),
    [
        ("at least five men", 1),
        ("no fewer than five men", 1),
        ("five men or more", 1),
        ("5+ men", 1),
        ("at most five men", -1),
        ("not more than five men", -1),
        ("up to five men", -1),
        ("≤ 5 men", -1),
        ("five men", 0),
    ],
)
def test_a_bound_is_read_before_and_behind_a_number(text, bound):
    assert find_amounts(text)[0].bound == bound


_VALUES = st.integers(min_value=0, max_value=999_999)
_UNITS = st.sampled_from(
    [("minutes", "hours", 60), ("m", "km", 1000), ("mg", "g", 1000), ("months", "years", 12)]
)


@given(_VALUES)
def test_a_number_is_itself_however_its_digits_are_grouped(value):
    [plain] = find_numbers(f"{value} owls")
    for written in (f"{value:,}", f"{value:,}".replace(",", " "), f"{value:,}".replace(",", "’")):
        [number] = find_numbers(f"{written} owls")
        assert number.agrees(plain)


@given(_VALUES, _UNITS)
def test_conversions_hold_both_ways(value, units):
    small, large, size = units
    [one] = find_numbers(f"{value * size} {small}")
    [other] = find_numbers(f"{value} {large}")
    assert one.agrees(other)
    assert other.agrees(one)


@given(_VALUES, _VALUES, _UNITS)
def test_agreement_is_symmetric(first, second, units):
    small, large, _ = units
    [one], [other] = find_numbers(f"{first} {small}"), find_numbers(f"{second} {large}")
    assert one.agrees(other) == other.agrees(one)


@given(st.integers(min_value=0, max_value=100))
def test_per_cent_is_a_fraction(value):
    [share] = find_numbers(f"{value} %")
    assert share.base == Fraction(value, 100)
