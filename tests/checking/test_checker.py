"""A sentence is quoted, supported, contradicted or not found by the window that covers it best."""

import pytest

from memory_palace.features.checking.checker import Passage, Verdict, check_answer, worst_verdict

GATE = Passage(
    "gate.md",
    11,
    16,
    "# The gate\n\nThe gate jams above 2.4 metres, and `gate --free` opens it.\n"
    "The mill beside it closed in 1911.\n\nAda, the miller's sister, kept the keys until May.",
)
BRIDGE = Passage("bridge.md", 1, 1, "The bridge was painted green by the harbour company in June.")


def check(answer, *passages):
    return check_answer(answer, passages or (GATE, BRIDGE))


def verdict(answer, *passages):
    return worst_verdict(check(answer, *passages))


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("The gate jams above 2.4 metres.", "quoted"),
        ("Above 2.4 metres the gate jams.", "supported"),
        ("The gate jams above 2.7 metres.", "contradicted"),
        ("The gate jams below 2.4 metres.", "contradicted"),
        ("The bridge was not painted green by the harbour company in June.", "contradicted"),
        ("Whales sing to each other over great distances.", "not_found"),
        ("Shall I go on?", "not_applicable"),
    ],
)
def test_one_sentence_has_one_verdict(answer, expected):
    (found,) = check(answer)
    assert found.verdict == expected


def test_an_answer_is_as_good_as_its_worst_sentence():
    right, wrong = "The gate jams above 2.4 metres.", "The mill beside it closed in 1912."
    assert verdict(f"{right} Shall I go on?") == Verdict.QUOTED
    assert verdict(f"{right} {wrong}") == Verdict.CONTRADICTED
    assert verdict("Shall I go on?") == Verdict.NOT_APPLICABLE
    assert verdict(f"{right} Whales sing to each other.") == Verdict.NOT_FOUND
    assert worst_verdict(check_answer(right, [])) == Verdict.NOT_FOUND


def test_a_sentence_has_the_note_and_the_lines_that_decided():
    found = check("The mill beside it closed in 1911. The bridge was painted green in June.")
    places = [(s.passage.note, s.passage.first_line, s.passage.last_line) for s in found]
    assert places == [("gate.md", 14, 14), ("bridge.md", 1, 1)]


def test_a_contradiction_names_both_places():
    (found,) = check("The bridge was painted green by the harbour company in July.")
    (first, *_) = found.differences
    assert (first.mine, first.theirs) == ("July", "June")
    assert "July" in found.reason and "June" in found.reason and "bridge.md:1" in found.reason


def test_two_adjacent_sentences_together_bear_one_out():
    (found,) = check("The gate jams above 2.4 metres and the mill closed in 1911.")
    assert found.verdict == Verdict.QUOTED
    assert (found.passage.first_line, found.passage.last_line) == (13, 14)


def test_what_another_passage_says_without_a_difference_clears_a_sentence():
    other = Passage("new.md", 1, 1, "The bridge was painted blue by the harbour company in June.")
    answer = "The bridge was painted blue by the harbour company in June."
    (found,) = check(answer, BRIDGE, other)
    assert (found.verdict, found.passage.note) == (Verdict.QUOTED, "new.md")


def test_of_a_long_passage_every_sentence_can_be_found():
    text = " ".join(f"The wheel number {n} turns in shed {n}." for n in range(700))
    long = Passage("long.md", 1, 1, text)
    assert verdict("The wheel number 650 turns in shed 650.", long) == Verdict.QUOTED
    assert verdict("The wheel number 650 turns in shed 900.", long) == Verdict.CONTRADICTED


@pytest.mark.parametrize(
    ("note", "claim", "reason"),
    [
        (
            "The meeting is at 14:30 and lasts an hour.",
            "The meeting at 15:00 lasts an hour.",
            "“15:00” where the passage says “14:30”",
        ),
        (
            "The bus costs 3 francs and leaves at 9.",
            "The bus costs 4 francs and leaves at 9.",
            "“4 francs” where the passage says “3 francs”",
        ),
    ],
)
def test_the_reason_is_the_amount_or_the_time_as_a_whole(note, claim, reason):
    """It was whatever words had changed: “14:30 and”, “month/week”."""
    (found,) = check_answer(claim, [Passage("a.md", 1, 1, note)])
    assert found.reason == f"{reason} in a.md:1"


def test_a_long_phrase_that_stands_for_a_word_is_other_wording_and_no_other_fact():
    note = (
        "If you accidentally delete a note or want to revert to a previous version, you can "
        "restore it from the version history."
    )
    claim = "Deleted files can be restored from the version history."
    (found,) = check_answer(claim, [Passage("a.md", 1, 1, note)])
    assert found.verdict != Verdict.CONTRADICTED
