"""Weights are fitted by what they are given, and judged by what they were not."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from memory_palace.bench import promised_structure
from memory_palace.bench.datasets.locomo import load_locomo
from memory_palace.bench.given import Given
from memory_palace.bench.runs import run_system
from memory_palace.bench.signal_tables import SignalTable, measure_collections
from memory_palace.bench.weighing import (
    EVIDENCE,
    fit_beside,
    fit_weights,
    hold_out_each,
    judge_held_out,
)
from memory_palace.cli.app import main
from memory_palace.embedding.hashing import HashingEmbedder
from memory_palace.errors import UsageError
from memory_palace.retrieval.profiles import PROFILES


def made(values, gold, *, unit_starts=None):
    """Make a table of one question."""
    values = np.array(values, np.float32)
    starts = np.arange(values.shape[1]) if unit_starts is None else np.array(unit_starts)
    return SignalTable(values, starts, np.zeros(1, np.int64), np.array(gold))


@pytest.fixture
def three(locomo):
    """Three conversations, of which two differ in their words."""
    (sample,) = json.loads(locomo.read_text())
    samples = [sample]
    for name, plant, thing in (("c2", "lettuce", "kettle"), ("c3", "barley", "ladder")):
        text = json.dumps(sample).replace("tomatoes", plant).replace("bicycle", thing)
        samples.append(json.loads(text) | {"sample_id": name})
    locomo.write_text(json.dumps(samples))
    return locomo


def test_ranks_are_those_of_the_best_gold():
    table = made([[3, 1, 2, 0]], [False, True, True, False])
    assert table.ranks(np.array([3, 1, 2, 0], np.float32)).tolist() == [2]


def test_the_best_passage_speaks_for_its_note():
    table = made([[1, 5, 3, 2]], [True, False], unit_starts=[0, 2])
    assert table.ranks(table.values[0]).tolist() == [1]


def test_silence_is_no_success():
    table = made([[0, 0, 0]], [False, True, False])
    assert table.ranks(table.values[0]).tolist() == [3]


def test_gold_that_is_nowhere_ranks_behind_everything():
    table = made([[1, 2]], [False, False])
    assert table.ranks(table.values[0]).tolist() == [3]


def test_a_signal_that_misleads_ends_without_weight():
    noise = np.random.default_rng(0).random((40, 12)).astype(np.float32)
    tables = []
    for row in noise:
        gold = np.zeros(12, np.bool_)
        gold[3] = True
        tables.append(made(np.stack([gold * 0.2 + 0.0, row * ~gold]), gold))
    weights = fit_weights([tables], ("right", "wrong"))
    assert weights["right"] > 0
    assert weights.get("wrong", 0) < 0.2 * weights["right"]


def test_beside_a_profile_what_it_lacks_is_fitted_and_what_it_has_stays():
    rng = np.random.default_rng(1)
    tables = []
    for right in rng.random((60, 12)).astype(np.float32):
        gold = np.arange(12) == 3
        tables.append(made(np.stack([right, gold * 0.5, right * ~gold]), gold))
    base = replace(PROFILES["raw"], weights={"semantic": 1.0})
    fitted = fit_beside(base, [tables], ("semantic", "right", "wrong"))
    assert fitted.keys() <= {"right", "wrong"} and fitted["right"] > 0.1
    assert fitted.get("wrong", 0) < 0.2 * fitted["right"]


def test_structure_is_judged_by_weights_that_never_saw_a_conversation(three, tmp_path, monkeypatch):
    sets = {unit: list(load_locomo(three, unit=unit)) for unit in ("turn", "session")}
    monkeypatch.setattr(promised_structure, "_load", lambda given: sets)
    monkeypatch.setattr(promised_structure, "need_models", lambda *names: None)
    monkeypatch.setattr(promised_structure, "get_embedder", lambda name: HashingEmbedder())
    for part in ("_compare_golden", "_compare_indexes"):
        monkeypatch.setattr(promised_structure, part, lambda given: iter(()))
    rows = list(promised_structure.measure_structure(Given(None, None, tmp_path)))
    whats = [row.what.removeprefix("structured ") for row in rows[:4]]
    assert whats == ["as it ships, turn"] * 2 + ["held out, turn"] * 2
    assert len(rows) == 8 and all(0 <= row.value <= 1 and "[" in row.note for row in rows)
    runs = {path.name for path in (tmp_path / "runs").glob("*structured-c*")}
    assert {name.split("structured-c")[1][:1] for name in runs} >= {"2", "3"}


def test_a_group_has_no_part_in_the_weights_it_is_judged_by():
    rng = np.random.default_rng(3)

    def table():
        return made(rng.random((len(EVIDENCE), 30)), [n == 7 for n in range(30)])

    tables = {"a": table(), "b": table(), "c": table()}
    before = dict(hold_out_each([tables]))
    after = dict(hold_out_each([tables | {"b": table()}]))
    assert before["b"] == after["b"]
    assert (before["a"], before["c"]) != (after["a"], after["c"])


@pytest.mark.parametrize("unit", ["turn", "session"])
def test_tables_rank_as_the_search_does(three, tmp_path, unit):
    collections = list(load_locomo(three, unit=unit))
    options = {"embedder": HashingEmbedder(), "cache": tmp_path}
    tables = measure_collections(collections, EVIDENCE, **options)
    shipped = np.array([PROFILES["hybrid"].weights.get(s, 0) for s in EVIDENCE], np.float32)
    ranks = np.concatenate([table.ranks(shipped @ table.values) for table in tables.values()])
    answers = run_system("made", collections, "hybrid", **options).answers
    assert (1 / ranks).tolist() == pytest.approx([a.scores["mrr"] for a in answers], abs=1e-6)


def test_every_group_is_asked_with_its_own_profile(three, tmp_path):
    collections = list(load_locomo(three))
    profiles = {c.group: replace(PROFILES["raw"], name=c.group) for c in collections}
    asked = []

    def ask(own, profile):
        asked.append(([c.group for c in own], profile.name))
        return run_system(
            "made", own, "grep", embedder=HashingEmbedder(), cache=tmp_path / profile.name
        ).answers

    held_out = judge_held_out(collections, profiles, ask)
    assert asked == [(["c1"], "c1"), (["c2"], "c2"), (["c3"], "c3")]
    assert (held_out.mean, held_out.spread, set(held_out.groups)) == (1, 0, {"c1", "c2", "c3"})


def test_one_conversation_cannot_be_left_out():
    with pytest.raises(UsageError, match="takes two or more, not 1"):
        list(hold_out_each([{"a": made([[1]], [True])}]))


def run(capsys, *arguments):
    main(["bench", "tune", *map(str, arguments), "--embedder", "hashing"])
    return capsys.readouterr()


def test_tuning_prints_what_is_held_out_for_turns_and_sessions(three, tmp_path, capsys):
    lines = run(capsys, three, "--cache", tmp_path / "cache").out.splitlines()
    assert [line.split("any@5")[0].split() for line in lines[:-1]] == [
        [unit, *group.split()]
        for unit in ("turn", "session")
        for group in ("c1", "c2", "c3", "held out")
    ]
    assert lines[-1].startswith("refitted on all: ")
