from datetime import UTC, datetime

import pytest
import yaml

from memory_palace.models import Validity
from memory_palace.notes.dating import read_validity, superseded_by


def at(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


def read(text: str) -> Validity:
    return read_validity(yaml.safe_load(text), "a.md")[0]


def test_a_day_that_ends_something_is_part_of_it():
    found = read("valid_from: 2024-02-01\nvalid_until: 2025-03-31")
    assert found == Validity(at("2024-02-01T00:00:00"), at("2025-03-31T23:59:59"))
    assert found.holds_at(at("2024-02-01T00:00:00")) and found.holds_at(at("2025-03-31T22:00:00"))
    assert not found.holds_at(at("2024-01-31T23:00:00"))
    assert not found.holds_at(at("2025-04-01T00:00:00"))


@pytest.mark.parametrize(
    ("written", "last"),
    [
        ("2024", "2024-12-31T23:59:59"),
        ("2024-02", "2024-02-29T23:59:59"),
        ("10.2.2024", "2024-02-10T23:59:59"),
        ("2024-02-10 12:30:00", "2024-02-10T12:30:00"),
        ("'2024-02-10T12:30'", "2024-02-10T12:30:00"),
    ],
)
def test_a_year_a_month_a_day_and_a_moment_end_when_they_are_over(written, last):
    assert read(f"valid_until: {written}").valid_until == at(last)


@pytest.mark.parametrize("written", ["soon", "2024-13", "0000", "[1, 2]", "true", "99999"])
def test_what_is_no_date_is_said_and_ignored(written):
    found, problems = read_validity(yaml.safe_load(f"valid_until: {written}"), "a.md")
    assert found == Validity()
    (problem,) = problems
    assert "is not a date; it is ignored" in problem.message and problem.path == "a.md"


def test_an_empty_field_says_nothing():
    assert read_validity(yaml.safe_load("valid_from:\nvalid_until: ''"), "a.md") == (Validity(), ())


@pytest.mark.parametrize(
    "written",
    [
        "'[[New rule]]'",
        "[[New rule]]",
        "['New rule']",
        "'[[New rule#Second part]]'",
        "['[[New rule]]', 'New rule']",
    ],
)
def test_what_took_the_place_of_a_note_is_a_name_however_it_is_written(written):
    assert superseded_by(yaml.safe_load(f"superseded_by: {written}")) == ("New rule",)


def test_several_notes_may_take_the_place_of_one():
    assert superseded_by({"Superseded-By": ["a", "rooms/b.md"]}) == ("a", "rooms/b.md")
    assert superseded_by({"superseded_by": None}) == superseded_by({}) == ()


def test_a_note_that_says_when_it_was_superseded_held_until_then():
    found = read("superseded_by: new\nsuperseded_at: 2026-03-01")
    assert found.holds_at(at("2026-02-28T12:00:00"))
    assert not found.holds_at(at("2026-03-02T00:00:00"))
    assert read("superseded_at: 2026-03-01") == Validity()
