"""What rooms and districts are called."""

import pytest

from memory_palace.features.view.naming import Described, find_terms, name_groups


def name(*groups, within=""):
    """Return the names of groups of notes, each a title, or a title and a text after a bar."""
    notes = [Described(title.partition("|")[0], (), title) for group in groups for title in group]
    numbers = [number for number, group in enumerate(groups) for _ in group]
    return name_groups(notes, numbers, [within] * len(groups))


OAKS = ["Oak in winter|the garden", "Old oak|of the garden", "Acorns of an oak|a garden"]
ENGINES = ["Diesel engine|in the garden", "An engine stalls|garden", "Engine oil|the garden"]


def test_a_group_is_called_by_what_only_its_titles_have():
    assert name(OAKS, ENGINES) == ["Oak", "Engine"]
    assert name(OAKS, ENGINES, within="Oak and ash") == ["", "Engine"]


def test_a_phrase_is_preferred_to_its_words():
    assert name(["Stem cells of mice", "On stem cells", "Stem cells"], ENGINES)[0] == "Stem cells"


def test_a_second_term_is_for_what_the_first_leaves():
    names = name([*OAKS, "Elm", "An elm in May", "Elm wood", "The elm"], ENGINES)
    assert names[0].split(" · ") == ["Elm", "Oak"]


@pytest.mark.parametrize(
    "titles",
    [
        ["The and of it", "this was that", "of the"],
        ["Zebra", "Yak", "Emu"],
        ["A note", "Note two", "My note"],
    ],
    ids=["grammar", "of one note", "of all notes"],
)
def test_where_nothing_fits_there_is_no_name(titles):
    assert name(titles, ["Note on tea", "The note of oak", "Note"])[0] == ""


def test_each_script_has_terms_of_its_own():
    assert name(
        ["神经网络的训练", "关于神经网络", "神经网络入门"],
        ["カメラの使い方", "新しいカメラ", "カメラとレンズ"],
        ["노트를 정리", "노트가 많다", "노트의 순서"],
        ["Синхронизация заметок", "О синхронизации", "Синхронизация и шифр"],
    ) == ["神经网络", "カメラ", "노트", "Синхронизация"]


@pytest.mark.parametrize("title", ["", "   ", "123 456", "a b c", "---", "%%"])
def test_a_title_without_words_has_no_terms(title):
    assert find_terms(title) == {}
