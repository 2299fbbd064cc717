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


COPIED = ("traded places",)


@pytest.mark.parametrize(
    ("note", "claim"),
    [
        ("The limit is 20 euros versus 50 euros.", "The limit is 50 euros versus 20 euros."),
        ("Copy it from the source to the target.", "Copy it from the target to the source."),
        ("They rent rooms rather than own rooms.", "They own rooms rather than rent rooms."),
        ("The importer saves stacks as folders.", "The importer saves folders as stacks."),
        ("Old goats were calmer than young ewes.", "Young ewes were calmer than old goats."),
    ],
)
def test_what_a_copied_sentence_trades_is_a_difference(note, claim):
    assert [each.kind for each in find(note, claim, *COPIED)] == ["role"]


@pytest.mark.parametrize(
    ("note", "claim"),
    [
        ("At dusk the lamp in the porch hums.", "The lamp in the porch hums at dusk."),
        ("The mill is larger than the barn.", "The barn is smaller than the mill."),
        ("The keeper wound the clock.", "The clock was wound by the keeper."),
        ("It holds nails, screws and hooks.", "It holds hooks, screws and nails."),
        ("It holds nails and hooks for the roof.", "It holds hooks and nails for the roof."),
    ],
)
def test_a_phrase_that_was_moved_and_a_list_are_none(note, claim):
    assert find(note, claim, *COPIED) == []


@pytest.mark.parametrize(
    ("note", "claim"),
    [
        ("Never point it at the sun, she wrote in May.", "In May she wrote: point it at no sun."),
        ("On average few guests come each week.", "Each week few guests come on average."),
        ("The roof leaked after the storm of May.", "After the May storm the roof leaked."),
    ],
)
def test_a_time_or_a_clause_that_comes_first_is_no_exchange(note, claim):
    assert find(note, claim, *TESTS, *COPIED) == []
