"""logic, preference and noun_phrase."""


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
