"""Files of the index that are not what they were, and what ended commands leave beside notes."""

import os
import shutil
from itertools import combinations

import pytest

from memory_palace.cli.app import main
from memory_palace.errors import IndexDamagedError
from memory_palace.index import writing
from memory_palace.index.commit import read_commit
from memory_palace.palace import Palace
from memory_palace.storage import is_abandoned

ENDED = 2**22 + 1
"""A process number that no system gives."""


@pytest.fixture
def grown(indexed):
    """A palace of several segments, with anchors."""
    for title in ("Quince", "Plum"):
        indexed.new(title, room="chambers")
        indexed.index()
    indexed.anchors.build()
    return indexed


def exchange(one, other):
    first, second = one.read_bytes(), other.read_bytes()
    one.write_bytes(second)
    other.write_bytes(first)


def test_exchanged_files_are_named_as_damage_and_mended(grown):
    folder = grown.paths.index
    names = sorted(f"{ref.name}.npz" for ref in read_commit(grown.paths.commit).segments)
    names.append(next(folder.glob("anchors-*.npz")).name)
    whole = shutil.copytree(folder, grown.paths.root / "whole")
    for one, other in combinations(names, 2):
        shutil.rmtree(folder)
        shutil.copytree(whole, folder)
        exchange(folder / one, folder / other)
        with pytest.raises(IndexDamagedError, match=r"seg-.*palace index --verify"):
            Palace(grown.paths.root).query("oven", include_cold=True)
        assert any(one in f.where for f in Palace(grown.paths.root).doctor().findings)
        assert Palace(grown.paths.root).doctor(fix=True).findings == ()


def test_a_file_of_another_kind_in_place_of_a_segment_is_named(grown, monkeypatch):
    monkeypatch.setattr("memory_palace.index.segment.checksum", lambda path: 0)
    anchors = next(grown.paths.index.glob("anchors-*.npz"))
    for path in grown.paths.index.glob("seg-*.npz"):
        data = anchors.read_bytes()
        path.write_bytes(data.ljust(path.stat().st_size, b"\0")[: path.stat().st_size])
    with pytest.raises(IndexDamagedError):
        Palace(grown.paths.root).query("oven")


def test_a_foreign_file_named_like_a_leftover_is_passed_over(grown):
    anchors = next(grown.paths.index.glob("anchors-*.npz"))
    anchors.with_name(f"seg-{anchors.stem.rpartition('-')[2]}.npz").write_bytes(
        anchors.read_bytes()
    )
    (grown.paths.notes / "chambers" / "Medlar.md").write_text("Medlars are bletted.\n")
    assert Palace(grown.paths.root).index().embedded == 1


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b"\xff\xfe"])
def test_a_damaged_commit_record_is_a_finding_with_its_file(grown, damage):
    grown.paths.settings.write_text("embedder: hashing\n")  # no record names it
    grown.paths.commit.write_bytes(damage)
    (found,) = Palace(grown.paths.root).doctor().findings
    assert found.where.endswith(".index/INDEX.json") and "is damaged" in found.message
    assert "mended" not in found.message
    mended = Palace(grown.paths.root).doctor(fix=True)
    assert mended.findings == () and mended.fixed == (found,)


def test_what_a_killed_writer_left_beside_the_notes_is_swept(indexed):
    room = indexed.paths.notes / "chambers"
    swept = room / f".Title.md.{ENDED}.0123abcd.tmp"
    kept = [
        room / f".Title.md.{os.getpid()}.0123abcd.tmp",
        room / ".mine.tmp",
        room / ".syncthing.2026.markdown.tmp",  # Syncthing's, of 2026.markdown
        room / f"Title.md.{ENDED}.0123abcd.tmp",
        room / f".Title.md.{ENDED}.tmp",
    ]
    for path in (swept, *kept):
        path.write_text("half")
    assert [f.what for f in indexed.doctor().findings] == ["leftover"]
    indexed.index()
    assert not swept.exists() and all(path.exists() for path in kept)


@pytest.mark.parametrize("name", ["", ".", ".tmp", "...", f".a.{'9' * 40}.0123abcd.tmp", ".\udcff"])
def test_any_name_may_be_asked_about(name):
    assert is_abandoned(name) in (True, False)


def test_a_renamed_folder_leaves_no_file_and_no_line_behind(palace, monkeypatch):
    for module in ("writing", "rows"):
        monkeypatch.setattr(f"memory_palace.index.{module}.LARGE_ROWS", 32)
    assert writing.LARGE_ROWS == 32
    room = palace.paths.notes / "chambers" / "many"
    room.mkdir()
    for number in range(100):
        (room / f"{number}.md").write_text(f"# Note {number}\n\nText of note {number}.\n")
    palace.index(embedder="hashing")
    manifest = palace.paths.manifest
    own = b'{"path": "palace/chambers/many/0.md"}\n'
    mine = b'{"path": "palace/chambers/many/0.md", "priority": "high"}\n'
    manifest.write_bytes(manifest.read_bytes().replace(own, mine))
    before = manifest.read_bytes().count(b"\n")
    room.rename(room.with_name("more"))
    report = palace.index()
    assert (len(report.moved), report.embedded) == (100, 0)
    assert Palace(palace.paths.root).doctor().findings == ()
    text = manifest.read_bytes()
    assert text.count(b"\n") == before + 1 and mine in text
    assert text.count(b"many/") == 1 and text.count(b"more/") == 100


def test_doctor_says_that_the_vectors_are_a_sample(palace, capsys):
    room = palace.paths.notes / "chambers"
    for number in range(30):
        (room / f"{number}.md").write_text(f"# Note {number}\n\nText of note {number}.\n")
    palace.index(embedder="hashing")
    main(["-C", str(palace.paths.root), "doctor"])
    assert "34 chunks, a sample of 20 vectors, " in capsys.readouterr().out


def test_doctor_offers_to_mend_only_what_it_can(palace, capsys):
    palace.index(embedder="hashing")
    with palace.paths.manifest.open("a") as manifest:
        manifest.write("{\n")
    with pytest.raises(SystemExit) as ended:
        main(["-C", str(palace.paths.root), "doctor"])
    assert ended.value.code == 8
    out, err = capsys.readouterr()
    assert err == "palace: 1 thing does not match\n" and out.count("is not valid JSON") == 1


def test_a_zeroed_segment_is_mended_by_the_next_index(indexed):
    for lines in indexed.paths.index.glob("seg-*.jsonl"):
        lines.write_bytes(bytes(lines.stat().st_size))
    (indexed.paths.notes / "grand_hall" / "map.md").touch()
    indexed.index()
    assert indexed.doctor().findings == ()
