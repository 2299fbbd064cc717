"""An index is published by words at once, and with vectors as they come."""

import errno
import os
import random
import signal
from datetime import UTC, datetime

import numpy as np
import pytest
from forking import Forked, run_code
from running import run_main
from stopping import DYING

from memory_palace.embedding.hashing import HashingEmbedder
from memory_palace.errors import IndexMissingError
from memory_palace.index import build, rows, writing
from memory_palace.index.commit import read_commit
from memory_palace.palace import Palace

COUNT = 40


@pytest.fixture
def notes(tmp_path):
    """A folder of notes, the last one the newest."""
    for number in range(COUNT):
        day = datetime(2025, 1, 1 + number % 28, number // 28, tzinfo=UTC).timestamp()
        path = tmp_path / f"n{number}.md"
        path.write_text(f"# Lantern {number}\n\nThe {number}th lantern is of brass.\n")
        os.utime(path, (day, day))
    return Palace.init(tmp_path, here=True)


@pytest.fixture
def stepping(monkeypatch):
    """Publish the words first, however few there are, and the vectors of eight texts at a time."""
    monkeypatch.setattr(rows, "AT_ONCE", 0)
    monkeypatch.setattr(build, "STEP_SECONDS", 0)
    monkeypatch.setattr(rows, "_SLICE", 8)


def stop_after(monkeypatch, count):
    """Press Ctrl-C once so many passages have been embedded; return their texts."""
    embed, seen = HashingEmbedder.embed_passages, []

    def counting(self, texts):
        ours = [text for text in texts if "lantern" in text]
        if ours and len(seen) >= count:
            raise KeyboardInterrupt
        seen.extend(ours)
        return embed(self, texts)

    monkeypatch.setattr(HashingEmbedder, "embed_passages", counting)
    return seen


def stop(palace, monkeypatch, count):
    with monkeypatch.context() as patch:
        seen = stop_after(patch, count)
        with pytest.raises(KeyboardInterrupt):
            palace.index(embedder="hashing")
    return seen


def test_words_answer_before_any_vector_is_made(notes, stepping, monkeypatch):
    stop(notes, monkeypatch, 0)
    found = Palace(notes.paths.root).query("the 7th lantern")
    assert (found.mode, found.hits[0].path, found.awaiting) == ("lexical", "n7.md", COUNT)


def test_what_was_embedded_counts_at_once_and_the_next_build_goes_on(notes, stepping, monkeypatch):
    seen = stop(notes, monkeypatch, 15)
    again = Palace(notes.paths.root)
    found = again.query("the 7th lantern")
    assert (found.mode, found.hits[0].path, found.awaiting) == (
        "vector",
        "n7.md",
        COUNT - len(seen),
    )
    assert again.doctor().findings == ()
    assert again.index(dry_run=True).embedded == 0
    report = again.index()
    assert report.embedded == COUNT - len(seen)
    assert again.query("the 7th lantern").awaiting == 0
    assert again.doctor().findings == ()
    assert not list(notes.paths.index.glob("vec-*"))


def test_an_index_in_steps_is_the_one_that_is_made_at_once(notes, monkeypatch, stepping):
    notes.index(embedder="hashing")
    (in_steps,) = read_commit(notes.paths.commit).segments
    monkeypatch.setattr(rows, "AT_ONCE", 1000)
    notes.index(embedder="hashing", force=True)
    assert read_commit(notes.paths.commit).segments == (in_steps,)


def test_the_newest_notes_come_first_and_huge_ones_last(notes, stepping, monkeypatch):
    monkeypatch.setattr(build, "_HUGE_ROWS", 3)
    huge = "\n\n".join(f"## Part {n}\n\n{f'The great lantern {n}. ' * 60}" for n in range(9))
    (notes.paths.root / "huge.md").write_text(huge)
    seen = stop_after(monkeypatch, 1000)
    notes.index(embedder="hashing")
    great = ["great" in text for text in seen]
    assert "27th" in seen[0] and sum(great) >= 9 and great == sorted(great)


def test_what_changed_while_a_build_was_stopped_is_indexed_and_no_vector_is_lost(
    notes, stepping, monkeypatch
):
    seen = stop(notes, monkeypatch, 15)
    root = notes.paths.root
    (root / "n3.md").write_text("# Heron\n\nA heron stands in the reeds.\n")
    (root / "n4.md").unlink()
    again = Palace(root)
    report = again.index()
    kept = COUNT - len(seen) - report.embedded
    assert abs(kept) <= 2  # whichever of both had a vector before
    assert again.query("heron").hits[0].path == "n3.md"
    assert again.doctor().findings == ()
    assert again.index().embedded == 0
    (root / "n4.md").write_text("# Lantern 4\n\nThe 4th lantern is of brass.\n")
    assert again.index().embedded == 1  # deleted before it had a vector
    assert again.doctor().findings == ()


def test_a_damaged_file_of_vectors_is_made_again(notes, stepping, monkeypatch):
    stop(notes, monkeypatch, 15)
    for path in notes.paths.index.glob("vec-*"):
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 255  # a vector; the file can still be opened
        path.write_bytes(data)
    again = Palace(notes.paths.root)
    assert again.query("the 7th lantern").hits[0].path == "n7.md"
    assert "index file" in {finding.what for finding in again.doctor().findings}
    assert again.index().embedded == COUNT
    assert again.doctor().findings == ()


def test_an_index_with_vectors_answers_until_another_model_has_made_all(
    notes, stepping, monkeypatch
):
    notes.index(embedder="hashing")
    before = read_commit(notes.paths.commit)
    with monkeypatch.context() as patch:
        seen = stop_after(patch, 20)
        with pytest.raises(KeyboardInterrupt):
            notes.index(embedder="hashing", force=True)
    assert read_commit(notes.paths.commit) == before and seen
    assert Palace(notes.paths.root).index().embedded == 0


def test_a_segment_that_is_merged_once_its_vectors_are_made_is_whole(notes, stepping, monkeypatch):
    notes.index(embedder="hashing")
    monkeypatch.setattr(writing, "PILE", 2)
    for number in range(COUNT):
        (notes.paths.root / f"m{number}.md").write_text(f"# Mast {number}\n\nOf {number} metres.\n")
    notes.index()
    assert len(notes.snapshot().segments) == 1 and len(notes.snapshot().paths) == 2 * COUNT


def test_a_question_says_how_far_the_vectors_are(notes, stepping, monkeypatch, capsys):
    stop(notes, monkeypatch, 0)
    _, _, told = run_main(capsys, "-C", str(notes.paths.root), "query", "the 7th lantern")
    assert "0 of 40 passages" in told and "`palace index`" in told
    seen = stop(notes, monkeypatch, 15)
    _, out, told = run_main(
        capsys, "-C", str(notes.paths.root), "query", "the 7th lantern", "--json"
    )
    assert f"{len(seen)} of 40 passages" in told and f'"awaiting":{COUNT - len(seen)}' in out


def test_notes_without_vectors_are_neither_lost_nor_favoured(notes, monkeypatch):
    """Of equal words those with vectors and those without stand in the order of the words."""
    monkeypatch.setattr(rows, "AT_ONCE", 0)
    stop(notes, monkeypatch, 15)
    snapshot = Palace(notes.paths.root).snapshot()
    assert snapshot.lacking is not None
    assert 0 < np.count_nonzero(snapshot.lacking) < COUNT
    for number in range(COUNT):
        hits = Palace(notes.paths.root).query(f"the {number}th lantern", limit=3).hits
        assert hits[0].path == f"n{number}.md"


def test_whoever_adds_a_note_does_not_wait_for_vectors_that_were_left_over(
    notes, stepping, monkeypatch
):
    seen = stop(notes, monkeypatch, 15)
    (notes.paths.root / "late.md").write_text("# Bittern\n\nThe bittern came late.\n")
    again = Palace(notes.paths.root)
    assert again.index(takes_up=False).embedded == 1
    found = again.query("bittern")
    assert (found.hits[0].path, found.awaiting) == ("late.md", COUNT - len(seen))
    assert again.doctor().findings == ()
    assert again.index().embedded == COUNT - len(seen)
    assert again.doctor().findings == ()


def test_a_full_disk_keeps_every_published_step(notes, stepping, monkeypatch, capsys):
    write, written = build.write_vectors, []

    def fill(folder, *what):
        if len(written) == 2:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(folder / "vec"))
        written.append(write(folder, *what))
        return written[-1]

    root = str(notes.paths.root)
    with monkeypatch.context() as patch:
        patch.setattr(build, "write_vectors", fill)
        status, _, told = run_main(capsys, "-C", root, "index", "--embedder", "hashing")
    assert status == 1 and "free some space" in told
    found = Palace(notes.paths.root).query("the 7th lantern")
    assert (found.mode, found.hits[0].path) == ("vector", "n7.md")
    assert 0 < found.awaiting < COUNT
    assert Palace(notes.paths.root).index().embedded == found.awaiting


def test_an_index_that_lacks_vectors_is_pushed_to_no_store(notes, stepping, monkeypatch):
    pytest.importorskip("psycopg", reason="needs the extra [postgres]")
    from memory_palace.features.store.rows import IndexFiles

    stop(notes, monkeypatch, 0)
    with pytest.raises(IndexMissingError, match="40 passages have no vectors yet"):
        IndexFiles(notes.paths).read_commit()


WORKER = f"""{DYING}
from memory_palace.index import build, rows, writing
from memory_palace.palace import Palace
rows.AT_ONCE, build.STEP_SECONDS, rows._SLICE = 0, 0, 4
how = getattr(signal, sys.argv[3])
die_at(int(sys.argv[2]), "open", "fsync", "replace", "unlink", by=how)
Palace(sys.argv[1]).index(embedder="hashing")
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_whenever_it_ends_the_next_question_answers_from_what_was_published(notes, how):
    rng, awaiting = random.Random(7), []
    for _ in range(10):
        for path in notes.paths.index.glob("*"):
            path.unlink()
        calls = str(rng.randrange(30, 160))
        Forked(run_code, WORKER, str(notes.paths.root), calls, how.name).wait()
        again = Palace(notes.paths.root)
        if notes.paths.commit.exists():
            found = again.query("the 7th lantern")
            assert found.hits[0].path == "n7.md"
            awaiting.append(found.awaiting)
        again.index(embedder="hashing")
        assert again.doctor().findings == ()
    assert len(set(awaiting)) > 3
