"""A telegraph says nothing that its card does not say: it is not ranked beside it."""

import pytest
from writing_notes import write_notes

from memory_palace.palace import Palace

CARD = "palace/dispatch_corridor/completed/2026-10-01_new-mast.md"
QUESTION = "which bolt holds the mast"
TEXT = """---
status: completed
completed: 2026-10-02
---
# New mast

## Problem

The bolt of the mast broke in the storm, and nobody had a spare bolt for the mast.

## What worked

The mast holds with a bolt of stainless steel and two nuts.

## Next

- Tell the keepers which mast has which bolt.
"""
OTHERS = {
    f"palace/project_rooms/masts/{name}.md": f"# {name}\n\nThe {name} has a mast on {ground}.\n"
    for name, ground in [("saddle", "rock"), ("chapel", "the roof"), ("weir", "a slab")]
}


@pytest.fixture
def palace(tmp_path):
    palace = Palace.init(tmp_path)
    write_notes(tmp_path, {CARD: TEXT, **OTHERS})
    palace.index(embedder="hashing")
    return palace


def ask(palace, **more):
    return [hit.path for hit in palace.query(QUESTION, **more).hits]


def distil(palace):
    palace.metabolism.distill(CARD, apply=True)
    palace.index()
    (note,) = palace.notes(type="telegram")
    return note.path


def test_a_telegraph_takes_no_place_beside_its_card(palace):
    before = ask(palace)
    telegraph = distil(palace)
    assert before[0] == CARD and ask(palace) == before
    assert telegraph in [note.path for note in palace.notes()]
    assert "stainless" in palace.read(telegraph).text


def test_it_answers_when_the_card_is_archived_or_not_asked_for(palace):
    telegraph = distil(palace)
    assert ask(palace, type="telegram") == [telegraph]
    palace.cold_zone.archive(CARD, apply=True)
    palace.index()
    assert ask(palace)[0] == telegraph
    found = ask(palace, include_cold=True)
    assert telegraph in found and any(path.endswith("_new-mast.md") for path in found)


def test_a_telegraph_that_somebody_edited_is_a_note_of_its_own(palace):
    telegraph = distil(palace)
    file = palace.paths.root / telegraph
    file.write_text(f"{file.read_text('utf-8')}\nOrder each bolt of a mast twice.\n", "utf-8")
    palace.index()
    assert telegraph in ask(palace)


def test_what_it_was_kept_from_besides_has_to_be_hot_too(palace):
    telegraph = distil(palace)
    file = palace.paths.root / telegraph
    kept = file.read_text("utf-8")
    for source, is_ranked in (("weir", False), ("gone", True)):
        file.write_text(kept.replace("\ndate:", f"\nsource: [{source}]\ndate:", 1), "utf-8")
        palace.index()
        assert (telegraph in ask(palace)) == is_ranked
