"""A run is the same twice, resumes where it stopped, and ranks with the product's own search."""

from __future__ import annotations

import json
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from making_pictures import assert_readable

import memory_palace
from memory_palace.bench.ablations import sixteen, without_each
from memory_palace.bench.configuration import _digest_code, digest_index, digest_run
from memory_palace.bench.cost import RunCost, write_cost
from memory_palace.bench.datasets.items import DatasetPassage
from memory_palace.bench.datasets.locomo import load_locomo
from memory_palace.bench.metrics import MEASURES
from memory_palace.bench.plots import draw_ablation, draw_runs
from memory_palace.bench.product import as_notes
from memory_palace.bench.report import compare_runs, core, run_record, summarise, table
from memory_palace.bench.runs import read_run, run_system
from memory_palace.bench.systems import grep_ranker
from memory_palace.bench.vectors import RememberingEmbedder
from memory_palace.embedding.hashing import HashingEmbedder
from memory_palace.errors import MissingPartError, UsageError
from memory_palace.index.commit import read_commit, write_commit
from memory_palace.plotting.themes import DARK
from memory_palace.retrieval.profiles import PROFILES


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


def run_file(cache, system):
    (path,) = (cache / "runs").glob(f"made--{system}--*.jsonl")
    return path


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
    first, second = (run_file(tmp_path / c, "hybrid") for c in ("one", "two"))
    assert first.read_bytes() == second.read_bytes()


def test_a_stopped_run_goes_on_where_it_stopped(ask, tmp_path):
    whole = ask("hybrid")
    path = run_file(tmp_path / "cache", "hybrid")
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[:2], lines[2][:20]]))
    assert ask("hybrid").answers == whole.answers
    assert path.read_text().splitlines() == lines


def test_answers_of_another_configuration_are_not_used(ask, tmp_path):
    ask("hybrid")
    path = run_file(tmp_path / "cache", "hybrid")
    lines = path.read_text().splitlines()
    header = json.loads(lines[0]) | {"configuration": "other"}
    wrong = json.loads(lines[1]) | {"ranked": ["nonsense"]}
    path.write_text("\n".join([json.dumps(header), json.dumps(wrong)]))
    assert "nonsense" not in ask("hybrid").answers[0].ranked


def test_runs_of_another_file_or_embedder_do_not_erase_it(ask, locomo, tmp_path):
    first = ask("hybrid")
    path = run_file(tmp_path / "cache", "hybrid")
    locomo.write_text(locomo.read_text().replace("tomatoes", "potatoes"))
    other = ask("hybrid")
    wider = HashingEmbedder()
    wider.name, wider.fingerprint = "llm:wide/1", "other"
    collections = list(load_locomo(locomo))
    run_system("made", collections, "hybrid", embedder=wider, cache=tmp_path / "cache")
    names = sorted(path.name for path in (tmp_path / "cache" / "runs").glob("*.jsonl"))
    assert [name.split("--")[2] for name in names] == ["hashing", "hashing", "llm-wide-1"]
    assert read_run(path).answers == first.answers != other.answers
    assert read_run(path).embedder == "hashing"


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


CHANGES = {
    "the day of a question": lambda c: with_question(c, as_of=9e9),
    "a gain": lambda c: with_question(c, gains=(("D1:1", 3),)),
    "a category": lambda c: with_question(c, category="other"),
    "the date of a document": lambda c: with_document(c, timestamp=9e9),
    "a word": lambda c: with_document(c, passages=(DatasetPassage("D1:1", "other"),)),
}


def with_question(collection, **changes):
    first, *rest = collection.questions
    return replace(collection, questions=(replace(first, **changes), *rest))


def with_document(collection, **changes):
    first, *rest = collection.documents
    return replace(collection, documents=(replace(first, **changes), *rest))


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_whatever_can_change_an_answer_makes_another_configuration(locomo, change):
    (collection,) = load_locomo(locomo)
    before, after = (digest_run([c], "grep", "recipe") for c in (collection, change(collection)))
    assert before != after


def test_a_changed_signal_makes_another_configuration(locomo, tmp_path, monkeypatch):
    (collection,) = load_locomo(locomo)
    package = tmp_path / "copy" / "memory_palace"
    shutil.copytree(Path(memory_palace.__file__).parent, package)
    monkeypatch.setattr(memory_palace, "__file__", str(package / "__init__.py"))
    digests = []
    for words in ("", "# another constant\n"):
        with (package / "retrieval" / "bm25.py").open("a") as file:
            file.write(words)
        _digest_code.cache_clear()
        digests.append((digest_run([collection], "grep", ""), digest_index(collection, "")))
    _digest_code.cache_clear()
    (run, index), (other_run, other_index) = digests
    assert run != other_run
    assert index == other_index


def test_asking_again_keeps_what_it_cost(ask):
    first = ask("hybrid").cost
    assert first.questions == 2
    assert first.wall_seconds > 0 < first.prepare_wall_seconds
    assert 1 < first.peak_mib < 10_000
    assert ask("hybrid").cost == first


def test_a_run_in_two_parts_cost_both(ask, tmp_path, monkeypatch):
    rank = grep_ranker

    def stop_at_the_second(collection):
        ranker = rank(collection)

        def ranks(question, vector):
            if question.category == "multi-hop":
                raise KeyboardInterrupt
            return ranker(question, vector)

        return ranks

    with monkeypatch.context() as patch:
        patch.setattr("memory_palace.bench.runs.grep_ranker", stop_at_the_second)
        with pytest.raises(KeyboardInterrupt):
            ask("grep")
    path = run_file(tmp_path / "cache", "grep")
    assert (len(read_run(path).answers), read_run(path).cost.questions) == (1, 1)
    assert ask("grep").cost.questions == 2
    assert read_run(path).cost.wall_seconds > 0


def test_a_table_says_of_how_many_questions_a_cost_is(ask, tmp_path):
    ask("grep")
    path = run_file(tmp_path / "cache", "grep")
    configuration = json.loads(path.read_text().splitlines()[0])["configuration"]
    write_cost(path.with_suffix(".json"), RunCost(1, 2.5), configuration=configuration)
    assert "| 2.5 for 1 |" in list(table([read_run(path)]))[2]


def test_an_index_that_was_not_finished_is_made_again(ask, tmp_path):
    whole = ask("hybrid", cache="cache")
    (commit,) = (tmp_path / "cache" / "corpora").glob("*/palace/.index/INDEX.json")
    write_commit(commit, replace(read_commit(commit), generation=1, calibration={}))
    run_file(tmp_path / "cache", "hybrid").unlink()
    assert ask("hybrid", cache="cache").answers == whole.answers
    assert read_commit(commit).calibration


def test_scores_stand_beside_what_was_ranked(ask):
    for system in ("grep", "hybrid"):
        for answer in ask(system).answers:
            assert len(answer.ranked) == len(answer.ranked_scores) > 0
            assert list(answer.ranked_scores) == sorted(answer.ranked_scores, reverse=True)


def test_a_name_with_a_line_separator_reads_back(ask, tmp_path):
    ask("grep")
    path = run_file(tmp_path / "cache", "grep")
    changed = path.read_text("utf-8").replace('["D1:1"]', '["D1\u2028:\x85 1"]')
    path.write_text(changed, "utf-8")
    assert len(read_run(path).answers) == 2


@pytest.mark.parametrize("content", ["", "{}\n", "nonsense\n"])
def test_a_file_that_is_no_run_is_named(tmp_path, content):
    path = tmp_path / "run.jsonl"
    path.write_text(content)
    with pytest.raises(UsageError, match=r"run\.jsonl:1: this is not a run"):
        read_run(path)


def test_what_another_version_wrote_is_named_with_its_line(ask, tmp_path):
    ask("grep")
    path = run_file(tmp_path / "cache", "grep")
    path.write_text(path.read_text().replace("ranked_scores", "values"))
    with pytest.raises(UsageError, match=r"--\w+\.jsonl:2: this answer has no 'ranked_scores'"):
        read_run(path)


def test_vectors_of_a_killed_run_are_kept(tmp_path):
    clock = iter(range(0, 10_000, 61))
    embedder = RememberingEmbedder(HashingEmbedder(), tmp_path, monotonic=lambda: next(clock))
    embedder.embed_passages([f"passage {n}" for n in range(300)])
    again = RememberingEmbedder(HashingEmbedder(), tmp_path)
    assert len(again._known) == 300


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


def test_a_run_reads_back_as_it_was(ask, tmp_path):
    run = ask("bm25")
    path = run_file(tmp_path / "cache", "bm25")
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


def test_a_record_of_a_run_tells_its_questions_from_those_its_cost_is_of(ask):
    run = ask("grep")
    record = run_record(replace(run, cost=RunCost(1, 2.5)))
    assert (record["questions"], record["left_out"], record["cost"]["questions"]) == (2, 0, 1)
    assert record["categories"]["multi-hop"]["any@5"] == record["any@5_low"] == 1


def test_curves_and_dots_are_drawn(ask):
    runs = [ask("grep"), ask("hybrid")]
    differences = [compare_runs(runs[0], run) for run in runs]
    pictures = [*draw_runs(runs), draw_ablation("made", differences, measure="any@5")]
    assert len({picture.name for picture in pictures}) == len(pictures) == 3
    for picture in pictures:
        assert_readable(picture, DARK)


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


def test_without_matplotlib_the_extra_is_named(ask, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingPartError, match=r"pip install .*\[plots\]"):
        draw_runs([ask("grep")])[0].encode()


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
