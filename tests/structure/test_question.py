"""What is read from a question."""

import pytest

from memory_palace.features.structure.signals import Analysis, analyse


def test_one_question_is_read_for_all_signals():
    read = analyse('What did Anna say about the "slow living" blog last Tuesday?')
    assert read.is_english
    assert read.names == ("anna",)
    assert read.quotes == ("slow live",)
    assert "anna|say|*" in read.relations
    assert ("blog",) in {keys[-1:] for keys in read.phrases}


def test_the_unknown_part_of_a_relation_is_left_open():
    assert analyse("Who plays the violin?").relations == ("*|play|violin",)
    assert analyse("What does Anna play?").relations == ("anna|play|*",)
    assert "i|buy|*" in analyse("What did we buy in Rome?").relations


def test_known_entities_are_names_in_any_spelling():
    assert analyse("what does melanie play?").names == ()
    assert analyse("what does melanie play?", known_entities={"melanie"}).names == ("melanie",)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Can you suggest a hotel?", True),
        ("What is my favourite tea?", True),
        ("What does the boat look like?", False),
        ("When did the boat sink?", False),
    ],
)
def test_questions_of_taste_are_recognised(text, expected):
    assert analyse(text).asks_preference is expected


def test_r3_other_languages_are_not_read():
    assert analyse("Почему мы ушли?") == analyse("谁说过“慢生活”？") == Analysis(is_english=False)
