"""What a model may reply, whatever it is: read, or refused with a reason it can be told."""

import json

import pytest

from memory_palace.dialogue import ReplyError, find_json, read_number, read_text, read_texts


@pytest.mark.parametrize(
    "reply",
    [
        '{"a": "```"}',
        '  {"a": "see ```json\\n{}\\n``` there"}',
        'Here:\n```json\n{"a": 1}\n```\nGood luck.',
        'Here:\n```\n{"a": 1}\n```',
    ],
)
def test_a_reply_is_read_with_a_fence_in_it_or_around_it(reply):
    assert isinstance(find_json(reply), dict)


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("I would rather not.", "not JSON"),
        ("```json\n{}", "not JSON"),
        ("[" * 100_000, "nested too deep"),
        ("```json\n" * 150_000, "1,200,000 characters"),
        ('{"a": "' + "x" * 1_000_000 + '"}', "1,000,009 characters"),
    ],
)
def test_a_hostile_reply_is_refused_with_its_reason(reply, reason):
    with pytest.raises(ReplyError, match=reason):
        find_json(reply)


@pytest.mark.parametrize("value", [None, 7, ["x"], {"a": "x"}, "", " \n", "x" * 2_001, True])
def test_what_is_no_text_is_refused(value):
    with pytest.raises(ReplyError):
        read_text({"key": value}, "key")


def test_half_a_character_is_left_out_of_a_text_and_a_list():
    item = json.loads('{"one": "a\\ud800b\\nc", "many": ["\\udfff", "d\\udc00e"]}')
    assert read_text(item, "one") == "ab c"
    assert read_texts(item, "many", most=2) == ["de"]


@pytest.mark.parametrize("value", ["NaN", "Infinity", "-Infinity", "1e999", "true", '"3"', "null"])
def test_what_is_no_number_in_its_bounds_is_refused(value):
    with pytest.raises(ReplyError):
        read_number(json.loads(f'{{"n": {value}}}'), "n", low=1, high=5)
