"""A number, unit, time, name or negation in the same place is another value; a word is none."""

import pytest

from memory_palace.features.checking.checker import Passage, check_answer, worst_verdict

SHOP = "The shop opened on 14 March 2019 and closed in 2021."
TANK = "The tank holds 2 litres of water and weighs 500 grams."
LIGHTS = (
    "Each side light covers 112.5 degrees; together the two side lights cover 225 degrees. "
    "The stern light covers 135 degrees."
)
MILLS = "The upper mill is larger than the lower mill."
SYNC = "The sync service does not upload files that are larger than the quota."
OBSERVATORY = """# Observatory

The dome was opened on 3 March 1998 by Dr. Ilse Brandt. It weighs 12,500 kg and cost $1.2 million.

Tours of the dome start at 14:30 and last 45 minutes. Two fifths of the visitors are pupils.
"""
NOTATIONS = {
    "The dome was opened on March 3, 1998.": "The dome was opened on 3 May 1998.",
    "The dome was opened on 1998-03-03.": "The dome was opened on 1998-03-04.",
    "The dome opened in spring 1998.": "The dome opened in autumn 1998.",
    "The dome weighs 12500 kilograms and cost 1.2 million dollars.": (
        "The dome weighs 12500 pounds and cost 1.2 million dollars."
    ),
    "Of the visitors 40 % are pupils.": "Of the visitors 60 % are pupils.",
    "Tours of the dome last three quarters of an hour.": "The dome was opened on March 13, 1998.",
}
"""The same otherwise written, and another one."""


def check(note: str, claim: str, about: str = "") -> str:
    return worst_verdict(check_answer(claim, [Passage("n.md", 1, 1, note, about)]))


@pytest.mark.parametrize(
    ("note", "claim"),
    [
        (TANK, "The tank weighs half a kilo and holds 2 litres."),
        ("We saw 897 geese on the lake.", "We saw about 900 geese on the lake."),
        ("We saw 897 geese on the lake.", "More than 850 geese were seen on the lake."),
        ("Hay cinco mesas en la sala.", "Hay 5 mesas en la sala."),
        (SHOP, "The shop opened in March 2019."),
        (SHOP, "On 2019-03-14 the shop opened."),
        ("Rory has no keys until August.", "Before a day in August Rory has no keys."),
        ("The lid of the box was left open.", "The lid of the box had not been shut."),
        (SYNC, "Files bigger than the quota are not uploaded by the sync service."),
        ("The worker holds at most nine jobs.", "The worker holds not more than nine jobs."),
        ("Anna and Ben keep bees, hens and geese.", "Anna keeps bees and geese."),
        ("Prices drop in spring at the mill.", "Prices get lower in spring at the mill."),
    ],
)
def test_the_same_in_another_form_is_not_contradicted(note: str, claim: str) -> None:
    assert check(note, claim) != "contradicted"


@pytest.mark.parametrize(
    ("note", "claim", "kind"),
    [
        (TANK, "The tank holds 3 litres of water and weighs 500 grams.", "number"),
        (TANK, "The tank holds 2 gallons of water and weighs 500 grams.", "unit"),
        ("Nothing to eat for the first hour.", "Nothing to eat for the first day.", "unit"),
        (SHOP, "The shop opened on 14 April 2019 and closed in 2021.", "time"),
        (SHOP, "The shop closed in 2022, having opened on 14 March 2019.", "time"),
        ("A thread lets it stick at half, or so.", "It sticks at a third.", "number"),
        ("The report comes weekly by post.", "The report comes monthly by post.", "time"),
        ("The bill was paid by Anna in cash.", "The bill was paid by Ben in cash.", "name"),
        (SYNC, "The sync service uploads files that are larger than the quota.", "negation"),
        ("All users can edit the page.", "All users cannot edit the page.", "negation"),
        ("Die Mühle ist ein Museum am Fluss.", "Die Mühle ist kein Museum am Fluss.", "negation"),
    ],
)
def test_another_value_in_the_same_place_is_shown_with_both(
    note: str, claim: str, kind: str
) -> None:
    (found,) = check_answer(claim, [Passage("n.md", 1, 1, note)])
    assert found.verdict == "contradicted"
    (first, *_) = found.differences
    assert first.kind == kind and first.mine and first.theirs


@pytest.mark.parametrize(
    ("note", "claim"),
    [
        ("The mill was built by the river.", "The mill was built by the river in 1911."),
        ("The mill was built by the river.", "The mill by the river was built by Frida Holm."),
        ("The mill was built by the river.", "The mill by the river was built with 40 beams."),
        ("Release 0.92 came on 2 April 2022.", "Release 0.93 came on 3 May 2022."),
    ],
)
def test_what_is_absent_or_said_of_another_subject_is_not_found(note: str, claim: str) -> None:
    assert check(note, claim) == "not_found"


def test_title_file_name_day_and_front_matter_are_evidence() -> None:
    about = "0.93; releases, v0.93; date 2022-05-03; author Frida Holm"
    note = "This version was released with dark mode."
    assert check(note, "0.93 was released on 3 May 2022.") != "contradicted"
    assert check(note, "0.93 was released on 3 May 2022.", about) == "supported"
    assert check(note, "This version was released by Frida Holm.", about) == "supported"


def test_many_numbers_take_time_that_is_linear() -> None:
    text = "1 2 3 4 " * 2000 + "9" * 5000
    assert check(text, "It has 12 gates and 9 keys.") in ("not_found", "supported")


@pytest.mark.parametrize(
    ("note", "right", "wrong"),
    [
        *(
            (
                "The new beam carries three times the load of the old one.",
                "The new beam carries 3 times the load of the old one.",
                f"The new beam carries {count} times the load of the old one.",
            )
            for count in ("nine", "40", "two")
        ),
        *((OBSERVATORY, right, wrong) for right, wrong in NOTATIONS.items()),
        (LIGHTS, "The stern light covers 135 degrees.", "The stern light covers 225 degrees."),
        (MILLS, "The lower mill is smaller than the upper mill.", ""),
        (TANK, "The tank holds 2000 ml of water.", ""),
        ("The trail takes 90 minutes.", "The trail takes an hour and a half.", ""),
        ("The mast is 3 kilometres away.", "The mast is 3,000 metres away.", ""),
    ],
)
def test_a_number_belongs_to_what_it_counts_in_any_unit(note: str, right: str, wrong: str) -> None:
    """A number that stood anywhere in the note was good for anything, any before "times"."""
    assert check(note, right) in ("quoted", "supported")
    assert not wrong or check(note, wrong) in ("contradicted", "not_found")
