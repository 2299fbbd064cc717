"""A word where a passage has its opposite, or another thing of the kind."""

from __future__ import annotations

import pytest

from memory_palace.checking.opposites import find_allies, find_opposition
from tests.checking.finding import find

TESTS = ("opposed words",)
GENE = "Mutations in the gene activate the kinase in mouse liver cells."
BUOY = "A red buoy marks the port side of the channel."
MILL = "The upper mill is older than the lower mill."


@pytest.mark.parametrize(
    ("note", "claim", "kind"),
    [
        (GENE, "Mutations in the gene activate the kinase in rat liver cells.", "category"),
        (GENE, "Mutations in the gene activate the kinase in mouse kidney cells.", "category"),
        (GENE, "Mutations in the gene inactivate the kinase in mouse liver cells.", "negation"),
        (BUOY, "A green buoy marks the port side of the channel.", "category"),
        (BUOY, "A red buoy marks the starboard side of the channel.", "category"),
        (MILL, "The upper mill is younger than the lower mill.", "negation"),
        ("Never open the hive under ten degrees.", "Never open the hive above ten degrees.", None),
        ("All users can edit the page.", "Some users can edit the page.", "negation"),
        ("The level rises in the wet months.", "In the wet months the level falls.", "negation"),
    ],
)
def test_another_word_in_the_same_place_is_a_difference(note, claim, kind):
    found = find(note, claim, *TESTS)
    assert found
    assert kind is None or found[0].kind == kind


@pytest.mark.parametrize(
    ("note", "claim"),
    [
        (MILL, "The lower mill is younger than the upper mill."),
        ("The lid was left open.", "The lid had not been shut."),
        ("The red lamp means rain, the green one sun.", "A green lamp means sun."),
        ("The level rises in wet months and falls in dry ones.", "In dry months it falls."),
        ("The shop closes at noon.", "The shop is open until noon."),
        ("Photos are forbidden in the crypt.", "Photos are not allowed in the crypt."),
        ("The keeper reads the gauge.", "The gauge is read by the keeper."),
    ],
)
def test_what_the_passage_has_beside_it_or_says_with_a_denial_is_none(note, claim):
    assert find(note, claim, *TESTS) == []


def test_prefixes_that_deny_make_opposites_and_look_alikes_do_not():
    assert find_opposition("stabl", "unstabl") == "negation"
    assert find_opposition("hypertens", "hypotens") == "negation"
    assert find_opposition("deliv", "liver") is None
    assert find_opposition("red", "green") == "category"
    assert find_opposition("first", "last") == "order"
    assert "scarlet" in find_allies("red")
