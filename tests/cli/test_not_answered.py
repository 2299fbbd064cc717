"""What `palace query` says and exits with where nothing answers."""

import json
from functools import partial

import pytest
from running import run_main
from writing_notes import index_notes

TITLES = ("Roof", "Rain", "Keys")


@pytest.fixture
def ask(tmp_path, capsys):
    text = "# {}\n\nThe {} of the hut is old.\n"
    index_notes(tmp_path, {f"{name}.md": text.format(name, name.lower()) for name in TITLES})
    return partial(run_main, capsys, "-C", tmp_path, "query", "--neighbors", "0")


def test_below_the_threshold_the_nearest_is_shown_and_named(ask):
    status, out, err = ask("Who won the hut in 1998?")
    assert status == 0
    assert err.startswith("nothing here answers that; the nearest is ")
    assert out.startswith("1  ") and "\n2  " not in out
    answer = json.loads(ask("Who won the hut in 1998?", "--json")[1])
    assert answer["answered"] is False and len(answer["hits"]) == 3
    assert max(hit["confidence"] for hit in answer["hits"]) < 0.75
    status, out, err = ask("hut")
    assert status == 0 and "\n3  " in out and "nearest" not in err


def test_a_confidence_beyond_its_scale_is_a_mistake(ask):
    status, _, err = ask("keys", "--min-confidence", "1.5")
    assert status == 2 and "less than or equal to 1" in err


def test_a_tag_that_no_note_has_is_said_to_be_a_word(ask):
    _, _, err = ask("keys #unknown")
    assert "no note has the tag #unknown; it was searched as a word\n" in err
    assert "tag" not in ask("keys")[2]


def test_between_it_says_perhaps_and_shows_what_is_worth_reading(ask):
    status, out, err = ask("is the old hut haunted")
    assert status == 0 and err.startswith("perhaps; ") and "\n2  " in out
    answer = json.loads(ask("is the old hut haunted", "--json")[1])
    assert answer["perhaps"] is True and answer["answered"] is False
