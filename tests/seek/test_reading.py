"""What a search reads of a note is cut to a budget, and says what it leaves out."""

import json

import pytest
from typer.testing import CliRunner

from memory_palace.cli.group import app
from memory_palace.features.seek.searches import READ_BYTES, read_node, start_search, step_search

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


def test_of_a_long_note_the_lines_that_bear_on_the_goal_are_read_and_those_around(long_note):
    palace, path = long_note
    start_search(palace, GOAL)
    step_search(palace)
    _, reading = read_node(palace)
    assert ANSWER in reading.text
    assert len(reading.text.encode()) <= READ_BYTES
    shown = palace.read(path, first_line=reading.first_line, last_line=reading.last_line)
    assert (shown.text, shown.total_lines) == (reading.text, reading.total_lines)
    assert reading.first_line > 40
    root = str(palace.paths.root)
    shown = CliRunner().invoke(app, ["seek", "observe", "-C", root])
    assert f"read {path}:" in shown.stderr and " of 123 lines;" in shown.stderr
    answer = CliRunner().invoke(app, ["seek", "observe", "--json", "-C", root])
    assert ANSWER in json.loads(answer.stdout)["reading"]["text"]


def test_a_note_that_became_short_or_one_long_line_is_read_as_it_is(long_note):
    palace, path = long_note
    start_search(palace, GOAL)
    step_search(palace)
    for text in ("Gone.", "gone " * 1000):
        (palace.paths.root / path).write_text(text, "utf-8")
        _, reading = read_node(palace, None, 0)
        assert (reading.first_line, reading.last_line) == (1, 1)
        assert reading.text[:4].casefold() == "gone" and len(reading.text) <= READ_BYTES
