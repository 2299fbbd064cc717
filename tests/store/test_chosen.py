"""A few notes and the figures of all give the hits that all notes give: what a server relies on."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("psycopg", reason="needs the extra [postgres]")

from store.choosing import Recorded, answer_twice, choose

from benchmarks.datasets.locomo import load_locomo
from benchmarks.golden import read_pairs
from memory_palace.engine import Engine
from memory_palace.models import Filters, ParsedQuery
from memory_palace.retrieval.question import embed_question, narrow
from memory_palace.retrieval.search import search

pytestmark = pytest.mark.postgres

ROOT = Path(__file__).parents[2]
TALKS = ROOT.parent / "shared" / "data" / "locomo" / "locomo_dev.json"
AS_OF = 1_794_700_000.0
ASKED = [pair.question for pair in read_pairs(ROOT / "tests/golden/sample_palace.md")]


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    """The sample palace with all that an index can keep of it."""
    root = tmp_path_factory.mktemp("sample")
    shutil.copytree(ROOT / "palace", root / "palace", ignore=shutil.ignore_patterns(".*"))
    engine = Engine(root)
    engine.index(embedder="hashing", structure=True)
    return engine


def ask(text, engine, *, profile="hybrid", filters=None):
    query = ParsedQuery(text, AS_OF, filters or Filters())
    if not text or profile == "bm25":
        return query
    return embed_question(query, engine.embedder())


@pytest.mark.parametrize("profile", ["hybrid", "bm25", "compound", "raw", "structured"])
def test_twelve_notes_rank_as_all_do(sample, profile):
    for text in ASKED[::3]:
        query = ask(text, sample, profile=profile)
        found, again = answer_twice(
            query, sample.snapshot(), profile, sample.paths, limit=12, hits=5
        )
        assert again == found, text


def test_a_few_sessions_of_a_talk_rank_as_all_do(tmp_path):
    if not TALKS.exists():
        pytest.skip(f"needs {TALKS}")
    engine, questions = Engine(tmp_path), []
    for number, talk in enumerate(load_locomo(TALKS)):
        for session in talk.documents:
            path = tmp_path / "palace" / str(number) / f"{re.sub(r'[^0-9]', '-', session.id)}.md"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("\n\n".join(turn.text for turn in session.passages) or session.text)
        questions += [question.text for question in talk.questions]
    engine.index(embedder="hashing")
    for text in questions[::40]:
        found, again = answer_twice(
            ask(text, engine), engine.snapshot(), "hybrid", engine.paths, limit=40
        )
        assert [hit.path for hit in again] == [hit.path for hit in found], text
        assert [hit.score for hit in again] == pytest.approx([hit.score for hit in found], abs=1e-6)
        assert again == found, text


def test_words_that_every_chosen_note_has_are_as_rare_as_in_all(sample):
    """The chosen notes hold a word five times as often as all do: no figure may be theirs."""
    whole = sample.snapshot()
    query = ask("rain gauge downpour", sample)
    recorded = Recorded(whole)
    search(query, recorded, profile="hybrid")
    few = choose(recorded, range(3), sample.paths)
    assert few.statistics.rows == int(np.count_nonzero(whole.hot_rows)) > len(few.row_note)
    with pytest.raises(KeyError):
        few.statistics.frequency("words", ("never asked",), np.zeros(0, np.int64))


def test_the_text_of_a_hit_and_what_it_quotes_come_from_the_origin(sample):
    whole = sample.snapshot()
    query = replace(ask('what is "tipping bucket"', sample), text='what is "tipping bucket"')
    asked = narrow(query, whole, sample.paths)
    places = sorted({int(whole.row_note[row]) for row in asked.rows})
    recorded = Recorded(whole)
    found = search(asked, recorded, profile="hybrid", paths=sample.paths).hits
    few = choose(recorded, places, sample.paths)
    again = search(narrow(query, few, None), few, profile="hybrid").hits
    assert again == found
    assert all(hit.pieces for hit in again)


@pytest.mark.parametrize(
    "filters",
    [Filters(folder=("palace/chambers",)), Filters(type="decision"), Filters(tags=("none",))],
)
def test_filters_of_chosen_notes_refuse_nothing_that_all_notes_had(sample, filters):
    recorded = Recorded(sample.snapshot())
    query = ask("what ruins cells", sample)
    search(query, recorded, profile="hybrid")
    few = choose(recorded, [], sample.paths)
    assert search(replace(query, filters=filters), few, profile="hybrid").hits == []


@pytest.mark.parametrize("name", ["mast height at saddle hut", "quality check in order"])
def test_a_note_is_found_by_a_name_that_the_origin_knows(sample, name):
    found, again = answer_twice(
        ask(name, sample), sample.snapshot(), "hybrid", sample.paths, limit=5, hits=3
    )
    assert again == found
    assert any(line.signal == "called" and line.value for line in again[0].contributions)


def test_cold_notes_are_chosen_with_the_rest(sample):
    whole = sample.snapshot(include_cold=True)
    assert whole.cold.any(), "the sample palace has an archive"
    for text in ASKED[::4]:
        found, again = answer_twice(
            ask(text, sample), whole, "hybrid", sample.paths, limit=12, hits=5
        )
        assert again == found, text
