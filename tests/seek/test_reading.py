"""What a search reads of a note is cut to a budget, and says what it leaves out."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from memory_palace.cli.commands import app
from memory_palace.features.seek.observing import READ_BYTES, read_node, read_passages
from memory_palace.features.seek.searches import start_search, step_search

GOAL = "which bearing of the pump was replaced"
ANSWER = "The lower bearing of the pump was replaced by a brass one."


@pytest.fixture(params=["hashing", "none"])
def long_note(request, notes):
    filler = [f"On day {n} the {n}th tile of the roof was laid by Ann." * 5 for n in range(60)]
    parts = [*filler[:40], ANSWER, *filler[40:]]
    path = notes.paths.notes / "chambers" / "diary.md"
    path.write_text("# Diary\n\n" + "\n\n".join(parts) + "\n", "utf-8")
    notes.index(embedder=request.param, force=True)
    return notes, "palace/chambers/diary.md"


def test_what_bears_on_the_goal_is_read_first_and_within_the_budget(long_note):
    palace, path = long_note
    for budget in (150, 600, READ_BYTES):
        reading = read_passages(palace, path, GOAL, budget_bytes=budget)
        assert ANSWER in reading.passages[0].text
        assert len(reading.passages[0].text.encode()) <= budget
        assert not reading.is_whole
    told = {n for p in reading.passages for n in range(p.lines[0], p.lines[1] + 1)}
    left = {n for first, last in reading.left_out for n in range(first, last + 1)}
    assert told | left == set(range(1, reading.note.total_lines + 1))
    assert not told & left


def test_the_lines_of_a_passage_are_those_that_show_prints(long_note):
    palace, path = long_note
    reading = read_passages(palace, path, GOAL, budget_bytes=2_000)
    (cut,) = reading.passages
    shown = palace.read(path, first_line=cut.lines[0], last_line=cut.lines[1])
    assert cut.text.strip("… \n") in shown.text


def test_a_note_that_changed_since_it_was_indexed_is_read_as_it_is(long_note):
    palace, path = long_note
    file = palace.paths.root / path
    file.write_text(file.read_text("utf-8").replace("brass", "steel"), "utf-8")
    reading = read_passages(palace, path, GOAL, budget_bytes=300)
    assert "lower bearing of the pump was replaced by a steel one" in reading.passages[0].text
    assert len(reading.passages[0].text.encode()) <= 300
    first = reading.passages[0].lines[0]
    assert first > 40


def test_a_short_note_is_read_whole(notes):
    start_search(notes, GOAL)
    step_search(notes)
    _, reading = read_node(notes)
    assert reading.is_whole
    assert reading.passages[0].text == reading.note.text
    assert reading.left_out == ()


def test_observing_says_what_was_left_out_and_how_to_see_it(long_note):
    palace, path = long_note
    start_search(palace, GOAL)
    step_search(palace)
    root = str(palace.paths.root)
    shown = CliRunner().invoke(app, ["seek", "observe", "-C", root])
    assert shown.exit_code == 0
    assert len(shown.stdout.encode()) < READ_BYTES + 200
    assert f"are left out: palace show {path}:1-" in shown.stderr
    answer = CliRunner().invoke(app, ["seek", "observe", "--json", "-C", root])
    reading = json.loads(answer.stdout)["reading"]
    assert (reading["path"], reading["whole"]) == (path, False)
    assert ANSWER in reading["passages"][0]["text"]
