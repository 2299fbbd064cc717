"""Factors that words show are found by words; the others count only where they are marked."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_palace.features.memories.form import Factor, Mark, count_score
from memory_palace.features.memories.smashin import band_of, detect_factors, merge_marks

RICH = (
    "You lift the funnel and a spider the size of a tea plate, in a violet raincoat, sits on the "
    "bucket and hums. Cold water runs into your sleeve; two neighbours laugh beside the fence."
)


def present(image):
    return {mark.factor for mark in detect_factors(image) if mark.is_present}


@pytest.mark.parametrize(
    ("image", "factor", "is_there"),
    [
        ("A dog runs and jumps.", Factor.MOVEMENT, True),
        ("A dog runs and runs.", Factor.MOVEMENT, False),
        ("It smells of smoke and sounds like a bell.", Factor.SENSORY, True),
        ("A bell rings and hums.", Factor.SENSORY, False),
        ("You open it.", Factor.INTERACT, True),
        ("The youth opens it.", Factor.INTERACT, False),
        ("Forty candles.", Factor.NUMBERS, True),
        ("One candle.", Factor.NUMBERS, False),
        ("A turquoise door.", Factor.COLOR, True),
        ("An evergreen.", Factor.COLOR, False),
        ("An enormous shoe.", Factor.OVERSIZE, True),
        ("Five minutes pass.", Factor.OVERSIZE, False),
        ("Under it, beneath the stairs.", Factor.POSITION, True),
        ("She screams in terror.", Factor.EMOTION, True),
        ("A grey box. [Verify: two enormous red owls]", Factor.OVERSIZE, False),
    ],
)
def test_a_factor_is_found_by_its_words_and_not_by_parts_of_others(image, factor, is_there):
    assert (factor in present(image)) is is_there


def test_each_mark_says_which_words_it_rests_on():
    reasons = {mark.factor: mark.reason for mark in detect_factors(RICH)}
    assert reasons[Factor.COLOR] == "violet"
    assert reasons[Factor.INTERACT] == "you lift, your sleeve"


def test_a_person_s_mark_outweighs_words_and_words_are_read_anew():
    old = [
        Mark(Factor.COLOR, False, "dull", "ilse"),
        Mark(Factor.MOVEMENT, False, "", "words"),
        Mark(Factor.HUMOR, True, "neighbours"),
    ]
    marks = {mark.factor: mark for mark in merge_marks(old, detect_factors(RICH))}
    assert not marks[Factor.COLOR].is_present and marks[Factor.MOVEMENT].is_present
    assert Factor.ABSURD not in marks and count_score(marks.values()) == 8


def test_bands_meet_without_a_gap():
    assert [band_of(score) for score in (0, 3, 4, 6, 7, 9, 10, 12)] == [
        "poor", "poor", "moderate", "moderate", "good", "good", "excellent", "excellent",
    ]  # fmt: skip


@given(st.text(max_size=300))
def test_any_image_has_a_score_from_0_to_8_by_its_words(image):
    marks = detect_factors(image)
    assert len(marks) == 8 and 0 <= count_score(marks) <= 8


@pytest.mark.parametrize(
    ("half", "recall", "precision"), [("dev", 0.92, 0.95), ("held", 0.77, 0.91)]
)
def test_words_find_what_another_hand_saw_in_its_images(half, recall, precision):
    lines = Path(__file__).with_name(f"images_{half}.jsonl").read_text("utf-8").splitlines()
    images = [json.loads(line) for line in lines]
    true = {(at, Factor(name)) for at, image in enumerate(images) for name in image["present"]}
    found = {
        (at, mark.factor)
        for at, image in enumerate(images)
        for mark in detect_factors(image["image"])
        if mark.is_present
    }
    assert len(found & true) >= recall * len(true)
    assert len(found & true) >= precision * len(found)
