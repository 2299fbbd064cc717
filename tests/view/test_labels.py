"""What districts are called."""

import pytest

from memory_palace.features.view.gather import LabelText, find_words, label_groups


def label(*groups):
    """Return the labels of groups of texts, each a title or a title and a text."""
    texts, numbers = [], []
    for number, group in enumerate(groups):
        for text in group:
            title, _, body = text.partition("|")
            texts.append(LabelText(title, (), body))
            numbers.append(number)
    return label_groups(texts, numbers, len(groups))


def test_a_group_is_called_by_what_only_its_notes_are_about():
    found = label(
        ["Oak in winter|the garden", "Old oak|of the garden", "Acorns of an oak|a garden"],
        ["Diesel engine|in the garden", "An engine stalls|garden", "Engine oil|the garden"],
    )
    assert found == ["oak", "engine"]


def test_words_of_grammar_and_of_one_note_alone_name_nothing():
    assert label(["The and of it", "this was that"], ["Der und die", "das ist nicht"]) == ["", ""]
    assert label(["Zebra", "Yak"], ["Newt", "Moth"]) == ["", ""]


def test_each_script_has_words_of_its_own():
    found = label(
        ["神经网络的训练", "关于神经网络", "神经网络入门"],
        ["红茶和绿茶的历史", "绿茶在冬天", "喝绿茶"],
        ["カメラの使い方", "新しいカメラ", "カメラとレンズ"],
        ["노트를 정리", "노트가 많다", "노트의 순서"],
        ["Синхронизация заметок", "О синхронизации", "Синхронизация и шифр"],
    )
    assert found[0] == "神经 · 网络"
    assert found[4] == "Синхронизация"
    assert ["绿茶" in found[1], "カメ" in found[2], "노트" in found[3]] == [True] * 3


def test_addresses_and_targets_of_links_are_no_words():
    text = "See https://example.org/zebra and [there](zebra.md), <b>bold</b> [[zebra|the yak]]"
    assert "zebra" not in {key for key, _ in find_words(text)}
    assert "yak" in {key for key, _ in find_words(text)}


@pytest.mark.parametrize("text", ["", "   ", "123 456", "a b c", "---", "%%"])
def test_a_text_without_words_has_none(text):
    assert list(find_words(text)) == []
