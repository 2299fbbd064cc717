"""What is said of one thing, and belongs to another."""

from __future__ import annotations

import pytest

from memory_palace.checking.comparing import find_crossings, find_reversals, split_statements
from memory_palace.checking.wording import Wording

LAMPS = [
    Wording("At dusk hums the porch lamp, which is brass, and at noon flickers the stair lamp."),
    Wording("In May the switch moved from the hall to the pantry."),
]


@pytest.mark.parametrize(
    "claim",
    [
        "The stair lamp hums at dusk, and the porch lamp flickers at noon.",
        "At noon the porch lamp flickers, while the brass stair lamp hums.",
    ],
)
def test_statements_that_trade_halves_are_found(claim):
    assert len(list(find_crossings(Wording(claim), LAMPS))) == 1


@pytest.mark.parametrize(
    "claim",
    [
        LAMPS[0].text,
        "The stair lamp flickers at noon, and the brass porch lamp hums at dusk.",
        "At dusk the porch lamp hums.",
    ],
)
def test_the_same_in_another_order_is_no_exchange(claim):
    assert list(find_crossings(Wording(claim), LAMPS)) == []


def test_a_change_told_backwards_is_found():
    assert list(find_reversals(Wording("It moved from the pantry to the hall."), LAMPS))
    assert not list(find_reversals(Wording("It moved from the hall to the pantry."), LAMPS))


def test_a_clause_belongs_to_the_statement_that_it_depends_on():
    assert [part.text for part in split_statements(LAMPS[0])] == [
        "At dusk hums the porch lamp, which is brass",
        "and at noon flickers the stair lamp.",
    ]
