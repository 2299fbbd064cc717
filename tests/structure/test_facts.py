"""What a passage holds, by kind and key."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_palace.facts import extract_dates
from memory_palace.features.structure.facts import Kind, extract_structure, text_key


def extract_facts(text, *, written=None, **options):
    return (*extract_structure(text, **options), *extract_dates(text, written))


def keys(kind, text, **options):
    return {fact.key for fact in extract_facts(text, **options) if fact.kind == kind}


def test_what_front_matter_and_links_state_is_a_fact_in_any_language():
    facts = extract_facts(
        "今天我们见面了。",
        tags=["#home-network"],
        links=["thoughts/Feedback Loops.md"],
        entities=["Ana  Schmidt"],
    )
    assert {(fact.kind.value, fact.key) for fact in facts} == {
        ("tag", "home network"),
        ("link", "feedback loops"),
        ("entity", "ana schmidt"),
    }


def test_a_name_is_found_by_each_word_in_any_form_and_in_small_letters_where_the_note_has_it():
    assert keys("entity", "I met Maria Lopez in town.") == {"maria lopez", "maria", "lopez"}
    assert keys("entity", "I met Zo\u00eb there.") == {"zo\u00eb"}
    assert keys("entity", "I met Zoe\u0308 there.") == {"zo\u00eb"}
    assert "kafka" in keys("entity", "we asked about kafka", entities=["Kafka"])


def test_phrases_have_the_key_that_a_question_has():
    held = keys("phrase", "She lost two portable power banks.")
    assert {"portabl power bank", "power bank", "bank"} <= held
    held = keys("phrase", "It was loud.", title="Heat pump", headings=["Repair costs"])
    assert {"heat pump", "repair cost"} <= held
    assert keys("quote", 'He said "Slow  living!" again.') == {text_key("slow living")}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Anna bought a red kayak.", "anna|buy|kayak"),
        ("Anna: I finally bought a kayak!", "anna|buy|kayak"),
        ("I have been reading a novel.", "i|read|novel"),
        ("Yesterday Ben went to the dentist.", "ben|go|dentist"),
    ],
)
def test_who_does_what_is_a_relation(text, expected):
    held = keys("relation", text)
    assert expected in held
    subject, verb, thing = expected.split("|")
    assert {f"{subject}|{verb}|*", f"*|{verb}|{thing}"} <= held


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I really love green tea.", "i|tea"),
        ("I like trains because buses make me sick.", "i|train"),
        ("Anna prefers trains to planes.", "anna|train"),
        ("Anna: I can't stand loud bars.", "anna|bar"),
        ("**Anna:** I'd love to visit Norway", "anna|norway"),
        ("My favourite colour is teal.", "i|teal"),
        ("Ben's favorite dish is paella.", "ben|paella"),
        ("We are planning to repaint the kitchen.", "i|kitchen"),
        ("I don’t like olives, but bread is fine.", "i|oliv"),
    ],
)
def test_likes_wishes_and_plans_are_preferences(text, expected):
    held = keys("preference", text)
    assert expected in held and not held & {"i|bus", "i|buse"}


@pytest.mark.parametrize(
    "text", ["What do you like?", "It looks like rain.", "I like it.", "The plan wants work."]
)
def test_what_states_no_preference_gives_none(text):
    assert keys("preference", text) == set()


def test_dates_are_absolute_where_the_text_or_the_note_says_so():
    assert keys("date", "We moved on March 5, 2024.") == {"2024-03-05", "2024-03~"}
    assert keys("date", "We moved in March 2024.") == {"2024-03"}
    assert keys("date", "We moved in 2024.") == {"2024"}
    assert keys("date", "We moved on March 5.") == {"--03-05"}
    assert keys("date", "We moved yesterday.") == set()
    written = date(2024, 3, 6)
    assert keys("date", "We moved yesterday.", written=written) == {"2024-03-05", "2024-03~"}
    assert keys("date", "We moved last month.", written=written) == {"2024-02"}


def test_code_math_and_addresses_hold_no_facts():
    text = """```python
Anna = bought(a, kayak)
```
`Maria Lopez` and $Alpha Beta$ at https://example.org/Maria/kayak <b>here</b>"""
    facts = extract_facts(text)
    assert not [fact for fact in facts if "maria" in fact.key or "kayak" in fact.key]


def test_the_shown_name_of_a_link_is_prose():
    assert "feedback loop" in keys(
        "phrase", "We need a [[notes/x|feedback loop]] and [this](y.md)."
    )


@pytest.mark.parametrize(
    "text",
    [
        "我们上周二在北京见了面，因为安娜喜欢喝茶。",
        "Мы встретились во вторник, потому что Анна любит чай.",
        "Wir haben Anna am Dienstag im Park getroffen, weil sie das Boot mag.",
        "Vimos a Anna en el parque con su barco y ella no quiere el té.",
        "",
    ],
)
def test_r3_english_patterns_are_silent_on_other_languages(text):
    assert extract_facts(text) == ()


@given(st.text(max_size=300))
def test_any_text_gives_distinct_facts_with_keys_the_same_each_time(text):
    facts = extract_facts(text)
    pairs = [(fact.kind, fact.key) for fact in facts]
    assert len(set(pairs)) == len(pairs)
    assert all(key for _, key in pairs)
    assert extract_facts(text) == facts


def test_every_kind_is_extracted_from_something():
    facts = extract_structure(
        'Ben: I love rowing. On Tuesday, March 5, 2024 Ana Lopez bought a "blue boat" from '
        "childhood friends.",
        tags=["a"],
        links=["b"],
    )
    assert {fact.kind for fact in facts} == set(Kind)
