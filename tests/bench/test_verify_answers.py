"""Answers on others' text are read with their sources, and only where these are what they were."""

from __future__ import annotations

import json
from collections import Counter
from hashlib import sha256

import pytest

from memory_palace.bench.given import checkout
from memory_palace.bench.verify_answers import (
    CHANGED,
    FORMS,
    KINDS,
    digest_answers,
    load_answers,
)
from memory_palace.errors import UsageError

NOTE = "# Kiln\n\nThe kiln cools for twelve hours. Then Ada opens it.\n"
SENTENCE = "The kiln cools for twelve hours."
TURNS = [{"speaker": "A", "content": "We meet on Monday."}, {"speaker": "B", "content": "Right."}]


@pytest.fixture
def data(tmp_path):
    (tmp_path / "help").mkdir()
    (tmp_path / "help/kiln.md").write_text(NOTE)
    (tmp_path / "beir/scifact").mkdir(parents=True)
    paper = {"_id": "7", "title": "On kilns", "text": "They are hot."}
    (tmp_path / "beir/scifact/corpus.jsonl").write_text(json.dumps(paper) + "\n")
    (tmp_path / "qmsum").mkdir()
    (tmp_path / "qmsum/val.jsonl").write_text(json.dumps({"meeting_transcripts": TURNS}) + "\n")
    return tmp_path


def near(**changed):
    return {
        "id": "a",
        "collection": "help",
        "source": "help/kiln.md",
        "kind": "number",
        "form": "near",
        "sentence": sha256(SENTENCE.encode()).hexdigest()[:16],
        "start": NOTE.index(SENTENCE),
        "length": len(SENTENCE),
        "edits": [["twelve", "two"]],
    } | changed


def own(collection, source):
    return {
        "id": "b",
        "collection": collection,
        "source": source,
        "kind": "paraphrase",
        "form": "own",
        "answer": "It is so.",
    }


def load(data, *records):
    path = data / "answers.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return load_answers(path, data)


def test_an_edited_sentence_is_put_together_from_its_source(data):
    (answer,) = load(data, near())
    assert answer.text == "The kiln cools for two hours."
    assert answer.source_text == NOTE
    assert not answer.is_right


def test_edits_are_made_at_once_so_that_two_words_can_change_places(data):
    (answer,) = load(data, near(edits=[["kiln", "hours"], ["hours", "kiln"]]))
    assert answer.text == "The hours cools for twelve kiln."


@pytest.mark.parametrize(
    ("collection", "source", "text"),
    [
        ("help", "help/kiln.md", NOTE),
        ("scifact", "7", "On kilns\nThey are hot."),
        ("qmsum", "0:0-1", "A: We meet on Monday.\nB: Right."),
    ],
)
def test_an_answer_in_other_words_is_read_with_its_source(data, collection, source, text):
    (answer,) = load(data, own(collection, source))
    assert (answer.text, answer.source_text, answer.is_right) == ("It is so.", text, True)


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (near(start=9), "has changed, or is not at 9"),
        (near(edits=[["hour", "day"], ["hours", "days"]]), "two edits meet"),
        (near(edits=[["e", "a"]]), "does not stand there once"),
        (near(kind="colour"), "is no kind of answer"),
        (own("help", "help/none.md"), "does not exist"),
        (own("scifact", "8"), "scifact has no '8'"),
        (own("qmsum", "0:0-7"), "qmsum has no '0:0-7'"),
        (own("qmsum", "first"), "qmsum has no 'first'"),
        (own("poems", "1"), "is not one of help"),
    ],
)
def test_what_does_not_fit_its_source_is_named_with_its_line(data, record, reason):
    with pytest.raises(UsageError, match=r"answers\.jsonl:1|none\.md") as raised:
        load(data, record)
    assert reason in str(raised.value)


def test_the_committed_half_has_enough_of_each_kind_and_no_line_of_its_sources():
    text = (checkout("tests/checking") / "answers_dev.jsonl").read_text()
    records = [json.loads(line) for line in text.splitlines()]
    counts = Counter((record["kind"], record["form"]) for record in records)
    assert {kind for kind, _ in counts} == set(KINDS)
    assert min(counts[kind, form] for kind in CHANGED for form in FORMS) >= 30
    assert counts["paraphrase", "own"] >= 200
    assert len({record["id"] for record in records}) == len(records)
    edits = [edit for record in records for edit in record.get("edits", [])]
    assert max(len(old) for old, _ in edits) < 50


def test_a_digest_tells_another_file(data):
    load(data, near())
    before = digest_answers(data / "answers.jsonl")
    load(data, near(), own("scifact", "7"))
    assert digest_answers(data / "answers.jsonl") != before
