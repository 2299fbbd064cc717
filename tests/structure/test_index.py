"""An index with structure: facts besides vectors and words."""

import pytest
from writing_notes import write_notes

from memory_palace.index.commit import Detail
from memory_palace.index.segment import FIELDS, same_keys
from memory_palace.index.words import PostingLookup
from memory_palace.palace import Palace

NOTES = {
    "grand_hall/map.md": "# Map\n\nThe [[Kitchen]] is warm.\n",
    "project_rooms/bread/Kitchen.md": (
        "# Kitchen\n\nBen feeds the sourdough starter.\n\n## Oven\n\nIt runs hot.\n"
    ),
    "chambers/violin.md": "# Violin\n\nThe old violin needs strings.\n",
    "reflection_wing/rain.md": "# Rain\n\nIt rained for a week.\n",
}


@pytest.fixture
def palace(tmp_path):
    write_notes(tmp_path / "palace", NOTES)
    return Palace.init(tmp_path)


@pytest.fixture
def indexed(palace):
    palace.index(embedder="hashing")
    return palace


def test_another_detail_makes_all_facts_again_and_embeds_nothing_that_is_known(indexed):
    report = indexed.index(structure=True)
    assert (report.embedded, report.added, report.changed, report.unchanged) == (0, (), (), 4)
    assert indexed.doctor().findings == ()
    assert indexed.index(force=True) and indexed.snapshot().detail == Detail.STRUCTURED
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
