"""What a round is measured by: questions that people wrote, and what became of the notes."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from memory_palace.bench.golden import read_questions
from memory_palace.bench.hardening import has_new_prose, measure_hardening
from memory_palace.bench.metrics import interval
from memory_palace.errors import UsageError
from memory_palace.notes.document import parse_document
from memory_palace.notes.golden import GoldenQuestion

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
QUESTIONS = HERE / "sample_palace.md"


def test_sixty_questions_stand_for_notes_that_exist():
    pairs = read_questions(QUESTIONS)
    assert len(pairs) == 60
    assert all((ROOT / path).is_file() for pair in pairs for path in pair.notes)


def test_questions_of_people_are_read_in_both_forms(tmp_path):
    lines = [{"question": "who", "note": "a.md"}, {"question": "why", "notes": ["a.md", "b"]}]
    file = tmp_path / "asked.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    expected = [GoldenQuestion("who", ("a.md",)), GoldenQuestion("why", ("a.md", "b"))]
    assert read_questions(file) == expected
    table = tmp_path / "golden_questions.md"
    table.write_text("| question | note |\n|--|--|\n| who | a.md |\n| why | a.md |\n| why | b |\n")
    assert read_questions(table) == expected


@pytest.mark.parametrize("line", ['{"question": "who"}', '{"note": "a.md"}', '{"notes": []}', ""])
def test_a_file_without_a_question_and_its_note_is_refused(tmp_path, line):
    (tmp_path / "asked.jsonl").write_text(line)
    with pytest.raises(UsageError):
        read_questions(tmp_path / "asked.jsonl")


def test_a_round_is_measured_on_notes_that_it_changed_and_on_others(tmp_path):
    (tmp_path / "bees.md").write_text("# Bees\n\nThe hives stand behind the wall.\n")
    (tmp_path / "wax.md").write_text("# Wax\n\nCandles are poured in the autumn.\n")
    before = {file: file.read_bytes() for file in tmp_path.iterdir()}
    asked = [GoldenQuestion("where are the hives", ("Bees",)), GoldenQuestion("zzz", ("wax.md",))]
    found = measure_hardening(tmp_path, asked, embedder="hashing", rounds=2)
    assert {row.group for row in found.rows} == {"others", "all"} and not found.changed
    (recall,) = (r for r in found.rows if (r.group, r.measure) == ("all", "recall@5"))
    assert (recall.questions, recall.difference) == (4, 0.0) and recall.before == recall.after
    assert (found.rounds, found.prose, found.proposals) == (2, 0, {})
    assert before == {file: file.read_bytes() for file in tmp_path.iterdir()}


BEFORE = "---\ntitle: Bees\n---\nThe hives stand behind the wall.\n\nWax is sold in May.\n"


@pytest.mark.parametrize(
    ("old", "new", "is_prose"),
    [
        ("title: Bees", "title: Bees\naliases: [hives]\nquestions: [where are they]", False),
        ("The hives", "The [[places/apiary|hives]]", False),
        ("Wax", "## Selling wax\n\nWax", False),
        ("Wax", "## Anchors\n\nhives wall\n\nWax", True),
        ("in May.", "in May and June.", True),
        ("the wall.", "the wall. The hives stand.", True),
    ],
)
def test_words_in_the_text_are_prose_and_links_fields_and_headings_are_not(old, new, is_prose):
    before = parse_document("a.md", BEFORE.encode())
    after = parse_document("a.md", BEFORE.replace(old, new).encode())
    assert before is not None and after is not None
    assert has_new_prose(before, after) is is_prose
    assert not has_new_prose(before, replace(before))


def test_an_interval_knows_that_questions_on_one_memory_go_together():
    differences = np.array([1.0] * 10 + [0.0] * 10)
    apart = interval(differences, clusters=[f"m{i}" for i in range(20)])
    together = interval(differences, clusters=[f"m{i // 10}" for i in range(20)])
    assert together[1] - together[0] > apart[1] - apart[0]
