"""What the command gives is measured through the command's own code, on notes in a folder."""

import json

import pytest

from benchmarks.__main__ import main
from benchmarks.datasets.items import EvalDocument
from benchmarks.datasets.locomo import load_locomo
from benchmarks.product import as_notes, name_notes, write_note
from benchmarks.runs import run_system
from memory_palace.embedding.hashing import HashingEmbedder
from memory_palace.palace import Palace


def ask(path, cache, system="hybrid", embedder=None):
    found = [as_notes(part) for part in load_locomo(path)]
    chosen = embedder or HashingEmbedder()
    return run_system("made", found, system, embedder=chosen, cache=cache, is_product=True)


def test_a_session_is_a_note_of_its_day_with_a_turn_a_paragraph(locomo):
    (collection,) = load_locomo(locomo)
    notes = as_notes(collection)
    assert name_notes(notes) == {"session_1": "0000000.md", "session_2": "0000001.md"}
    text = write_note(notes.documents[1])
    day = "2023-06-02T09:00:00+00:00"
    assert text == f"---\ndate: {day}\n---\nBert: My bicycle was stolen at the station.\n"
    assert write_note(EvalDocument("a.md", "# A\n")) == "# A\n\n"
    assert name_notes(as_notes(notes)).keys() == name_notes(notes).keys()


def test_gold_of_a_turn_is_the_note_that_holds_it(locomo):
    (collection,) = load_locomo(locomo)
    first, second = as_notes(collection).questions
    assert (first.gold, first.passages) == ({"session_1"}, {"D1:1"})
    assert (second.gold, second.passages) == ({"session_2"}, {"D2:1"})


@pytest.mark.parametrize("system", ["hybrid", "vector"])
def test_notes_are_ranked_as_the_palace_ranks_them(locomo, tmp_path, system):
    run = ask(locomo, tmp_path / "cache", system)
    (collection,) = load_locomo(locomo)
    (tmp_path / "notes").mkdir()
    for document in collection.documents:
        (tmp_path / "notes" / f"{document.id}.md").write_text(write_note(document), "utf-8")
    palace = Palace.init(tmp_path / "notes", here=True)
    palace.index(embedder="hashing")
    for question, answer in zip(collection.questions, run.answers, strict=True):
        profile = {"vector": "raw"}.get(system, system)
        result = palace.query(question.text, profile=profile, as_of="2023-06-02")
        core = [hit for hit in result if hit.role == "core"]
        assert list(answer.ranked) == [hit.path.removesuffix(".md") for hit in core]
        assert answer.scores["bytes"] == sum(len(hit.text.encode()) for hit in core)


def test_a_right_turn_is_shown_whole_or_not(locomo, tmp_path):
    assert [a.scores["shown"] for a in ask(locomo, tmp_path).answers] == [1, 1]
    samples = json.loads(locomo.read_text())
    turn = samples[0]["conversation"]["session_1"][0]
    turn["text"] = " ".join([turn["text"], *("word" for _ in range(2_000))])
    locomo.write_text(json.dumps(samples))
    answers = ask(locomo, tmp_path).answers
    assert [(a.scores["any@5"], a.scores["shown"]) for a in answers] == [(1, 0), (1, 1)]


def test_the_command_prints_what_is_shown_beside_the_ranking(locomo, tmp_path, capsys):
    words = ["locomo", str(locomo), "--product", "--embedder", "hashing"]
    words += ["--cache", str(tmp_path / "cache"), "--json"]
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert not ended.value.code
    runs = json.loads(capsys.readouterr().out)["runs"]
    assert [run["system"] for run in runs] == ["grep", "bm25", "vector", "fusion", "hybrid"]
    assert {run["set"] for run in runs} == {"locomo-product"}
    assert all(run["shown"] == run["any@5"] == 1 for run in runs[1:])
