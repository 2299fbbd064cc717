"""Who does what to whom."""

from __future__ import annotations

import pytest

from tests.checking.finding import find

TESTS = ("turned roles", "exchanges")
PILOT = "The harbour master pays the pilot before the ship sails."
BOAT = "Anna sold the boat to Peter in May."


@pytest.mark.parametrize(
    ("note", "claim"),
    [
        (PILOT, "The pilot pays the harbour master."),
        (PILOT, "The harbour master is paid by the pilot."),
        (BOAT, "Peter sold the boat to Anna in May."),
        (BOAT, "The boat was sold to Anna by Peter."),
        (BOAT, "Anna bought the boat from Peter."),
        ("The upper mill beats the lower mill.", "The lower mill beats the upper mill."),
        ("Copper conducts better than iron.", "Iron conducts better than copper."),
        ("It moved from the hall to the pantry.", "It moved from the pantry to the hall."),
        ("Deer trust it in May, foxes in June.", "Foxes trust it in May, deer in June."),
        ("Smoke causes coughing in most sheep.", "Coughing causes smoke in most sheep."),
    ],
)
def test_two_that_have_changed_places_are_a_difference(note, claim):
    assert "role" in [each.kind for each in find(note, claim, *TESTS)]


@pytest.mark.parametrize(
    ("note", "claim"),
    [
        (PILOT, "The pilot is paid by the harbour master."),
        (PILOT, "Before the ship sails the harbour master pays the pilot."),
        (BOAT, "Peter bought the boat from Anna."),
        (BOAT, "The boat was sold to Peter by Anna."),
        ("A red buoy marks the port side.", "The port side is marked by a red buoy."),
        ("Copper conducts better than iron.", "Iron conducts worse than copper."),
        ("Anna met Peter in Riga.", "Peter met Anna in Riga."),
        ("The box holds nails, screws and hooks.", "The box holds hooks, screws and nails."),
        ("The keeper read the gauge daily.", "The gauge was read daily by the keeper."),
        ("At dusk the porch lamp hums.", "The porch lamp hums at dusk."),
        ("The editor is required to approve it.", "It must be approved by the editor."),
    ],
)
def test_a_passive_a_converse_and_another_order_of_phrases_are_none(note, claim):
    assert find(note, claim, *TESTS) == []


def test_the_reason_names_both_sides():
    found = find(PILOT, "The harbour master is paid by the pilot.", "turned roles")
    assert found[0].reason == "“pilot” and “harbour master” have changed places at “paid”"
