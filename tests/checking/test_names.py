"""Names that a text does not have."""

from __future__ import annotations

from tests.checking.finding import find

NOTE = "The kinase Hsp90 was found in Denmark. Work began in spring."


def test_a_name_that_the_text_lacks_is_a_difference():
    (found,) = find(NOTE, "The kinase was found in Sweden.", "other names")
    assert (found.kind, found.mine) == ("name", "Sweden")


def test_a_name_with_a_figure_is_one_word_and_a_month_is_no_name():
    assert find(NOTE, "The kinase called Hsp90 was found.", "other names") == []
    assert find(NOTE, "The kinase called Hsp70 was found.", "other names") != []
    assert find(NOTE, "The work began in March.", "other names") == []
