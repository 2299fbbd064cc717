"""Run the tables of the files in Markdown: one row, one case."""

from datetime import date
from pathlib import Path

import pytest

from memory_palace.features.structure.facts import find_phrases
from memory_palace.language.tagged_words import find_names, name_text, split_words
from memory_palace.language.times import find_times
from memory_palace.language.words import tell_tongue, tokenize

READ_ON, ASKED_ON = date(2026, 5, 28), date(2026, 11, 22)


def rows(name):
    lines = Path(__file__).with_name(name).read_text("utf-8").splitlines()
    table = [line for line in lines if line.startswith("|")][2:]
    for line in table:
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        yield pytest.param(*cells, id=cells[0] + (f" ({cells[2]})" if len(cells) == 3 else ""))


@pytest.mark.parametrize(("text", "expected"), list(rows("phrases.md")))
def test_phrases_are_what_the_table_says(text, expected):
    found = [" ".join(word.key for word in phrase) for phrase in find_phrases(split_words(text))]
    assert (", ".join(found) or "-") == expected


@pytest.mark.parametrize(("text", "expected", "known"), list(rows("names.md")))
def test_names_are_what_the_table_says(text, expected, known):
    keys = {key.strip() for key in known.split(",")} - {""}
    found = [name_text(name) for name in find_names(split_words(text), keys)]
    assert (", ".join(found) or "-") == expected


@pytest.mark.parametrize(("text", "first", "last", "tolerance"), list(rows("dates.md")))
def test_expressions_of_time_mean_what_the_table_says(text, first, last, tolerance):
    windows = [window for found in find_times(text, READ_ON) for window in found.windows]
    if first == "-":
        assert windows == []
    else:
        [window] = windows
        assert (str(window.first), str(window.last)) == (first, last)
        assert window.tolerance_days == int(tolerance)


@pytest.mark.parametrize(("text", "first", "last"), list(rows("times.md")))
def test_sure_expressions_are_those_of_the_table(text, first, last):
    found = [each.windows[0] for each in find_times(text, ASKED_ON) if each.certainty >= 0.5]
    spans = [(str(window.first), str(window.last)) for window in found]
    assert spans == ([] if first == "-" else [(first, last)])


@pytest.mark.parametrize("text", list(rows("tongues.md")))
def test_prose_of_another_language_is_told_from_english(text):
    assert tell_tongue(text) == "other"


@pytest.mark.parametrize("words", list(rows("forms.md")))
def test_forms_and_spellings_of_one_word_are_one_token(words):
    assert len({*tokenize(words)}) == 1


@pytest.mark.parametrize(("first", "second"), list(rows("lookalikes.md")))
def test_words_that_only_look_alike_stay_apart(first, second):
    assert tokenize(first) != tokenize(second)
