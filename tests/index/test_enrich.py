"""An enriched index: a second vector per chunk, of what describes it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from memory_palace.config import Config
from memory_palace.embedding.base import embed_query
from memory_palace.errors import UsageError, WrongEmbedderError
from memory_palace.index.postings import FIELDS, PostingLookup, same_keys
from memory_palace.index.recipes import Detail
from memory_palace.index.rows import list_embedded
from memory_palace.index.values import Derived
from memory_palace.models import Query
from memory_palace.notes.note import Chunk
from memory_palace.palace import Palace
from memory_palace.ranking import ProfileSettings
from memory_palace.retrieval.profiles import Profile
from memory_palace.retrieval.question import join_phrases
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
    vectors = snapshot.rows_of(rows, "described")
    return {
        (snapshot.chunk(row).path, snapshot.chunk(row).first_line): vector.tobytes()
        for row, vector in zip(rows.tolist(), vectors, strict=True)
    }


def test_each_chunk_has_the_vector_of_its_description(enriched):
    note = enriched.paths.notes / "project_rooms/bread/Kitchen.md"
    note.write_text(EDIT)
    enriched.index()
    row = described(enriched)["palace/project_rooms/bread/Kitchen.md", 1]
    embedder = enriched.embedder()
    text = "Mentions Maria Keller, Zurich. About portable power bank, kitchen, oven."
    assert row == embedder.embed_passages([text])[0].tobytes()


def test_a_chunk_without_description_is_its_own():
    chunk = Chunk((), 1, 1, "words", "title words", "")
    assert list_embedded(chunk, Derived(), Detail.ENRICHED) == ("title words", "title words")


def test_only_what_changed_is_embedded_and_updates_equal_a_fresh_build(enriched):
    note = enriched.paths.notes / "project_rooms/bread/Kitchen.md"
    note.write_text(EDIT)
    report = enriched.index()
    assert report.embedded == 2
    grown = described(enriched)
    enriched.index(force=True)
    assert described(enriched) == grown


def test_a_rename_embeds_nothing(enriched):
    note = enriched.paths.notes / "grand_hall/map.md"
    note.rename(note.with_name("plan.md"))
    assert enriched.index().embedded == 0


def test_merging_keeps_second_vectors(enriched):
    before = described(enriched)
    for number in range(9):
        (enriched.paths.notes / f"grand_hall/{number}.md").write_text(f"Quince {number}.\n")
        enriched.index()
    assert len(enriched.snapshot().segments) < 9
    after = described(enriched)
    assert {place: after[place] for place in before} == before


def test_doctor_makes_second_vectors_again(enriched):
    found = enriched.doctor()
    assert found.findings == ()
    assert found.checked["vectors"] == 2 * found.checked["chunks"]


def test_an_index_stays_as_detailed_as_it_is_until_another_detail_is_asked_for(enriched):
    assert enriched.index().embedded == 0
    assert enriched.snapshot().detail == Detail.ENRICHED
    enriched.index(enrich=False)
    assert enriched.snapshot().detail == Detail.STRUCTURED
    enriched.index(force=True)
    assert enriched.snapshot().detail == Detail.STRUCTURED
    enriched.index(structure=False)
    assert enriched.snapshot().detail == Detail.PLAIN


def test_another_detail_makes_all_facts_again_and_embeds_nothing_that_is_known(indexed):
    report = indexed.index(structure=True)
    assert (report.embedded, report.added, report.changed, report.unchanged) == (0, (), (), 4)
    assert indexed.doctor().findings == ()
    assert indexed.index(enrich=True).embedded > 0
    assert indexed.doctor().findings == ()
    assert indexed.index(structure=False).embedded == 0
    assert indexed.doctor().findings == ()


def test_detail_that_is_changed_equals_a_fresh_build(indexed):
    indexed.index(structure=True)
    grown = [segment.row_keys for segment in indexed.snapshot().segments]
    indexed.index(force=True)
    fresh = [segment.row_keys for segment in indexed.snapshot().segments]
    assert [same_keys(*pair) for pair in zip(grown[0], fresh[0], strict=True)] == [True] * len(
        FIELDS
    )


def test_to_enrich_without_structure_is_refused(indexed):
    with pytest.raises(UsageError, match="--no-structure"):
        indexed.index(enrich=True, structure=False)


@pytest.mark.parametrize(
    ("profile", "command"),
    [("structured", "palace index --structure"), ("enriched", "palace index --enrich")],
)
def test_a_profile_that_the_index_keeps_too_little_for_names_the_command(indexed, profile, command):
    with pytest.raises(WrongEmbedderError, match=command):
        indexed.query("oven", profile=profile)


def test_the_profile_structured_answers_from_an_index_with_structure(indexed):
    indexed.index(structure=True)
    own = ProfileSettings("structured", weights={"noun_phrase": 1.0, "described": 1.0})
    palace = Palace(indexed.paths.root, config=Config(profiles={"phrases": own}))
    for profile in ("structured", "phrases"):
        [hit, *_] = palace.query("what is the sourdough starter", profile=profile).hits
    parts = {part.signal: part.contribution for part in hit.contributions}
    assert parts["noun_phrase"] > 0
    assert parts["described"] > 0


def test_a_plain_index_keeps_dates_speakers_and_forms_alone(palace):
    note = palace.paths.notes / "grand_hall/talk.md"
    note.write_text("Anna: did Maria Keller play the violin on 5 March 2024?\n")
    palace.index(embedder="hashing")
    facts = PostingLookup(palace.snapshot(), "facts")
    kept = [("speaker", "anna"), ("form", "question"), ("date", "2024-03-05")]
    assert [len(facts.rows(*fact)) for fact in kept] == [1, 1, 1]
    assert len(facts.rows("entity", "maria keller")) == 0
    palace.index(structure=True)
    facts = PostingLookup(palace.snapshot(), "facts")
    assert [len(facts.rows(*fact)) for fact in (*kept, ("entity", "maria keller"))] == [1] * 4


def test_the_profile_enriched_says_what_descriptions_add(enriched):
    [hit, *_] = enriched.query("who runs hot in the oven", profile="enriched").hits
    parts = {part.signal: part for part in hit.contributions}
    assert parts["enriched"].weight == 0.2
    total = sum(part.contribution for part in hit.contributions)
    assert hit.score == pytest.approx(total, abs=1e-9)


def test_descriptions_find_what_the_passage_itself_hides(palace):
    words = " ".join(f"and then word{n} went on as ever" for n in range(12))
    note = palace.paths.notes / "grand_hall/long.md"
    note.write_text(f"Maria Keller bought a portable power bank. {words}.\n")
    palace.index(embedder="hashing", enrich=True)
    vector = palace.embedder().embed_queries(["portable power bank"])[0]
    snapshot = palace.snapshot()
    [row] = [r for r in range(len(snapshot.row_note)) if "long.md" in snapshot.chunk(r).path]
    plain = snapshot.similarities(vector)[row]
    assert snapshot.similarities(vector, "described")[row] > 1.5 * plain


def test_the_bridge_compares_the_phrases_of_a_question(enriched):
    embedder, snapshot = enriched.embedder(), enriched.snapshot()
    text = "what did they say of the sourdough starter"
    assert join_phrases(text) == "sourdough starter"
    query = Query(
        text,
        0.0,
        vector=embed_query(embedder, text),
        phrases=embed_query(embedder, join_phrases(text)),
    )
    found = search(query, snapshot, profile=Profile("bridge", {"bridge": 1.0}))
    assert found.hits[0].path == "palace/project_rooms/bread/Kitchen.md"
    assert 0 < found.hits[0].score <= 1
    silent = search(replace(query, phrases=None), snapshot, profile=Profile("b", {"bridge": 1.0}))
    assert silent.hits == []
