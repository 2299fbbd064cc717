import pytest
from writing_notes import read_state

from memory_palace.features.metabolism.cold_zone import archive_note, restore_note


def links(graph):
    return len(graph.broken()), len(graph.ambiguous())


@pytest.fixture
def linked(palace, write):
    write("chambers/01_wren/a.md", "[[palace/grand_hall/b]] [x](../../grand_hall/b.md) [[b]]\n")
    write("grand_hall/b.md", "[[../chambers/01_wren/a]] and [[chambers/01_wren/a|again]]\n")
    palace.index(embedder="hashing")
    assert links(palace.graph()) == (0, 0)
    return palace


def test_links_by_path_follow_a_note_into_the_archive_and_back(linked):
    before = read_state(linked.paths)
    archive_note(linked, "b", apply=True)
    assert links(linked.graph()) == (0, 0) and len(linked.graph().archived()) > 0
    restore_note(linked, "b", apply=True)
    assert links(linked.graph()) == (0, 0) and linked.graph().archived() == []
    assert linked.graph().neighbors("palace/grand_hall/b.md").back == (
        "palace/chambers/01_wren/a.md",
    )
    linked.changes.undo(apply=True)
    linked.changes.undo(apply=True)
    assert read_state(linked.paths) == before
