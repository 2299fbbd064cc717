"""An enriched index: a second vector per chunk, of what describes it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from memory_palace.embedding.base import embed_query
from memory_palace.errors import UsageError
from memory_palace.index.rows import describe
from memory_palace.models import Chunk, Derived, Query
from memory_palace.retrieval.phrasing import phrases_of
from memory_palace.retrieval.profiles import Profile
from memory_palace.retrieval.search import search

EDIT = "# Kitchen\n\n## Oven\n\nMaria Keller bought a portable power bank in Zurich.\n"


@pytest.fixture
def enriched(palace):
    palace.index(embedder="hashing", enrich=True)
    return palace


def described(palace):
    """Return the second vector of every chunk, by its place."""
    snapshot = palace.snapshot(include_cold=True)
    rows = np.flatnonzero(snapshot.row_note >= 0)
    vectors = snapshot.rows_of(rows, member="described")
    return {
        (snapshot.chunk(row).path, snapshot.chunk(row).first_line): vector.tobytes()
        for row, vector in zip(rows.tolist(), vectors, strict=True)
    }


def test_each_chunk_has_the_vector_of_its_description(enriched):
    note = enriched.paths.palace / "project_rooms/bread/Kitchen.md"
    note.write_text(EDIT)
    enriched.index()
    row = described(enriched)["palace/project_rooms/bread/Kitchen.md", 1]
    embedder = enriched.embedder()
    text = "Mentions Maria Keller, Zurich. About portable power bank, kitchen, oven."
    assert row == embedder.embed_passages([text])[0].tobytes()


def test_a_chunk_without_description_is_its_own():
    chunk = Chunk((), 1, 1, "words", "title words", "")
    assert describe(chunk, Derived()) == "title words"


def test_only_what_changed_is_embedded_and_updates_equal_a_fresh_build(enriched):
    note = enriched.paths.palace / "project_rooms/bread/Kitchen.md"
    note.write_text(EDIT)
    report = enriched.index()
    assert report.embedded == 2
    grown = described(enriched)
    enriched.index(force=True)
    assert described(enriched) == grown


def test_a_rename_embeds_nothing(enriched):
    note = enriched.paths.palace / "grand_hall/map.md"
    note.rename(note.with_name("plan.md"))
    assert enriched.index().embedded == 0


def test_merging_keeps_second_vectors(enriched):
    before = described(enriched)
    for number in range(9):
        (enriched.paths.palace / f"grand_hall/{number}.md").write_text(f"Quince {number}.\n")
        enriched.index()
    assert len(enriched.snapshot().segments) < 9
    after = described(enriched)
    assert {place: after[place] for place in before} == before


def test_doctor_makes_second_vectors_again(enriched):
    found = enriched.doctor()
    assert found.findings == ()
    assert found.checked["vectors"] == 2 * found.checked["chunks"]


def test_an_index_stays_as_it_is_until_it_is_built_anew(enriched):
    assert enriched.index().embedded == 0
    with pytest.raises(UsageError, match=r"palace index --force --no-enrich"):
        enriched.index(enrich=False)
    enriched.index(enrich=False, force=True)
    assert not enriched.snapshot().is_enriched
    with pytest.raises(UsageError, match=r"palace index --force --enrich"):
        enriched.index(enrich=True)
    enriched.index(force=True)
    assert not enriched.snapshot().is_enriched


def test_the_profile_enriched_says_what_descriptions_add(enriched):
    [hit, *_] = enriched.query("who runs hot in the oven", profile="enriched").hits
    parts = {part.signal: part for part in hit.contributions}
    assert parts["enriched"].weight == 0.2
    total = sum(part.contribution for part in hit.contributions)
    assert hit.score == pytest.approx(total, abs=1e-9)


def test_descriptions_find_what_the_passage_itself_hides(palace):
    words = " ".join(f"and then word{n} went on as ever" for n in range(12))
    note = palace.paths.palace / "grand_hall/long.md"
    note.write_text(f"Maria Keller bought a portable power bank. {words}.\n")
    palace.index(embedder="hashing", enrich=True)
    vector = palace.embedder().embed_queries(["portable power bank"])[0]
    snapshot = palace.snapshot()
    [row] = [r for r in range(len(snapshot.row_note)) if "long.md" in snapshot.chunk(r).path]
    plain = snapshot.similarities(vector)[row]
    assert snapshot.similarities(vector, member="described")[row] > 1.5 * plain


def test_the_bridge_compares_the_phrases_of_a_question(enriched):
    embedder, snapshot = enriched.embedder(), enriched.snapshot()
    text = "what did they say of the sourdough starter"
    assert phrases_of(text) == "sourdough starter"
    query = Query(
        text,
        0.0,
        vector=embed_query(embedder, text),
        phrases=embed_query(embedder, phrases_of(text)),
    )
    found = search(query, snapshot, profile=Profile("bridge", {"bridge": 1.0}))
    assert found.hits[0].path == "palace/project_rooms/bread/Kitchen.md"
    assert 0 < found.hits[0].score <= 1
    silent = search(replace(query, phrases=None), snapshot, profile=Profile("b", {"bridge": 1.0}))
    assert silent.hits == []


def test_without_descriptions_their_signals_are_silent(indexed):
    [hit, *_] = indexed.query("oven", profile="enriched").hits
    assert {p.contribution for p in hit.contributions if p.signal == "enriched"} == {0.0}
