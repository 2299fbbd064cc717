"""What a build that was killed leaves behind: used where it fits, named where nobody needs it."""

import numpy as np
import pytest

from memory_palace.embedding.hashing import HashingEmbedder
from memory_palace.index import commit, writing
from memory_palace.index.commit import read_commit
from memory_palace.index.writing import write_vectors
from memory_palace.palace import Palace


def leave_vectors(palace, sign=1, *, fingerprint=None):
    """Leave vectors of the palace's passages beside the index, as a killed build would."""
    snapshot = palace.snapshot(include_cold=True)
    write_vectors(
        palace.paths.index,
        [bytes(digest) for digest in snapshot.row_digests],
        [sign * snapshot.rows_of(np.arange(len(snapshot.row_note)))],
        fingerprint or snapshot.commit.fingerprint,
    )


def forget_index(palace):
    for path in [palace.paths.commit, *palace.paths.index.glob("seg-*")]:
        path.unlink()
    return Palace(palace.paths.root).index(embedder="hashing")


def test_vectors_that_a_killed_build_left_are_not_made_again(indexed):
    leave_vectors(indexed)
    report = forget_index(indexed)
    assert (report.embedded, report.reused) == (0, 4)
    assert indexed.doctor().findings == ()


def test_an_index_of_another_format_keeps_its_embedder_and_its_vectors(indexed, monkeypatch):
    monkeypatch.setattr(commit, "FORMAT", commit.FORMAT + 1)
    report = Palace(indexed.paths.root).index()
    assert (report.embedder, report.embedded, report.reused) == ("hashing", 0, 4)
    assert indexed.doctor().findings == ()


def test_vectors_of_another_recipe_are_never_used(indexed):
    leave_vectors(indexed, -1, fingerprint="another model")
    report = forget_index(indexed)
    assert (report.embedded, report.reused) == (4, 0)
    assert indexed.doctor().findings == ()


def test_doctor_names_files_of_no_generation(indexed):
    leave_vectors(indexed)
    (leftover,) = indexed.doctor().findings
    assert leftover.what == "leftover" and "vec-" in leftover.where


def test_doctor_names_vectors_that_are_not_those_of_the_text(palace, monkeypatch):
    embed = HashingEmbedder.embed_passages
    monkeypatch.setattr(
        HashingEmbedder, "embed_passages", lambda self, texts: np.roll(embed(self, texts), 1, 1)
    )
    palace.index(embedder="hashing")
    monkeypatch.undo()
    findings = Palace(palace.paths.root).doctor().findings
    assert {finding.what for finding in findings} == {"vector"}
    assert len(findings) == 4


def test_a_build_deletes_the_conflict_copies_of_a_sync_program_beside_the_index(indexed):
    for end in (".sync-conflict-20260101-120000-ABCDEFG", " (conflicted copy 2026)"):
        indexed.paths.commit.with_stem(f"INDEX{end}").write_text("{}")
    indexed.index()
    assert not [*indexed.paths.index.glob("*conflict*")]


@pytest.fixture
def large(indexed, monkeypatch):
    """A palace whose first segment counts as large."""
    monkeypatch.setattr(writing, "LARGE_ROWS", 32)
    for number in range(40):
        (indexed.paths.notes / "chambers" / f"n{number}.md").write_text(f"Number {number}.\n")
    indexed.index(force=True)
    return indexed


def remove(palace, numbers):
    for number in numbers:
        (palace.paths.notes / "chambers" / f"n{number}.md").unlink()
    palace.index()
    return sum(ref.dead_rows for ref in read_commit(palace.paths.commit).segments)


def test_a_large_segment_is_rewritten_when_a_tenth_of_it_is_dead(large):
    assert remove(large, range(3)) == 3
    assert remove(large, range(3, 9)) == 0
    assert large.doctor().findings == ()


def test_a_merge_keeps_a_note_whose_newest_record_is_elsewhere(indexed, piled):
    """Its passages lie in a small segment, its priority in the large one of a later build."""
    chambers = indexed.paths.notes / "chambers"
    for number in range(40):
        (chambers / f"n{number}.md").write_text(f"Number {number}.\n")
    indexed.index()
    (chambers / "late.md").write_text("# Late\n\nThe bittern came late.\n")
    indexed.index()
    manifest = indexed.paths.manifest
    lines = manifest.read_text().splitlines()
    manifest.write_text("".join(f'{line[:-1]}, "priority": "high"}}\n' for line in lines))
    indexed.index()
    for number in range(9):
        (chambers / "turn.md").write_text(f"Turn {number}.\n")
        assert "palace/chambers/late.md" not in indexed.index().added
        assert "palace/chambers/late.md" in indexed.snapshot().paths
    (hit, *_) = indexed.query("the bittern came late", neighbors=0).hits
    assert hit.path == "palace/chambers/late.md" and hit.note.priority == "high"
    assert indexed.doctor().findings == ()
