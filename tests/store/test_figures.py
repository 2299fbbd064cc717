"""What a store tells of all notes is what the files say of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

psycopg = pytest.importorskip("psycopg", reason="needs the extra [postgres]")

from store.pushing import Store  # noqa: E402

from benchmarks.golden import read_pairs  # noqa: E402
from memory_palace.features.store.outline import Outline, ToldStatistics  # noqa: E402
from memory_palace.index.snapshot import Statistics  # noqa: E402
from memory_palace.index.words import BM25, PostingLookup  # noqa: E402
from memory_palace.models import ParsedQuery  # noqa: E402
from memory_palace.retrieval.question import read_question  # noqa: E402

pytestmark = pytest.mark.postgres

ROOT = Path(__file__).parents[2]
GOLDEN = [pair.question for pair in read_pairs(ROOT / "tests/golden/sample_palace.md")]
NO_ROWS = np.zeros(0, np.int64)


def test_figures_of_all_notes_are_told_without_reading_them(sample, database):
    store = Store(database, sample)
    store.push()
    stored = store.read()
    whole = Outline(stored.statements, stored.generation, include_cold=False)
    files = sample.snapshot()
    own, lists = Statistics(files), PostingLookup(files, "words")
    vector = np.eye(files.commit.dimension, dtype=np.float32)[7]
    off = []
    for text in GOLDEN[::3]:
        question = read_question(ParsedQuery(text, 0.0), files.languages)
        told, bm25 = ToldStatistics(whole.ask(), question), BM25(lists)
        assert told.rows == own.rows
        for term in question.terms:
            assert told.frequency("words", (term,), NO_ROWS) == lists.document_frequency(term)
            assert told.holds("words", (term,), NO_ROWS) == lists.is_held(term)
            notes = set(files.row_note[lists.rows(term)].tolist())
            assert told.note_frequency(term, 0) == len(notes)
        assert told.figure("words_length", 0.0) == pytest.approx(lists.mean_length())
        assert told.figure("most_held", 0.0) == pytest.approx(bm25.familiarity(question.terms)[1])
        scores = bm25.notes(question.content_terms)
        exact = own.spread("note_words", scores, ~files.private)
        found = told.spread("note_words", scores)
        assert found is not None and tuple(found) == pytest.approx(tuple(exact))
        scores = bm25.passages(question.terms)
        exact = own.spread("words", scores, files.row_note >= 0)
        found = told.spread("words", scores, np.zeros(len(scores), np.bool_))  # of notes alone
        assert found is not None and found.mean == pytest.approx(exact.mean, rel=0.05)
        off.append(abs(found.deviation / exact.deviation - 1))
        sample_cosines = np.sort(told.sample(vector))
        assert sample_cosines == pytest.approx(np.sort(own.sample(vector)), abs=1e-6)
    assert max(off) < 0.15, off
    store.connection.close()
