"""What stays true over many small builds, merges, and readers that a build overtakes."""

import pytest

from memory_palace.errors import IndexDamagedError
from memory_palace.index.commit import read_commit
from memory_palace.index.segment import TOMBSTONE, open_segment
from memory_palace.index.snapshot import open_snapshot
from memory_palace.palace import Palace


def write(palace, name, text):
    path = palace.paths.notes / "chambers" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.fixture
def grown(tmp_path):
    """200 notes and one that was deleted, in two segments."""
    palace = Palace.init(tmp_path)
    for number in range(200):
        write(palace, f"n{number}.md", f"# Note {number}\n\nNumber {number} of many.\n")
    write(palace, "gone.md", "# Gone\n\nThe heron left the weir.\n")
    palace.index(embedder="hashing")
    (palace.paths.notes / "chambers" / "gone.md").unlink()
    palace.index()
    return palace


def test_a_deleted_note_stays_deleted_over_nine_edits_and_a_merge(grown, piled):
    """A tombstone is kept while another segment holds the note; no build in between mends it."""
    counts = []
    for number in range(9):
        write(grown, f"n{number}.md", f"# Note {number}\n\nNumber {number} once more.\n")
        assert grown.index().removed == ()
        assert "palace/chambers/gone.md" not in grown.snapshot().paths
        counts.append(len(read_commit(grown.paths.commit).segments))
    assert max(counts) > counts[-1], "nothing was merged"
    hits = grown.query("the heron left the weir", limit=9, neighbors=0).hits
    assert not any(hit.path.endswith("gone.md") for hit in hits)
    assert grown.doctor().findings == ()


def test_a_tombstone_that_nothing_needs_is_dropped(indexed, piled):
    for number in range(9):
        write(indexed, f"short{number}.md", f"Here for a moment, {number}.\n")
        indexed.index()
        (indexed.paths.notes / "chambers" / f"short{number}.md").unlink()
        indexed.index()
    commit = read_commit(indexed.paths.commit)
    kinds = [open_segment(indexed.paths.index, ref).arrays["kind"] for ref in commit.segments]
    assert sum(int((kind == TOMBSTONE).sum()) for kind in kinds) < 9


def test_a_reader_that_a_build_overtakes_opens_the_generation_it_began_with(indexed):
    """The record names the files of the generation before: they stay until the next commit."""
    began = read_commit(indexed.paths.commit)
    overtaken = []

    def open_after_a_build(folder, ref):
        if not overtaken:
            overtaken.append(ref)
            Palace(indexed.paths.root).index(force=True, embedder="hashing")
        return open_segment(folder, ref)

    write(indexed, "new.md", "# New\n\nA build is under way.\n")
    snapshot = open_snapshot(indexed.paths, opener=open_after_a_build)
    assert read_commit(indexed.paths.commit).generation == began.generation + 1
    assert snapshot.commit == began
    assert "palace/chambers/new.md" not in snapshot.paths


def test_a_reader_that_two_builds_overtake_begins_again(indexed):
    overtaken = []

    def open_after_builds(folder, ref):
        if not overtaken:
            overtaken.append(ref)
            for _ in range(2):
                write(indexed, "new.md", f"# New\n\nBuild {len(overtaken)}.\n")
                Palace(indexed.paths.root).index(force=True, embedder="hashing")
                overtaken.append(ref)
        return open_segment(folder, ref)

    assert "palace/chambers/new.md" in open_snapshot(indexed.paths, opener=open_after_builds).paths


def test_anchors_of_a_snapshot_can_be_read_after_a_build_has_replaced_them(indexed):
    """They are read when a question first asks for them, which may be after the next commit."""
    write(indexed, "mast.md", "# The antenna mast\n\nThe **antenna mast** bends in the wind.\n")
    indexed.index()
    indexed.anchors.build()
    held = indexed.snapshot()
    other = Palace(indexed.paths.root)
    write(indexed, "mast.md", "# The antenna mast\n\nThe **antenna mast** was taken down.\n")
    other.index()
    assert set(other.snapshot().commit.anchors) - set(held.commit.anchors)
    try:
        assert indexed.anchors.book(held).file
    except IndexDamagedError as error:
        pytest.fail(f"a reader was robbed of {error}")
