from __future__ import annotations

import pytest
from running import commit_all

from memory_palace.changes.cold_zone import archive_note, restore_note, undo_last
from memory_palace.errors import UsageError
from memory_palace.palace import Palace


def links(graph):
    return len(graph.broken()), len(graph.ambiguous())


@pytest.fixture
def linked(palace, write):
    write("chambers/01_wren/a.md", "[[palace/grand_hall/b]] [x](../../grand_hall/b.md) [[b]]\n")
    write("grand_hall/b.md", "[[../chambers/01_wren/a]] and [[chambers/01_wren/a|again]]\n")
    palace.index(embedder="hashing")
    assert links(palace.graph()) == (0, 0)
    return palace


def state(palace):
    return {p: p.read_bytes() for p in palace.paths.notes.rglob("*.md")}


def test_links_by_path_follow_a_note_into_the_archive_and_back(linked):
    before = state(linked)
    archive_note(linked, "b", apply=True)
    assert links(linked.graph()) == (0, 0) and len(linked.graph().archived()) > 0
    restore_note(linked, "b", apply=True)
    assert links(linked.graph()) == (0, 0) and linked.graph().archived() == []
    assert linked.graph().neighbors("palace/grand_hall/b.md").back == (
        "palace/chambers/01_wren/a.md",
    )
    undo_last(linked, apply=True)
    undo_last(linked, apply=True)
    assert state(linked) == before


def test_archiving_refuses_edits_that_git_has_not_seen_unless_told(linked):
    commit_all(linked.paths.root)
    note = linked.paths.notes / "grand_hall" / "b.md"
    note.write_text(note.read_text() + "mine\n")
    before = state(linked)
    with pytest.raises(UsageError, match="not committed to git"):
        archive_note(linked, "b", apply=True)
    assert state(linked) == before
    (linked.paths.notes / "palace.yaml").write_text("changes: {allow_uncommitted: true}\n")
    archive_note(Palace(linked.paths.root), "b", apply=True)
    assert not note.exists()
