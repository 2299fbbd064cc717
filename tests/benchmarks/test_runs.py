"""A run ranks with the product's own search, keeps its vectors, and is compared."""

import ast
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.datasets.locomo import load_locomo
from benchmarks.metrics import MEASURES
from benchmarks.product import as_notes
from benchmarks.report import compare_runs, core, run_record, summarise, table
from benchmarks.runs import run_system
from memory_palace.embedding.hashing import HashingEmbedder
from memory_palace.errors import UsageError
from memory_palace.index.commit import read_commit, write_commit

ROOT = Path(__file__).parents[2]


@pytest.fixture
def ask(locomo, tmp_path):
    def run(system, *, unit="turn", cache="cache"):
        collections = list(load_locomo(locomo, unit=unit))
        return run_system(
            "made", collections, system, embedder=HashingEmbedder(), cache=tmp_path / cache
        )

    return run


def load_all(path, unit):
    return list(load_locomo(path, unit=unit))


@pytest.mark.parametrize("system", ["grep", "bm25", "vector", "hybrid"])
@pytest.mark.parametrize("unit", ["turn", "session"])
def test_every_system_finds_what_shares_its_words(ask, system, unit):
    answers = ask(system, unit=unit).answers
    assert len(answers) == 2
    assert all(answer.scores["any@3"] == 1 for answer in answers)
    assert {gold for a in answers for gold in a.gold} <= {u for a in answers for u in a.ranked}


@pytest.mark.parametrize("is_product", [False, True])
@pytest.mark.parametrize("system", ["grep", "bm25"])
@pytest.mark.parametrize("unit", ["turn", "session"])
def test_what_compares_words_alone_makes_no_vectors(locomo, tmp_path, system, is_product, unit):
    class Missing(HashingEmbedder):
        """Embeds nothing: its weights are not here."""

        embed_passages = embed_queries = count_tokens = None

    run = run_system(
        "made",
        [as_notes(c) for c in load_locomo(locomo)] if is_product else load_all(locomo, unit),
        system,
        embedder=Missing(),
        cache=tmp_path / "cache",
        is_product=is_product,
    )
    assert run.embedder == ""
    assert all(answer.scores["any@5"] == 1 for answer in run.answers)
    assert not list((tmp_path / "cache").glob("vectors-*.npz"))


def test_an_index_that_was_not_finished_is_made_again(ask, tmp_path):
    whole = ask("hybrid", cache="cache")
    (commit,) = (tmp_path / "cache" / "corpora").glob("*/palace/.index/INDEX.json")
    write_commit(commit, replace(read_commit(commit), generation=1, calibration={}))
    assert ask("hybrid", cache="cache").answers == whole.answers
    assert read_commit(commit).calibration


def test_questions_not_all_labelled_count_apart(ask):
    answers = ask("grep").answers
    assert core([replace(answers[0], is_incomplete=True), answers[1]]) == [answers[1]]


def test_vectors_are_made_once(ask, monkeypatch):
    ask("vector")

    def refuse(self, texts, **options):
        raise AssertionError(f"embedded again: {texts}")

    monkeypatch.setattr(HashingEmbedder, "embed_passages", refuse)
    monkeypatch.setattr(HashingEmbedder, "embed_queries", refuse)
    ask("hybrid")


def test_a_table_has_a_row_per_run_and_per_category(ask):
    lines = list(table([ask("grep"), ask("hybrid")]))
    assert [line.split(" | ")[0].strip("| ") for line in lines[2:]] == [
        "grep", "grep, multi-hop", "grep, single-hop",
        "hybrid", "hybrid, multi-hop", "hybrid, single-hop",
    ]  # fmt: skip
    assert summarise(core(ask("hybrid").answers))["any@5"] == 1.0


@pytest.mark.parametrize("measure", MEASURES)
def test_runs_are_compared_by_any_measure(ask, measure):
    worse = ask("grep")
    silent = [replace(a, scores=dict.fromkeys(MEASURES, 0.0)) for a in worse.answers]
    d = compare_runs(replace(worse, answers=tuple(silent)), worse, measure=measure)
    assert (d.questions, d.lost, d.won, d.p) == (2, 0, 2, 0.5)
    assert d.mean == pytest.approx(d.value)
    assert d.value > 0


def test_what_cannot_be_compared_is_said(ask):
    turns, sessions = ask("grep"), ask("grep", unit="session", cache="other")
    with pytest.raises(UsageError, match="other gold"):
        compare_runs(turns, sessions)
    with pytest.raises(UsageError, match="no question in common"):
        compare_runs(replace(turns, answers=()), sessions)
    with pytest.raises(UsageError, match="unknown measure 'best'; choose from any@1"):
        compare_runs(turns, turns, measure="best")


def test_a_record_tells_its_means_and_its_categories(ask):
    record = run_record(ask("grep"))
    assert (record["questions"], record["left_out"]) == (2, 0)
    assert record["categories"]["multi-hop"]["any@5"] == record["any@5_low"] == 1


def test_the_floor_imports_nothing_of_the_package_but_the_model(tmp_path):
    (tmp_path / "a.md").write_text("# Frost\n\nIt froze.\n\n## Thaw\n\nIt thawed.\n")
    code = (
        "import sys; from benchmarks.floor import app; app(standalone_mode=False);"
        "print([name for name in sys.modules if name.startswith('memory_palace.')])"
    )
    file = tmp_path / "floor.npz"
    for verb in (["build", tmp_path, "hashing", file], ["ask", "hashing", file, "thaw"]):
        line = [sys.executable, "-c", code, *map(str, verb)]
        done = subprocess.run(line, capture_output=True, check=True, cwd=ROOT, text=True).stdout
        imported = {name.split(".")[1] for name in ast.literal_eval(done.splitlines()[-1])}
        assert not imported & {"palace", "index", "retrieval", "notes", "cli", "markdown"}
    assert "a.md#" in done.splitlines()[0]
