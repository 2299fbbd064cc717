"""A search that goes on by itself says why it stopped, and never takes a simulation for a find."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from memory_palace.cli.commands import app
from memory_palace.navigation.loci import read_loci
from memory_palace.navigation.observing import confirm_node
from memory_palace.navigation.plot import draw_search
from memory_palace.navigation.search_run import run_search
from memory_palace.navigation.searches import (
    SearchPlan,
    change_search_goal,
    load_search,
    read_search_log,
    start_search,
)

GARAGE = 2


def run(palace, **options):
    return list(run_search(palace, None, **options))


def seek(palace, *words):
    done = CliRunner().invoke(app, ["seek", *words, "-C", str(palace.paths.root)])
    assert done.exit_code == 0, done.output
    return done


def test_over_notes_it_stops_at_what_is_likely_and_is_not_done_until_confirmed(notes):
    start_search(notes, "where was the pump moved", SearchPlan())
    *_, last = run(notes)
    assert last.stop == "likely found"
    assert "moved to the shed" in last.reading.passages[0].text
    assert load_search(notes).belief["target_status"] == "likely_in_memory"
    shown = seek(notes, "goal", "where was the pump moved")
    shown = seek(notes, "run")
    assert "done" not in shown.stdout
    assert "stopped: likely found in palace/chambers/pump.md:3; `palace seek" in shown.stderr
    session = confirm_node(notes, None, None, "moved to the shed")
    assert session.belief["target_status"] == "done"


def test_over_notes_it_stops_where_nothing_speaks_for_any_other_note(notes):
    notes.index(embedder="none", force=True)
    start_search(notes, "cathedral roof", SearchPlan())
    *read, last = run(notes)
    assert [step.reading.note.path for step in read] == ["palace/chambers/shed.md"]
    assert (last.stop, last.reading) == ("nothing left", None)
    assert "no other note has anything of the goal" in seek(notes, "run").stderr


def test_over_notes_it_reads_no_more_than_its_budget(notes):
    folder = notes.paths.notes / "chambers"
    for number in range(9):
        text = f"# Day {number}\n\n" + f"The gull of day {number} sat on the roof. " * 30
        (folder / f"day {number}.md").write_text(text, "utf-8")
    notes.index()
    start_search(notes, "how far away did the gull nest", SearchPlan())
    steps = run(notes, budget_bytes=1_000)
    assert steps[-1].stop == "budget"
    assert 0 < sum(step.reading.bytes for step in steps) <= 1_000
    start_search(notes, "how far away did the gull nest", SearchPlan())
    assert [step.stop for step in run(notes, steps=2)] == [None, "steps"]


def test_over_notes_the_words_that_are_expected_are_confirmed(notes):
    start_search(notes, "pump", SearchPlan())
    *_, last = run(notes, expect="wants a long night")
    assert (last.stop, load_search(notes).belief["target_status"]) == ("found", "done")
    assert "the search is over: done" in seek(notes, "run").stderr


@pytest.fixture
def simulated(house):
    start_search(house, "tools", SearchPlan(on_loci=True))
    *_, last = run(house, seed=1, target=GARAGE)
    assert last.stop == "reached"
    return house


def test_simulated_looks_are_called_simulated_in_every_output(simulated):
    assert "tools  done (simulated)  tools" in seek(simulated, "status").stdout
    assert "found (simulated) at 2" in seek(simulated, "status").stdout
    assert "tools  done (simulated)  tools" in seek(simulated, "list").stdout
    assert json.loads(seek(simulated, "status", "--json").stdout)["simulated"] is True
    listed = json.loads(seek(simulated, "list", "--json").stdout)["sessions"]
    assert [one["simulated"] for one in listed] == [True]
    observed = [r for r in read_search_log(simulated) if r["event"] == "observe"]
    assert observed
    for record in observed:
        assert record["simulated"] is True
        assert record["result"].endswith("(simulated)")


def test_a_run_says_that_nobody_has_looked(house):
    start_search(house, "tools", SearchPlan(on_loci=True))
    shown = seek(house, "run", "--seed", "1", "--target", "2")
    assert "visible (simulated); approach 2" in shown.stdout
    assert "looks at loci were simulated" in shown.stderr
    assert "stopped: reached in a simulation; nobody has looked" in shown.stderr
    seek(house, "goal", "wine")
    whole = json.loads(seek(house, "run", "--steps", "1", "--json").stdout)
    assert (whole["stop"], whole["session"]["simulated"]) == ("steps", True)


def test_another_goal_is_not_simulated(simulated):
    session = change_search_goal(simulated, None, "wine")
    assert session.simulated is False
    assert "simulated" not in seek(simulated, "step").stdout


def test_a_drawing_says_that_looks_were_simulated(simulated):
    pytest.importorskip("matplotlib")
    session = load_search(simulated)
    picture = draw_search(session, read_search_log(simulated), read_loci(simulated).loci)
    assert "looks simulated" in picture.encode().decode()
