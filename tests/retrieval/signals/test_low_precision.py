"""overlap, logic, preference and noun_phrase."""

from __future__ import annotations


def test_r5_a_word_inside_another_word_is_no_overlap(score):
    question = "Where is the case for my tablet?"
    assert score(
        "overlap", question, ["a showcase of stablest work", "the tablet case is here"]
    ) == [
        0.0,
        1.0,
    ]


def test_one_word_in_common_is_incidental(score):
    question = "Which case did I buy for the tablet?"
    assert score("overlap", question, ["the display case is full of cups"]) == [0.0]


def test_overlap_below_a_fifth_of_the_question_is_silent(score):
    question = (
        "Which blue ceramic kitchen bowl, copper kettle, wooden spoon, paper lantern and old "
        "garden chair survived?"
    )
    assert score(
        "overlap", question, ["a blue bowl", "blue ceramic bowls, an old garden chair"]
    ) == [
        0.0,
        0.4286,
    ]


def test_a_question_of_one_word_needs_only_that_word(score):
    assert score("overlap", "Kafka?", ["we dropped Kafka", "we kept Redis"]) == [1.0, 0.0]


def test_a_relation_is_found_whoever_asks_in_whatever_tense(score):
    question = "What did Anna buy?"
    found = score(
        "logic", question, ["Yesterday Anna bought a kayak.", "I think Anna likes kayaks."]
    )
    assert found[0] > found[1] > 0


def test_the_first_person_of_a_labelled_line_is_its_speaker(score):
    found = score(
        "logic", "What did Anna buy?", ["Anna: I bought a kayak.", "Ben: I bought a boat."]
    )
    assert found[0] > 0 == found[1]


def test_logic_that_most_notes_share_is_dampened(score):
    lonely = ["Anna bought a kayak. Well, Anna did."] + ["nothing of interest here"] * 9
    crowd = ["Anna bought a kayak. Well, Anna did."] * 5 + ["nothing of interest here"] * 5
    question = "What did Anna buy?"
    alone, shared = score("logic", question, lonely)[0], score("logic", question, crowd)[0]
    assert 0 < shared < 0.6 * alone


def test_passages_of_one_note_are_no_crowd(score):
    texts = ["Anna bought a kayak."] * 4 + ["nothing of interest here"] * 9
    one_note = score("logic", "What did Anna buy?", texts, notes=[0, 0, 0, 0, *range(1, 10)])
    many_notes = score("logic", "What did Anna buy?", texts)
    assert one_note[0] > many_notes[0]


def test_preferences_answer_questions_about_taste_only(score):
    texts = ["I really enjoy thai food.", "The thai food stall is closed."]
    assert score("preference", "What food would you recommend?", texts) == [1.0, 0.0]
    assert score("preference", "When did the food stall close?", texts) == [0.0, 0.0]


def test_a_preference_of_the_person_asked_about_counts_most(score):
    texts = ["Anna prefers tea.", "Ben prefers tea.", "Anna loves rowing.", "tea is a plant"]
    assert score("preference", "Which tea does Anna like?", texts) == [1.0, 0.7, 0.3, 0.0]


def test_liking_is_not_likeness(score):
    texts = ["I love the lighthouse.", "The lighthouse is white."]
    assert score("preference", "What did the lighthouse look like?", texts) == [0.0, 0.0]


def test_the_bridge_prefers_the_whole_phrase_to_its_head(score):
    texts = ["a portable power bank", "the power bank", "the river bank", "a savings account"]
    found = score("noun_phrase", "Where is my portable power bank?", texts)
    assert found[0] > found[1] > found[2] > found[3] == 0


def test_the_bridge_counts_rare_phrases_more(score):
    common = ["the meeting was long"] * 8
    texts = ["the meeting was short", "the samovar was hot", *common]
    found = score("noun_phrase", "Was the samovar at the meeting?", texts)
    assert found[1] > found[0] > 0
