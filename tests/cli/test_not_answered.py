"""What `palace query` says and exits with where nothing answers."""

import json
from functools import partial

import pytest
from running import run_main

from memory_palace.palace import Palace


@pytest.fixture
def ask(tmp_path, capsys):
    palace = Palace.init(tmp_path)
    for title in ("Roof", "Rain", "Keys"):
        path = palace.paths.notes / "chambers" / f"{title}.md"
        path.write_text(f"# {title}\n\nThe {title.lower()} of the hut is old.\n", "utf-8")
    palace.index(embedder="hashing")
    return partial(run_main, capsys, "-C", tmp_path, "query")


def test_below_the_threshold_the_nearest_is_shown_and_named(ask):
    status, out, err = ask("Who won the hut in 1998?", "--neighbors", "0")
    assert status == 0
    assert err.startswith("nothing here answers that; the nearest is ")
    assert out.startswith("1  ") and "\n2  " not in out


def test_an_answer_shows_all_hits_and_says_nothing(ask):
    status, out, err = ask("hut", "--neighbors", "0")
    assert status == 0 and "\n3  " in out and "nearest" not in err


def test_json_keeps_every_hit_and_says_how_sure_each_is(ask):
    _, out, _ = ask("Who won the hut in 1998?", "--neighbors", "0", "--json")
    answer = json.loads(out)
    assert answer["answered"] is False and len(answer["hits"]) == 3
    assert max(hit["confidence"] for hit in answer["hits"]) < 0.75


def test_a_confidence_beyond_its_scale_is_a_mistake(ask):
    status, _, err = ask("keys", "--min-confidence", "1.5")
    assert status == 2 and "less than or equal to 1" in err


def test_a_tag_that_no_note_has_is_said_to_be_a_word(ask):
    _, _, err = ask("keys #unknown", "--neighbors", "0")
    assert "no note has the tag #unknown; it was searched as a word\n" in err
    assert "tag" not in ask("keys", "--neighbors", "0")[2]


def test_between_it_says_perhaps_and_shows_what_is_worth_reading(ask):
    status, out, err = ask("is the old hut haunted", "--neighbors", "0")
    assert status == 0 and err.startswith("perhaps; ") and "\n2  " in out
    answer = json.loads(ask("is the old hut haunted", "--json")[1])
    assert answer["perhaps"] is True and answer["answered"] is False
