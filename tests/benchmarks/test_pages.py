"""Pages in several languages are asked through the product, and pages of another language too."""

import json

import pytest
from writing_notes import write_notes

from benchmarks.datasets.pages import load_pages
from benchmarks.pages import judge_pages, sum_up
from benchmarks.runs import run_system
from memory_palace.embedding.hashing import HashingEmbedder
from memory_palace.errors import UsageError

PAGES = {
    "en": {"gauge.md": "# Gauge\n\nThe gauge counts rain.", "mast.md": "# Mast\n\nIt bends."},
    "de": {"gauge.md": "# Messer\n\nEr zählt Regen.", "mast.md": "# Mast\n\nEr biegt sich."},
    "fr": {"gauge.md": "# Pluviomètre\n\nIl compte la pluie.", "mast.md": "# Mât\n\nIl plie."},
}
QUESTIONS = [
    ("en", "what counts rain", "en/gauge.md", "gauge"),
    ("en", "what bends", "en/mast.md", "mast"),
    ("de", "was zählt Regen", "de/gauge.md", "gauge"),
    ("de", "was biegt sich", "de/mast.md", "mast"),
    ("fr", "que compte la machine", "fr/mast.md", "mast"),
]


@pytest.fixture
def pages(tmp_path):
    for language, notes in PAGES.items():
        write_notes(tmp_path / "pages" / "notes" / language, notes)
    rows = [dict(zip(("lang", "question", "note", "permalink"), q, strict=True)) for q in QUESTIONS]
    lines = "\n".join(json.dumps(row) for row in rows)
    (tmp_path / "pages" / "questions.jsonl").write_text(lines, "utf-8")
    return tmp_path / "pages"


def test_each_language_is_asked_its_own_questions(pages):
    found = {part.group: part for part in load_pages(pages)}
    counts = {name: len(part.questions) for name, part in found.items()}
    assert counts == {"en": 2, "de": 2, "fr": 1}
    assert [document.id for document in found["de"].documents] == ["gauge.md", "mast.md"]


def test_questions_across_are_of_the_same_page(pages):
    found = {part.group: part for part in load_pages(pages, asked_in="en")}
    assert found.keys() == {"de", "fr"}
    assert [q.text for q in found["de"].questions] == ["what counts rain", "what bends"]
    (only,) = found["fr"].questions
    assert (only.text, only.gold) == ("what bends", {"mast.md"})


def test_a_page_or_a_language_that_is_not_there_is_named(pages):
    with pytest.raises(UsageError, match="no questions in 'it', but de, en, fr"):
        list(load_pages(pages, asked_in="it"))
    (pages / "notes" / "fr" / "mast.md").unlink()
    with pytest.raises(UsageError, match=r"has no note mast\.md"):
        list(load_pages(pages))


def test_the_worst_language_comes_first_and_the_mean_leaves_out_one(pages, tmp_path):
    settings = {"embedder": HashingEmbedder(), "cache": tmp_path / "cache", "is_product": True}
    run = run_system("pages", list(load_pages(pages)), "hybrid", **settings)
    found = judge_pages([run])
    assert next(iter(found)) == "fr"
    assert [found[language][0].mrr for language in ("de", "en")] == [1, 1]
    (means,) = sum_up(found, but="en")
    assert (means.languages, means.least_in) == (2, "fr")
    assert means.mrr == pytest.approx((1 + found["fr"][0].mrr) / 2)
