"""temporal, quoted, name and temporal_phrase; asked on Thursday 2026-05-28."""

import pytest

TEXT = "the boiler was repaired"
SURE = 0.95
"""The certainty of an expression that is not ambiguous."""


def test_no_two_days_are_equally_near(score):
    days = [f"2026-05-{day}" for day in (18, 17, 16, 15, 14, 13, 12, 11, 10)]
    found = score("temporal", "What did I do 10 days ago?", [TEXT] * 9, dates=days)
    assert found[0] == SURE and found[1] == pytest.approx(0.72 * SURE, abs=0.01)
    assert found == sorted(set(found), reverse=True)


def test_what_lies_within_a_window_is_above_what_reaches_into_it_and_that_above_the_rest(score):
    spans = ["2024-05-14/2024-05-14", "2024-05-13/2024-05-19", "2024-04-27/2024-05-05"]
    spans += ["2024-04-30/2024-04-30", "2024-04-29/2024-04-29"]
    days = [[tuple(span.split("/"))] for span in spans]
    found = score("temporal", "What broke in May 2024?", [TEXT] * 5, days=days)
    assert min(found[:2]) > 0.95 * SURE
    assert found[1] > found[2] and found[1] > found[3] > found[4]


def test_a_note_of_a_month_answers_for_it_best_and_for_its_day_a_little(score):
    days = [[("2024-05-01", "2024-05-31")], [("2024-05-14", "2024-05-14")]]
    month = score("temporal", "What broke in May 2024?", [TEXT] * 2, days=days)
    day = score("temporal", "What broke on 14 May 2024?", [TEXT] * 2, days=days)
    assert month[0] == SURE > month[1] and 0.3 < day[0] < 0.5 < day[1] == SURE


def test_an_entry_is_of_its_day_first_and_then_of_that_of_its_last_change(score):
    days = [[("2024-05-14", "2024-05-14")], [("2024-06-02", "2024-06-02")]]
    changed = ["2024-06-02", "2024-06-02"]
    asked = "What broke on 2 June 2024?"
    assert score("temporal", asked, [TEXT] * 2, days=days, dates=changed) == pytest.approx(
        [0.8 * SURE, SURE]
    )
    asked = "What broke on 14 May 2024?"
    assert score("temporal", asked, [TEXT] * 2, days=days, dates=changed)[0] == SURE


def test_what_git_or_the_file_says_of_a_day_is_weak(score):
    asked = "What broke on 14 May 2024?"
    assert score("temporal", asked, [TEXT], dates=["2024-05-14"], source=3) == [0.5 * SURE]


def test_a_date_in_the_passage_counts_whenever_the_note_was_written(score):
    texts = ["On March 5, 2024 the boiler was repaired.", "On 5 May 2023 it broke.", TEXT]
    assert score("temporal", "What happened on 2024-03-05?", texts) == [1.0, 0.0, 0.0]


def test_a_day_answers_for_its_month_and_a_month_partly_for_its_day(score):
    texts = ["The boiler was repaired on 2024-03-05.", "The boiler was repaired in March 2024."]
    near, named = score("temporal", "What broke in March 2024?", texts)
    assert named == SURE > near > 0.95 * SURE
    assert score("temporal", "What broke on 2024-03-05?", texts) == [
        1.0,
        pytest.approx(0.42, abs=0.01),
    ]


def test_a_day_without_a_year_is_that_day_of_any_year(score):
    texts = ["My birthday is May 5.", "It was May 5, 2026."]
    assert score("temporal", "What happened on May 5, 2026?", texts) == pytest.approx(
        [0.9 * SURE, SURE]
    )


def test_a_quote_is_found_as_it_stands_or_by_all_its_words(score):
    texts = ['She called it "slow living" and left.', "living in a slow town", "a slow train"]
    assert score("quoted", 'Who said "slow living"?', texts) == [1.0, 0.6, 0.0]


def test_apostrophes_quote_nothing(score):
    assert score("quoted", "Is Ana's boat Ben's idea?", ["boat of Ben"]) == [0.0]


def test_r4_the_first_word_of_a_sentence_is_no_name(score):
    texts = ["Previously the boiler was loud.", "It was loud, previously."]
    assert score("name", "Previously it was loud. Why?", texts) == [0.0, 0.0]


def test_r4_a_known_name_is_found_in_small_letters(score):
    texts = ["I had lunch with melanie.", "I had lunch with a melon."]
    question = "what did melanie eat?"
    assert score("name", question, texts) == [0.0, 0.0]
    assert score("name", question, texts, known=["melanie"]) == [0.8, 0.0]


def test_names_count_by_their_share(score):
    texts = ["I saw Anna and Boris.", "I saw Boris there.", "I saw a cat."]
    assert score("name", "Where did Maria say Anna met Boris?", texts)[2] == 0.0
    assert score("name", "How did Anna meet Boris?", texts) == [1.0, 0.5, 0.0]


def test_phrases_tell_apart_the_passages_of_one_day(score):
    texts = ["We tried the new smoker.", "We tried the new boat.", "The new smoker is loud."]
    dates = ["2026-05-23", "2026-05-23", "2025-01-01"]
    found = score("temporal_phrase", "What about the smoker 5 days ago?", texts, dates=dates)
    assert found[0] > 0 == found[1] == found[2]
