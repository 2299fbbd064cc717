"""The official files, where they are: what is asked of them, and one figure that needs no model."""

import pytest
from evaluation_data import DATA

from benchmarks.datasets.beir import load_beir
from benchmarks.datasets.locomo import load_locomo
from benchmarks.datasets.longmemeval import load_longmemeval
from benchmarks.datasets.meetings import load_meetings
from benchmarks.report import core, summarise
from benchmarks.runs import run_system
from memory_palace.embedding.hashing import HashingEmbedder


def needed(name):
    path = DATA / name
    if not path.exists():
        pytest.skip(f"needs {name}; PALACE_BENCH_DATA names the folder")
    return path


def count(collections):
    return sum(len(collection.questions) for collection in collections)


@pytest.mark.parametrize("unit", ["turn", "session"])
def test_locomo_has_as_many_questions_by_either_label(unit):
    path, gold = needed("locomo/locomo_dev.json"), needed("locomo/gold_dev.jsonl")
    official, labelled = (
        list(load_locomo(path, unit=unit, **options)) for options in ({}, {"gold": gold})
    )
    assert [len(c) for c in (official, labelled)] == [5, 5]
    assert [count(c) for c in (official, labelled)] == [760, 760]
    units = {
        collection.group: {u.id for d in collection.documents for u in (d, *d.passages)}
        for collection in labelled
    }
    assert all(q.gold <= units[c.group] for c in labelled for q in c.questions)


def test_longmemeval_has_its_core():
    path = needed("longmemeval/longmemeval_s_dev.json")
    collections = list(load_longmemeval(path))
    questions = [q for c in collections for q in c.questions]
    assert len(questions) == 27
    assert sum(q.is_abstention for q in questions) == 2
    assert sum(not q.is_abstention and not q.is_incomplete for q in questions) == 22
    for collection in collections:
        (question,) = collection.questions
        held = {d.id for d in collection.documents}
        assert question.gold <= held or question.is_incomplete


def test_scifact_and_qmsum_are_whole():
    scifact = load_beir(needed("beir/scifact"))
    assert (len(scifact.documents), len(scifact.questions)) == (5183, 300)
    meetings = load_meetings(needed("qmsum/val.jsonl"))
    assert (len(meetings.documents), len(meetings.questions)) == (2030, 237)


def test_looking_for_words_finds_what_the_tables_say(tmp_path):
    path, gold = needed("locomo/locomo_dev.json"), needed("locomo/gold_dev.jsonl")
    found = list(load_locomo(path, gold=gold))
    run = run_system("locomo", found, "grep", embedder=HashingEmbedder(), cache=tmp_path)
    assert round(summarise(core(run.answers))["any@5"], 3) == 0.542
