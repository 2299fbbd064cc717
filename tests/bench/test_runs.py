"""A run is the same twice, resumes where it stopped, and ranks with the product's own search."""

from __future__ import annotations

import json
import sys

import pytest

from memory_palace.bench.ablations import sixteen, without_each
from memory_palace.bench.datasets.locomo import load_locomo
from memory_palace.bench.report import core, draw, summarise, table
from memory_palace.bench.runs import read_run, run_system
from memory_palace.bench.tuning import leave_one_out
from memory_palace.embedding.hashing import HashingEmbedder
from memory_palace.errors import MissingPartError, UsageError
from memory_palace.retrieval.profiles import PROFILES


@pytest.fixture
def ask(locomo, tmp_path):
    def run(system, *, unit="turn", cache="cache"):
        collections = list(load_locomo(locomo, unit=unit))
        return run_system(
            "made", collections, system, embedder=HashingEmbedder(), cache=tmp_path / cache
        )

    return run


@pytest.mark.parametrize("system", ["grep", "bm25", "vector", "hybrid"])
@pytest.mark.parametrize("unit", ["turn", "session"])
def test_every_system_finds_what_shares_its_words(ask, system, unit):
    answers = ask(system, unit=unit).answers
    assert len(answers) == 2
    assert all(answer.scores["any@3"] == 1 for answer in answers)
    assert {gold for a in answers for gold in a.gold} <= {u for a in answers for u in a.ranked}


def test_two_runs_write_the_same_bytes(ask, tmp_path):
    for cache in ("one", "two"):
        ask("hybrid", cache=cache)
    first, second = (tmp_path / c / "runs" / "made--hybrid.jsonl" for c in ("one", "two"))
    assert first.read_bytes() == second.read_bytes()


def test_a_stopped_run_goes_on_where_it_stopped(ask, tmp_path):
    whole = ask("hybrid")
    path = tmp_path / "cache" / "runs" / "made--hybrid.jsonl"
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[:2], lines[2][:20]]))
    asked = []
    collections_run = ask("hybrid")
    asked += collections_run.answers
    assert asked == list(whole.answers)
    assert path.read_text().splitlines() == lines


def test_answers_of_another_configuration_are_not_used(ask, tmp_path):
    ask("hybrid")
    path = tmp_path / "cache" / "runs" / "made--hybrid.jsonl"
    lines = path.read_text().splitlines()
    header = json.loads(lines[0]) | {"configuration": "other"}
    wrong = json.loads(lines[1]) | {"ranked": ["nonsense"]}
    path.write_text("\n".join([json.dumps(header), json.dumps(wrong)]))
    assert "nonsense" not in ask("hybrid").answers[0].ranked


def test_vectors_are_made_once(ask, monkeypatch):
    ask("vector")

    def refuse(self, texts, **options):
        raise AssertionError(f"embedded again: {texts}")

    monkeypatch.setattr(HashingEmbedder, "embed_passages", refuse)
    monkeypatch.setattr(HashingEmbedder, "embed_queries", refuse)
    ask("hybrid")


def test_a_run_reads_back_as_it_was(ask, tmp_path):
    run = ask("bm25")
    path = tmp_path / "cache" / "runs" / "made--bm25.jsonl"
    assert read_run(path).answers == run.answers
    with pytest.raises(UsageError, match="palace bench list"):
        read_run(path.with_name("none.jsonl"))


def test_a_table_has_a_row_per_run_and_per_category(ask):
    lines = list(table([ask("grep"), ask("hybrid")]))
    assert [line.split(" | ")[0].strip("| ") for line in lines[2:]] == [
        "grep", "grep, multi-hop", "grep, single-hop",
        "hybrid", "hybrid, multi-hop", "hybrid, single-hop",
    ]  # fmt: skip
    assert summarise(core(ask("hybrid").answers))["any@5"] == 1.0


def test_curves_and_bars_are_drawn(ask, tmp_path):
    paths = draw([ask("grep"), ask("hybrid")], tmp_path / "pictures")
    assert [path.read_bytes()[:4] for path in paths] == [b"\x89PNG", b"\x89PNG"]


def test_without_matplotlib_the_extra_is_named(ask, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingPartError, match=r"memory-palace\[plots\]"):
        draw([ask("grep")], tmp_path)


def test_there_are_sixteen_ablations_and_all_of_them_answer(ask):
    profiles = list(sixteen())
    assert len(profiles) == 16
    assert len({profile.name for profile in profiles}) == 16
    for profile in profiles:
        assert len(ask(profile).answers) == 2


def test_each_shipped_signal_is_left_out_once():
    names = [profile.name for profile in without_each()]
    assert {f"hybrid-{signal}" for signal in PROFILES["hybrid"].weights} <= set(names)
    assert len(set(names)) == len(names)


def test_a_group_is_never_judged_by_a_choice_it_took_part_in():
    values = {
        "good for a": {"a": [1.0, 1.0], "b": [0.0], "c": [0.0]},
        "good for the rest": {"a": [0.0, 0.0], "b": [1.0], "c": [1.0]},
    }
    choice = leave_one_out(values)
    assert choice.chosen == {
        "a": "good for the rest", "b": "good for a", "c": "good for a"
    }  # fmt: skip
    assert (choice.mean, choice.refitted) == (0.0, "good for a")
