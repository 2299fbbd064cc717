"""The benchmark of a search's first step asks both, and counts what each has."""

from __future__ import annotations

import json
from pathlib import Path

from typer.testing import CliRunner

from memory_palace.bench.first_steps import measure_first_steps
from memory_palace.bench.given import Given
from memory_palace.bench.robot import measure_robot
from memory_palace.cli.commands import app
from memory_palace.embedding.hashing import HashingEmbedder

ROOT = Path(__file__).parent.parent.parent


def test_candidates_are_counted_beside_the_hits_of_a_query(tmp_path):
    (row,) = measure_first_steps(Given(None, None, tmp_path), HashingEmbedder())
    assert (row.set, row.goals) == ("sample palace", 15)
    assert 0 < row.candidates_at_1 <= row.candidates_at_5 < 1
    assert (row.candidates_at_1, row.candidates_at_5) == (row.query_at_1, row.query_at_5)
    assert (row.difference, row.low, row.high) == (0, 0, 0)


def test_a_served_step_is_measured_beside_a_process():
    row = measure_robot("hashing", runs=1, seed=1, places=3)
    assert row.value > 0
    assert row.ratio == row.value / row.baseline


def test_the_verb_prints_what_was_asked_for(tmp_path):
    line = ["bench", "seek", str(ROOT / "tests/navigation/held_out.md"), "--embedder", "hashing"]
    line += ["--stores", "1", "--goals", "0", "--nodes", "0", "--json"]
    told = json.loads(CliRunner().invoke(app, line).stdout)
    assert told["candidates"] == []
    assert len(told["shares"]) == 5
