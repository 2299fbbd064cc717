"""What is shown of an answer is measured through the product, beside simpler ways."""

import json

from benchmarks.datasets.items import Collection, DatasetPassage, EvalDocument, EvalQuestion
from benchmarks.datasets.meetings import load_turns
from benchmarks.shown import BASELINES, SHOWN, WHOLE, measure_shown
from memory_palace.embedding.registry import get_embedder

FILLER = [f"Ben: matter number {n} was talked over for a good long while again." for n in range(40)]
ANSWER = "Ada: the theodolite is in the boathouse, behind the winch, and the key is with Ben."


def test_a_turn_at_the_end_of_a_note_is_shown_and_its_head_is_not():
    turns = tuple(DatasetPassage(f"t{n}", text) for n, text in enumerate([*FILLER, ANSWER]))
    question = EvalQuestion("q", "where is the theodolite", frozenset({"t40"}), "single-hop")
    asked = [Collection("talk", (EvalDocument("talk", "", turns, 1e9),), (question,), True)]
    rows = measure_shown(asked, embedder=get_embedder("hashing"))
    held = {row.system: row.held for row in rows if row.group == "all"}
    assert set(held) == {*SHOWN, *BASELINES, WHOLE}
    assert [held[name] for name in (*SHOWN, "best BM25 window", WHOLE)] == [1, 1, 1, 1]


def test_turns_of_a_meeting_are_gold_where_they_say_something(tmp_path):
    turns = [{"speaker": "A", "content": text} for text in ("Yeah.", "one two " * 9, "no")]
    query = {"query": "what", "relevant_text_span": [["0", "9"]]}
    file = tmp_path / "val.jsonl"
    file.write_text(json.dumps({"meeting_transcripts": turns, "specific_query_list": [query]}))
    found = load_turns(file)
    assert [question.gold for question in found.questions] == [{"m1_t1"}]
    assert [len(document.passages) for document in found.documents] == [3]
