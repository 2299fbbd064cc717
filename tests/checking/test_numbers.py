"""Numbers are read from digits and words."""

from fractions import Fraction

import pytest

from memory_palace.language.numbers import find_numbers


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("twenty-two owls", [22]),
        ("three hundred and forty", [340]),
        ("a hundred", [100]),
        ("two thousand and five", [2005]),
        ("three quarters", [Fraction(3, 4)]),
        ("a fourth of it", [Fraction(1, 4)]),
        ("the twenty-first", [21]),
        ("1,200 or 0.5", [1200, Fraction(1, 2)]),
        ("seven thirty", [7, 30]),
        ("minus four", [-4]),
        ("none at all, m²", []),
    ],
)
def test_words_and_digits_are_numbers(text, values):
    assert [number.value for number in find_numbers(text)] == values
