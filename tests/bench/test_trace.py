"""TRACe by overlap: what is asked for, what is used, what is made up."""

from __future__ import annotations

import json

import pytest

from memory_palace.bench.trace import TracedAnswer, agree, read_items, trace
from memory_palace.errors import UsageError

DOCUMENTS = ("The tank holds forty litres of diesel. Paint it green every spring.",)
QUESTION = "How many litres of diesel does the tank hold?"


def item(response, *, documents=DOCUMENTS, marks=None, question=QUESTION):
    return TracedAnswer("1", question, documents, response, marks or {})


def test_an_answer_from_the_relevant_sentence_is_complete_and_adheres():
    found = trace(item("The tank holds forty litres of diesel."))
    assert (found.completeness, found.adherence) == (1, 1)
    assert 0.4 < found.relevance == found.utilization < 0.7


def test_what_the_documents_do_not_say_does_not_adhere():
    found = trace(item("Penguins march south in winter. The tank holds forty litres of diesel."))
    assert found.adherence == 0.5
    assert trace(item("Penguins march south in winter.")).completeness == 0


@pytest.mark.parametrize("documents", [(), ("",)])
def test_empty_texts_have_bounded_measures(documents):
    found = trace(item("", documents=documents, question=""))
    assert (found.relevance, found.utilization) == (0, 0)
    assert (found.completeness, found.adherence) == (1, 1)


def test_lines_are_read_with_their_marks_and_sentence_lists(tmp_path):
    path = tmp_path / "items.jsonl"
    line = {
        "id": "a", "question": "q", "response": "r", "documents": ["One.", [["0a", "Two."]]],
        "relevance_score": 0.25, "adherence_score": True,
    }  # fmt: skip
    path.write_text(json.dumps(line) + "\n\n", "utf-8")
    (read,) = read_items(path)
    assert read.documents == ("One.", "Two.")
    assert read.marks == {"relevance": 0.25, "adherence": 1.0}


MALFORMED = ["[]", "{", '{"question": "q"}', '{"question": "", "documents": [3], "response": ""}']


@pytest.mark.parametrize("line", MALFORMED)
def test_a_malformed_line_is_named(tmp_path, line):
    path = tmp_path / "items.jsonl"
    path.write_text(f'{{"question": "q", "documents": [], "response": ""}}\n{line}\n', "utf-8")
    with pytest.raises(UsageError, match=r"items\.jsonl:2"):
        read_items(path)


def test_marks_are_compared_by_error_and_by_order():
    items = [
        item("The tank holds forty litres of diesel.", marks={"adherence": 1, "relevance": 0.5}),
        item("Penguins march south in winter.", marks={"adherence": 0, "relevance": 0.5}),
    ]
    found = {name: value for name, _, value in agree(items, [trace(i) for i in items])}
    assert found["adherence"] == 1.0
    assert found["relevance"] < 0.2 and "utilization" not in found
