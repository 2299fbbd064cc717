"""``--when`` and ``when:``: what is from a time, or names it."""

import json

import pytest
from writing_notes import index_notes

from memory_palace import UsageError
from tests.running import run_well

NOTES = {
    "Journal/2026-05-14 climbing.md": "We climbed the north wall.\n",
    "Journal/14.04.2026 rowing.md": "We rowed to the island and climbed its tower.\n",
    "Journal/plans.md": "---\ndate: 2026-04-02\n---\nWe climbed stairs.\n",
    "Journal/walls.md": "---\ncreated: 2026-05-03\nupdated: 2026-09-01\n---\nWalls to climb.\n",
    "Journal/2026-06.md": "A month without climbing.\n",
    "Wiki/ropes.md": "Climbing ropes were bought on May 20, 2026.\n",
    "Wiki/chalk.md": "Chalk for climbing.\n",
}
MAY = {"Journal/2026-05-14 climbing.md", "Journal/walls.md", "Wiki/ropes.md"}


@pytest.fixture(scope="module")
def palace(tmp_path_factory):
    return index_notes(tmp_path_factory.mktemp("when"), NOTES, embedder="none")


def found(palace, text="", **asked):
    return {
        hit.path for hit in palace.query(text, limit=9, neighbors=0, as_of="2026-11-22", **asked)
    }


@pytest.mark.parametrize("time", ["last May", "2026-05", "May", "2026-05-01..2026-05-31"])
def test_when_leaves_what_is_from_a_time_or_names_it(palace, time):
    assert found(palace, when=time) == MAY == found(palace, "climb", when=time)


@pytest.mark.parametrize(
    "question", ["climb when:2026-05", 'when:"last May" climb', "climb WHEN:may"]
)
def test_a_question_can_hold_the_time(palace, question):
    assert found(palace, question) == MAY


def test_a_time_alone_lists_and_a_month_is_from_each_of_its_days(palace):
    assert found(palace, "when:2026-06-17") == {"Journal/2026-06.md"}
    assert "Journal/walls.md" in found(palace, when="September 2026")


def test_other_conditions_count_as_well(palace):
    assert found(palace, when="2026-05", folder="Wiki") == {"Wiki/ropes.md"}
    assert {note.path for note in palace.notes(when="2026-05")} == MAY


@pytest.mark.parametrize("time", ["soon", "", "chalk", "..", "2026-13-45"])
def test_what_is_no_time_is_one_error_with_examples(palace, time):
    with pytest.raises(UsageError, match="is not a time; write 2026-05"):
        palace.query("climb", when=time)


def test_details_and_json_say_how_a_time_was_read(palace):
    asked = ("-C", palace.paths.root, "query")
    told, _ = run_well(*asked, "climb", "--when", "2026-05", "--details")
    assert '"2026-05" read as 2026-05-01 … 2026-05-31' in told
    told, _ = run_well(*asked, "climb when:2026-05", "--json")
    assert json.loads(told)["times"] == [
        {"text": "2026-05", "first": "2026-05-01", "last": "2026-05-31", "certainty": 0.95}
    ]


def test_what_is_no_time_behind_a_bare_when_is_a_word_of_the_question(palace):
    assert palace.query("climb when:we climbed", neighbors=0).hits
    with pytest.raises(UsageError, match="'we climbed' is not a time"):
        palace.query('climb when:"we climbed"')
