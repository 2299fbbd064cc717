"""`questions` in front matter: a note is found by them, and they are never shown."""

import json
import shlex

import numpy as np
import pytest
from running import run_main
from writing_notes import index_notes

from memory_palace.index.doctor import Examination
from memory_palace.notes.parsing import MOST_QUESTIONS
from memory_palace.palace import Palace

ASKED = "whither do puffins migrate"
BODY = "# Birds\n\nThey leave the cliff in August.\n\n## Nests\n\nBurrows are dug in turf.\n"
OTHERS = {
    "kettle.md": "# Kettle\n\nDescale it with vinegar each month.\n",
    "ladder.md": "# Ladder\n\nIt hangs in the shed behind the bicycles.\n",
    "oven.md": "# Oven\n\nThe left side is hotter by thirty degrees.\n",
}


def front_matter(questions):
    return f"---\nquestions: {json.dumps(questions)}\n---\n"


def make(root, text, embedder="hashing"):
    return index_notes(root, {**OTHERS, "birds.md": text}, embedder=embedder)


@pytest.fixture
def palace(tmp_path):
    return make(tmp_path, front_matter([ASKED]) + BODY)


def test_a_note_is_found_by_a_question_that_it_answers(palace, tmp_path):
    first = palace.query(ASKED).hits[0]
    assert first.path == "birds.md"
    assert {part.signal for part in first.contributions if part.contribution} >= {"questions"}
    (tmp_path / "birds.md").write_text(BODY)
    palace.index()
    assert all("questions" not in _speaking(hit) for hit in palace.query(ASKED).hits)


def _speaking(hit):
    return {part.signal for part in hit.contributions if part.contribution}


@pytest.mark.parametrize("lexical", [False, True])
def test_a_question_in_its_own_words_is_answered(palace, lexical):
    found = palace.query(ASKED, lexical=lexical)
    assert found.is_answered and found.hits[0].confidence > 0.9
    assert not lexical or "question_words" in _speaking(found.hits[0])
    assert not palace.query("whither do lanterns glow", lexical=True).is_answered


def test_a_string_is_one_question_and_commas_are_kept(tmp_path):
    palace = make(tmp_path, f'---\nquestions: "who, {ASKED}?"\n---\n{BODY}')
    assert len(palace.snapshot().question_rows) == 1
    assert palace.query(ASKED).hits[0].path == "birds.md"


def test_the_passage_is_that_of_the_note_which_fits_what_was_asked(palace):
    hit = palace.query(f"{ASKED} burrows turf").hits[0]
    assert (hit.path, hit.chunk.first_line) == ("birds.md", 4)
    assert "Burrows are dug in turf." in hit.text


SHOWN = (
    "query puffins",
    "query puffins --details",
    "query puffins --raw",
    "query puffins --full",
    "query puffins --json",
    "query puffins --json --details",
    "query puffins --format paths",
    "recall do puffins migrate in August",
    "recall do puffins migrate in August --json",
    "verify --json --text 'Puffins migrate in August. They leave the cliff.'",
    "verify --json --against birds --text 'Puffins migrate in August.'",
    "list --json",
    "graph anchors lookup puffins",
    "graph orphans --json",
    "status",
)


@pytest.mark.parametrize("line", SHOWN)
def test_no_question_of_a_note_is_ever_shown(palace, capsys, line):
    root = str(palace.paths.root)
    if line.startswith("graph anchors"):
        run_main(capsys, "-C", root, "graph", "anchors", "build", "--theta", "0.1")
    _, out, err = run_main(capsys, "-C", root, *shlex.split(line))
    assert out or err
    assert "whither" not in out + err


def test_questions_are_no_passages(palace, tmp_path):
    """Whatever counts, samples or lists passages sees those of the notes alone."""
    snapshot = palace.snapshot()
    assert len(snapshot.question_rows) == 1
    assert palace.status().chunks == int(np.count_nonzero(snapshot.row_note >= 0))
    (tmp_path / "birds.md").write_text(BODY)
    palace.index()
    assert palace.status().chunks == int(np.count_nonzero(snapshot.row_note >= 0))
    everything = palace.query("puffins", per_note=False, limit=50).hits
    assert all(hit.chunk.first_line for hit in everything)


def test_other_notes_score_as_they_did(tmp_path):
    """A question of one note moves no score of another for anything that it is not about."""
    for name in ("without", "with"):
        (tmp_path / name).mkdir()
    without = make(tmp_path / "without", BODY)
    found = make(tmp_path / "with", front_matter([ASKED, "zzz yyy"]) + BODY)
    for question in ("vinegar in the kettle", "what hangs in the shed", "burrows in turf"):
        scores = [
            [(hit.path, hit.score, hit.confidence) for hit in palace.query(question).hits]
            for palace in (without, found)
        ]
        assert scores[0] == scores[1]


def test_editing_questions_embeds_them_and_nothing_else(palace, tmp_path):
    (tmp_path / "birds.md").write_text(front_matter([ASKED, "where are burrows"]) + BODY)
    assert palace.index().embedded == 1
    (tmp_path / "birds.md").write_text(front_matter(["where are burrows"]) + BODY)
    assert palace.index().embedded == 0
    (tmp_path / "birds.md").rename(tmp_path / "seabirds.md")
    assert palace.index().embedded == 0
    assert palace.query("where are burrows").hits[0].path == "seabirds.md"


def test_an_index_that_grew_answers_like_a_fresh_one(palace, tmp_path):
    for number in range(9):
        (tmp_path / "birds.md").write_text(front_matter([f"old {number}", ASKED]) + BODY)
        palace.index()
    grown = [(hit.path, hit.score) for hit in palace.query(ASKED).hits]
    palace.index(force=True)
    assert grown == [(hit.path, hit.score) for hit in palace.query(ASKED).hits]
    examined = palace.doctor()
    assert isinstance(examined, Examination) and not examined.findings


def test_too_many_and_too_long_questions_are_cut_and_said_in_one_line(tmp_path):
    many = [f"what is number {number}" for number in range(1200)]
    palace = Palace.init(tmp_path, here=True)
    (tmp_path / "a.md").write_text(front_matter(many) + BODY)
    (tmp_path / "b.md").write_text(front_matter(["why " + "x" * 5000]) + "b\n")
    report = palace.index(embedder="hashing")
    said = [str(problem) for problem in report.problems]
    assert len(said) == 2 and "of 1,200 questions only 50 are read" in said[0]
    assert len(palace.snapshot().question_rows) == MOST_QUESTIONS + 1


@pytest.mark.parametrize("value", ["{a: b}", "[[a, b], {c: d}, null, true, '', ' ']", "null", "12"])
def test_what_is_no_question_is_passed_over(tmp_path, value):
    palace = make(tmp_path, f"---\nquestions: {value}\n---\n{BODY}")
    assert len(palace.snapshot().question_rows) == (value == "12")
    assert palace.query("burrows in turf").hits[0].path == "birds.md"


def test_secrets_and_private_notes_give_no_question(tmp_path):
    key = "ghp_" + "a1B2" * 9
    palace = make(tmp_path, front_matter([f"is {key} the key"]) + BODY)
    (tmp_path / "oven.md").write_text(f"---\nprivate: true\nquestions: [{ASKED}]\n---\nHot.\n")
    palace.index()
    snapshot = palace.snapshot()
    assert len(snapshot.question_rows) <= 1
    assert "oven.md" not in [hit.path for hit in palace.query(ASKED, limit=50).hits]
    data = b"".join(file.read_bytes() for file in palace.paths.index.glob("seg-*"))
    assert key.encode() not in data


def test_the_files_of_the_index_do_not_hold_the_words_of_a_question(palace):
    data = b"".join(file.read_bytes() for file in palace.paths.index.glob("seg-*"))
    assert b"puffins" not in data


def test_filters_apply_to_what_a_question_finds(palace):
    assert not palace.query(ASKED, type="project").hits
