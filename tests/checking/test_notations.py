"""A date, an amount or a time of day may be written otherwise, and not be another one."""

from __future__ import annotations

import pytest

from memory_palace.features.checking.checker import Passage, check_answer, worst_verdict

NOTE = """# Observatory

The dome was opened on 3 March 1998 by Dr. Ilse Brandt. It weighs 12,500 kg and cost $1.2 million.

Tours of the dome start at 14:30 and last 45 minutes. Two fifths of the visitors are pupils.
"""


def _verdict(answer: str) -> str:
    return worst_verdict(check_answer(answer, [Passage("observatory.md", 1, 5, NOTE)]))


@pytest.mark.parametrize(
    "answer",
    [
        "The dome was opened on March 3, 1998.",
        "The dome was opened on 1998-03-03.",
        "The dome opened in spring 1998.",
        "The dome weighs 12500 kilograms and cost 1.2 million dollars.",
        "Tours of the dome last three quarters of an hour.",
        "Of the visitors 40 % are pupils.",
    ],
)
def test_the_same_in_another_notation(answer: str) -> None:
    assert _verdict(answer) in ("quoted", "supported")


@pytest.mark.parametrize(
    "answer",
    [
        "The dome was opened on 3 May 1998.",
        "The dome was opened on March 13, 1998.",
        "The dome was opened on 1998-03-04.",
        "The dome opened in autumn 1998.",
        "The dome weighs 12500 pounds and cost 1.2 million dollars.",
        "Of the visitors 60 % are pupils.",
    ],
)
def test_another_one_in_any_notation(answer: str) -> None:
    """Before, a whole date passed where the note had its year as a number."""
    assert _verdict(answer) in ("contradicted", "not_found")
