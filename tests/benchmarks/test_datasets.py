"""Loaders read the official files, and name file and line of what they cannot read."""

import json
from datetime import UTC, datetime

import pytest
from evaluation_data import haystack

from benchmarks.datasets.beir import load_beir
from benchmarks.datasets.lmeb import find_tasks, load_task
from benchmarks.datasets.locomo import load_locomo
from benchmarks.datasets.longmemeval import load_longmemeval
from benchmarks.datasets.meetings import load_meetings
from benchmarks.datasets.own import load_notes
from benchmarks.datasets.reading import read_jsonl
from memory_palace.errors import UsageError


def day(timestamp):
    return datetime.fromtimestamp(timestamp, UTC).date().isoformat()


def test_a_turn_is_a_passage_with_its_speaker_and_its_caption(locomo):
    (collection,) = load_locomo(locomo)
    first, second = collection.documents
    assert [p.text for p in first.passages] == [
        "Anna: I planted tomatoes behind the shed.",
        "Bert: Nice! Which kind?",
        "Anna: Look. [yellow plums]",
    ]
    assert (day(first.timestamp), day(second.timestamp)) == ("2023-05-08", "2023-06-02")


def test_questions_without_an_answer_in_the_text_are_not_asked(locomo):
    (collection,) = load_locomo(locomo)
    assert [(q.gold, q.category) for q in collection.questions] == [
        ({"D1:1"}, "single-hop"),
        ({"D2:1"}, "multi-hop"),
    ]
    (sessions,) = load_locomo(locomo, unit="session")
    assert [q.gold for q in sessions.questions] == [{"session_1"}, {"session_2"}]
    assert not sessions.ranks_passages


def test_normalised_labels_replace_the_official_ones(locomo, tmp_path):
    label = {"qid": "a", "sample_id": "c1", "category": 4, "question": "Which kind?"}
    label |= {"gold_turns": ["D1:3"], "gold_sessions": ["session_1"]}
    rows = [label, {**label, "qid": "b", "audit_error": "WRONG"}]
    gold = tmp_path / "gold.jsonl"
    gold.write_text("\n".join(map(json.dumps, rows)))
    (every,) = load_locomo(locomo, gold=gold)
    assert [q.id for q in every.questions] == ["a", "b"]


def test_a_haystack_is_a_collection_of_its_own_asked_on_its_day(tmp_path):
    path = tmp_path / "lme.json"
    path.write_text(json.dumps([haystack()]))
    (collection,) = load_longmemeval(path)
    (question,) = collection.questions
    assert question.is_abstention
    assert not question.is_incomplete
    assert day(question.as_of) == "2023-05-30"
    assert [d.id for d in collection.documents] == ["s1", "s2"]
    assert collection.documents[0].text == "user: hi"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "qrels").mkdir()
    (tmp_path / "corpus.jsonl").write_text('{"_id": "d1", "title": "Frost", "text": "It froze."}\n')
    (tmp_path / "queries.jsonl").write_text(
        '{"_id": "q1", "text": "did it freeze"}\n{"_id": "q2", "text": "unlabelled"}\n'
    )
    (tmp_path / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t2\n")
    return tmp_path


def test_a_beir_folder_is_one_collection_with_graded_gains(folder):
    collection = load_beir(folder)
    (question,) = collection.questions
    assert (question.gold, question.gains) == ({"d1"}, (("d1", 2),))
    assert collection.documents[0].text == "# Frost\n\nIt froze.\n"


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("qrels/test.tsv", "a\tb\tc\nq1 d1 1\n", r"test\.tsv:2: a line is"),
        ("corpus.jsonl", '{"_id": "d1", "text": "x"}\n{broken\n', r"corpus\.jsonl:2"),
        ("corpus.jsonl", '{"text": "x"}\n', r"corpus\.jsonl:1: '_id' is missing"),
        ("queries.jsonl", "[1]\n", r"queries\.jsonl:1: a line must be one JSON object"),
    ],
)
def test_a_bad_line_is_named(folder, name, content, words):
    (folder / name).write_text(content)
    with pytest.raises(UsageError, match=words):
        load_beir(folder)


def test_a_meeting_is_cut_into_notes_of_ten_turns(tmp_path):
    turns = [{"speaker": "A", "content": str(n)} for n in range(25)]
    item = {"query": "what of it?", "relevant_text_span": [["8", "11"], ["24", "99"]]}
    path = tmp_path / "val.jsonl"
    path.write_text(json.dumps({"meeting_transcripts": turns, "specific_query_list": [item]}))
    collection = load_meetings(path)
    assert [d.id for d in collection.documents] == ["m1_n0", "m1_n1", "m1_n2"]
    assert collection.questions[0].gold == {"m1_n0", "m1_n1", "m1_n2"}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("q.tsv", "why?\ta.md\t1\nwhy?\tb/c.md\nwho?\ta.md\t0\n"),
        ("q.jsonl", '{"question": "why?", "notes": ["a.md", "b/c.md"]}\n'),
    ],
)
def test_own_notes_are_asked_from_a_table_or_json_lines(tmp_path, name, content):
    notes = tmp_path / "notes"
    (notes / "b").mkdir(parents=True)
    (notes / ".hidden").mkdir()
    for path in ("a.md", "b/c.md", ".hidden/d.md"):
        (notes / path).write_text("text")
    (tmp_path / name).write_text(content)
    collection = load_notes(notes, tmp_path / name)
    assert [d.id for d in collection.documents] == ["a.md", "b/c.md"]
    assert [(q.text, q.gold) for q in collection.questions] == [("why?", {"a.md", "b/c.md"})]


def test_a_label_for_a_note_that_is_not_there_is_named(tmp_path):
    (tmp_path / "q.tsv").write_text("why?\tgone.md\n")
    with pytest.raises(UsageError, match=r"q\.tsv:1: .* has no note gone\.md"):
        load_notes(tmp_path, tmp_path / "q.tsv")


def test_a_line_ends_at_a_line_feed_and_nowhere_else(tmp_path):
    text = "one\u2028two\x85three\x0cfour"
    path = tmp_path / "corpus.jsonl"
    path.write_bytes(json.dumps({"text": text}, ensure_ascii=False).encode() + b"\r\n\r\n")
    assert list(read_jsonl(path)) == [(1, {"text": text})]


def test_bytes_that_are_no_text_are_named_with_their_line(tmp_path):
    path = tmp_path / "corpus.jsonl"
    path.write_bytes(b'{"a": 1}\n{"b": "\xff"}\n')
    with pytest.raises(UsageError, match=r"corpus\.jsonl:2: byte 16 is not UTF-8"):
        list(read_jsonl(path))


def test_a_scene_is_asked_of_its_own_documents_by_subset(folder):
    rows = [{"_id": "q1", "text": "weir?", "subset": "one hop", "scene": "b"}]
    (folder / "queries.jsonl").write_text("\n".join(map(json.dumps, rows)))
    corpus = [{"_id": name, "text": f"the {name} froze"} for name in ("d1", "d2", "d3")]
    (folder / "corpus.jsonl").write_text("\n".join(map(json.dumps, corpus)))
    scenes = [{"scene_id": "a", "candidate_doc_ids": ["d3"]}]
    scenes += [{"scene_id": "b", "candidate_doc_ids": ["d2", "d1"]}]
    (folder / "candidates.jsonl").write_text("\n".join(map(json.dumps, scenes)))
    assert find_tasks(folder.parent)[folder.name] == folder
    (collection,) = load_task(folder)
    assert (collection.group, [d.id for d in collection.documents]) == ("b", ["d2", "d1"])
    assert [question.category for question in collection.questions] == ["one hop"]
