"""What counts as a token, in notes and in questions alike."""

from __future__ import annotations

import pytest
from growing import assert_linear
from hypothesis import given
from hypothesis import strategies as st

from memory_palace.anchors.terms import words_of
from memory_palace.language.tagged_words import split_words
from memory_palace.language.tokens import plain_words, tokenize
from memory_palace.mnemonics.verification_tokens import fold_words
from memory_palace.redqueen.passages import content_words


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("release 1.0.21", ["1.0.21", "1", "0", "21"]),
        ("release v1.0.21", ["1.0.21"]),
        ("call save_index()", ["save_index", "save", "index"]),
        ("call saveIndex()", ["saveindex", "save", "index"]),
        ("peer-reviewed", ["peer-reviewed", "peer", "review"]),
        ("Anna's", ["anna"]),
        ("STRASSE Straße", ["strass"]),
        ("ﬁnd Ｗｉｄｅ", ["find", "wide"]),
        ("due 2026-03-05", ["2026-03-05", "2026"]),
        ("黒猫がいる", ["猫", "黒猫", "猫が"]),
        ("입니다", ["입니", "니다"]),
        ("ภาษาไทย", ["ภา", "ไท"]),
        ("Python入門", ["python", "入門"]),
        ("हिन्दी", ["हिन्दी"]),
        ("naïve", ["naïve"]),
    ],
)
def test_a_text_gives_these_tokens_among_others(text, tokens):
    assert set(tokens) <= set(tokenize(text))


def test_words_of_one_stem_are_one_token():
    assert len({*tokenize("repair repairs repaired repairing")}) == 1


def test_stems_can_be_left_out():
    assert tokenize("the repairs", stems=False) == ["the", "repairs"]


def test_only_words_of_plain_letters_are_stemmed():
    assert tokenize("naïves 24s caching_layers") == [
        "naïves",
        "24s",
        "caching_layers",
        "cach",
        "layer",
    ]


@given(st.text())
def test_any_text_gives_tokens_without_blanks(text):
    for token in tokenize(text):
        assert token
        assert not any(c.isspace() for c in token)


@given(st.text(alphabet="abc ä-_.'漢字ก็", max_size=30))
def test_a_token_of_a_note_is_found_by_itself(text):
    for token in tokenize(text, stems=False):
        assert token in tokenize(token, stems=False)


def test_a_long_line_takes_linear_time():
    """A pattern that went back over what it has read would need hours for this."""
    assert tokenize("a." * 200_000)
    assert tokenize("漢" * 200_000)


def test_each_list_of_words_says_of_one_sentence_what_it_is_for():
    text = "Anna’s red-backpack isn't"
    assert tokenize(text) == ["anna", "red-backpack", "red", "backpack", "isn't", "isn"]
    assert plain_words(text) == ["anna's", "red", "backpack", "isn't"]
    assert [word.key for word in split_words(text)] == ["anna", "red-backpack", "isn't"]
    assert words_of(text) == ["anna", "red", "backpack", "isn't"]
    assert content_words(text) == ["Anna’s", "red-backpack", "isn't"]
    assert fold_words(text) == ["annas", "red", "backpack", "isnt"]


@pytest.mark.parametrize("unit", ["\n", "\n ", "a'", "a_", "[", "1. ", "\n1"])
def test_words_are_split_in_time_that_grows_with_the_text(unit):
    assert_linear(lambda repeats: split_words(unit * repeats), 5_000)
