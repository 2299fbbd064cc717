from __future__ import annotations

import json
import os

import numpy as np
import pytest

from memory_palace.errors import WrongEmbedderError
from memory_palace.index.diff import MARGIN_NS, KnownNote, diff_notes
from memory_palace.models import FileStat
from memory_palace.notes.discovery import SourceFile
from memory_palace.palace import Palace


def note(palace, name):
    return palace.paths.notes / name


def found(palace, text, **options):
    return [hit.path for hit in palace.query(text, neighbors=0, **options).hits]


def test_a_second_build_does_nothing(indexed):
    before = indexed.paths.commit.read_bytes()
    report = indexed.index()
    assert (report.unchanged, report.embedded, report.added) == (4, 0, ())
    assert json.loads(before)["commit"]["generation"] == indexed.snapshot().commit.generation


def test_an_edit_embeds_only_its_chunks(indexed):
    path = note(indexed, "grand_hall/map.md")
    path.write_text(path.read_text() + "\nA new line about quinces.\n")
    report = indexed.index()
    assert report.changed == ("palace/grand_hall/map.md",)
    assert report.embedded == 1
    assert found(indexed, "quinces")[0] == "palace/grand_hall/map.md"


def test_a_touched_note_is_not_a_changed_note_and_keeps_its_age(indexed):
    path = note(indexed, "grand_hall/map.md")
    before = {n.path: n.date for n in indexed.notes()}
    os.utime(path, (2_000_000_000, 2_000_000_000))
    report = indexed.index()
    assert (report.changed, report.embedded, report.unchanged) == ((), 0, 4)
    assert {n.path: n.date for n in indexed.notes()} == before


def test_a_rename_embeds_nothing_and_leaves_one_hit(indexed):
    old = note(indexed, "project_rooms/bread/Kitchen.md")
    old.rename(old.with_name("Bakery.md"))
    report = indexed.index()
    assert report.moved == (
        ("palace/project_rooms/bread/Kitchen.md", "palace/project_rooms/bread/Bakery.md"),
    )
    assert (report.embedded, report.added, report.removed) == (0, (), ())
    hits = found(indexed, "feed the sourdough starter", limit=9)
    assert hits[0].endswith("Bakery.md") and not any(h.endswith("Kitchen.md") for h in hits)


def test_a_copy_embeds_nothing_and_both_are_notes(indexed):
    old = note(indexed, "project_rooms/bread/Kitchen.md")
    old.with_name("Copy.md").write_bytes(old.read_bytes())
    report = indexed.index()
    assert report.embedded == 0 and len(report.added) == 1
    assert {"Kitchen.md", "Copy.md"} <= {n.path.rpartition("/")[2] for n in indexed.notes()}


def test_text_that_comes_back_keeps_its_vector(indexed):
    path = note(indexed, "grand_hall/map.md")
    original = path.read_bytes()
    path.write_text("Something else entirely.\n")
    assert indexed.index().embedded == 1
    path.write_bytes(original)
    assert indexed.index().embedded == 0


def test_a_dry_run_writes_nothing(palace):
    report = palace.index(embedder="hashing", dry_run=True)
    assert len(report.added) == 4 and report.is_dry_run
    assert {p.name for p in palace.paths.index.iterdir()} == {".gitignore", "lock"}
    assert not palace.paths.manifest.exists()


def test_moving_a_note_into_the_archive_takes_it_out_of_the_answer(indexed):
    target = note(indexed, "archive_basement/2026/Kitchen.md")
    target.parent.mkdir()
    note(indexed, "project_rooms/bread/Kitchen.md").rename(target)
    report = indexed.index()
    assert len(report.moved) == 1 and report.embedded == 0
    assert not any("Kitchen" in path for path in found(indexed, "sourdough starter", limit=9))
    assert "Kitchen" in found(indexed, "sourdough starter", include_cold=True)[0]


def members(palace):
    out = {}
    for path in palace.paths.index.glob("seg-*.npz"):
        with np.load(path) as archive:
            names = sorted(set(archive.files) - {"stat"})
            out[tuple(archive["paths"].tobytes().split(b"\0"))] = [
                (name, archive[name].tobytes()) for name in names
            ]
    return out


def test_two_forced_builds_differ_in_nothing_but_stat_records(indexed, tmp_path_factory):
    other = tmp_path_factory.mktemp("other")
    for path in sorted(indexed.paths.notes.rglob("*.md"), reverse=True):
        target = other / path.relative_to(indexed.paths.root)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(path.read_bytes())
    twin = Palace.init(other)
    twin.index(embedder="hashing", force=True)
    indexed.index(force=True)
    assert members(indexed) == members(twin)


def test_updates_in_any_order_rank_like_a_forced_build(indexed, piled):
    for number in range(30):
        path = note(indexed, f"chambers/baker/n{number % 7}.md")
        path.write_text(f"# Note {number}\n\nBread number {number} was {number * 7 % 5} sour.\n")
        if number % 4 == 3:
            note(indexed, f"chambers/baker/n{(number + 2) % 7}.md").unlink(missing_ok=True)
        indexed.index()
    grown = indexed.query("sour bread", limit=20, as_of=2e9)
    assert len(indexed.snapshot().commit.segments) < 12
    indexed.index(force=True)
    assert indexed.query("sour bread", limit=20, as_of=2e9).hits == grown.hits


def test_a_changed_manifest_line_changes_the_record_without_embedding(indexed):
    manifest = indexed.paths.manifest
    lines = manifest.read_text().splitlines()
    lines = [
        json.dumps({**json.loads(line), "type": "flour", "priority": "low"})
        if "flour" in line
        else line
        for line in lines
    ]
    manifest.write_text("\n".join(lines) + "\n")
    report = indexed.index()
    assert report.embedded == 0 and report.changed == ()
    (record,) = indexed.notes(type="flour")
    assert record.priority == "low"


def test_front_matter_beats_the_manifest(indexed):
    indexed.paths.manifest.write_text(
        '{"path": "palace/project_rooms/bread/Kitchen.md", "priority": "low"}\n'
    )
    indexed.index()
    (record,) = (n for n in indexed.notes() if n.path.endswith("Kitchen.md"))
    assert record.priority == "high"


def test_a_frozen_manifest_is_left_alone(palace):
    palace.paths.settings.write_text("manifest: frozen\n")
    Palace(palace.paths.root).index(embedder="hashing")
    assert not palace.paths.manifest.exists()


def test_peoples_manifest_bytes_survive(indexed):
    own = b'# mine\n\n{"path": "palace/grand_hall/map.md", "mood": "calm"}\r\nnot json\n'
    indexed.paths.manifest.write_bytes(own)
    report = indexed.index()
    assert indexed.paths.manifest.read_bytes().startswith(own)
    (problem,) = report.problems
    assert (problem.line, problem.is_failure) == (4, True)


def test_a_renamed_note_takes_the_fields_of_its_old_line(indexed):
    indexed.paths.manifest.write_text(
        '{"path": "palace/grand_hall/map.md", "priority": "high", "mood": "calm"}\n'
    )
    note(indexed, "grand_hall/map.md").rename(note(indexed, "grand_hall/atlas.md"))
    indexed.index()
    lines = [json.loads(line) for line in indexed.paths.manifest.read_text().splitlines()]
    assert lines[0]["path"] == "palace/grand_hall/map.md"
    assert {"path": "palace/grand_hall/atlas.md", "priority": "high", "mood": "calm"} in lines


def test_files_are_private(indexed):
    assert indexed.paths.index.stat().st_mode & 0o777 == 0o700
    assert {p.stat().st_mode & 0o777 for p in indexed.paths.index.iterdir()} == {0o600}


def test_no_note_is_ever_changed(palace):
    before = {p: (p.read_bytes(), p.stat().st_mtime_ns) for p in palace.paths.notes.rglob("*.md")}
    palace.index(embedder="hashing")
    palace.query("oven")
    palace.index(force=True)
    assert before == {p: (p.read_bytes(), p.stat().st_mtime_ns) for p in before}


def test_a_merge_that_gives_a_segment_that_was_there_before_keeps_its_notes(indexed):
    path = note(indexed, "grand_hall/guest.md")
    before = indexed.snapshot().paths
    for _ in range(10):
        path.write_text("A quince came to stay.\n")
        indexed.index()
        path.unlink()
        indexed.index()
        assert indexed.snapshot().paths == before
        assert found(indexed, "sourdough starter")


def test_passages_below_one_heading_all_show_it(palace):
    words = " ".join(f"The oven ran {n} degrees hot on that day." for n in range(120))
    note = palace.paths.notes / "grand_hall/oven.md"
    note.write_text(f"# Oven\n\n## Heat\n\n{words}\n\n## Repair\n\nIt was mended.\n")
    palace.index(embedder="hashing")
    snapshot = palace.snapshot()
    rows = [row for row, place in enumerate(snapshot.row_note) if "oven" in snapshot.paths[place]]
    shown = [snapshot.chunk(row).heading_path for row in rows]
    assert len(shown) > 2
    assert set(shown[:-1]) == {("Oven", "Heat")} and shown[-1] == ("Oven",)
    assert palace.doctor().findings == ()


@pytest.mark.parametrize("lexical", [False, True])
def test_an_index_that_keeps_other_facts_is_refused_and_made_again(indexed, monkeypatch, lexical):
    from memory_palace.index import commit

    monkeypatch.setattr(commit, "FACTS", "plain-99")
    fresh = Palace(indexed.paths.root)
    with pytest.raises(WrongEmbedderError, match="run `palace index`"):
        fresh.query("quinces", lexical=lexical)
    assert fresh.index().embedded == 0
    assert fresh.query("map", lexical=lexical)


def test_chance_is_known_from_the_first_note_on(tmp_path):
    palace = Palace.init(tmp_path)
    palace.new("Rain gauge drifts in frost")
    palace.index(embedder="hashing")
    assert 0 < palace.snapshot().commit.calibration["null_std"] < 0.3


# --- What changed, from stat figures that a test chooses -------------------------

SCANNED_NS = 1_700_000_000_000_000_000
STAT = FileStat(size=9, mtime_ns=SCANNED_NS, ctime_ns=SCANNED_NS, inode=7)
PATH = "palace/chambers/a.md"


def diff_one(stat, *, known=None, digest=b"new", **options):
    """Compare one file, whose bytes have ``digest``, with what the index knows of it."""
    note = KnownNote(PATH, False, 0, known or stat, b"old")
    options = {"scanned_ns": SCANNED_NS, **options}
    return diff_notes([SourceFile(PATH, stat, False)], [note], lambda file: digest, **options)


@pytest.mark.parametrize("late_ns", [-MARGIN_NS, -1, 0, 1])
def test_a_second_write_within_one_tick_of_the_clock_is_seen(late_ns):
    """The same figures are no proof where the file changed when the last scan began, or after."""
    diff = diff_one(STAT._replace(ctime_ns=SCANNED_NS + late_ns))
    assert [file.path for file, _ in diff.changed] == [PATH] and diff.hashed == 1


def test_a_file_that_was_still_before_the_last_scan_is_trusted_unread():
    diff = diff_one(STAT._replace(ctime_ns=SCANNED_NS - MARGIN_NS - 1))
    assert len(diff.unchanged) == 1 and diff.hashed == 0


def test_verify_trusts_no_figures():
    assert diff_one(STAT._replace(ctime_ns=0), verify=True).changed


@pytest.mark.parametrize("field", ["size", "mtime_ns", "ctime_ns", "inode"])
def test_any_figure_that_differs_is_looked_into(field):
    old = STAT._replace(ctime_ns=0)
    new = old._replace(**{field: 1})
    assert diff_one(new, known=old).changed
    assert diff_one(new, known=old, digest=b"old").touched


def test_new_changed_and_gone_notes_are_each_counted_once(indexed):
    assert indexed.query("sourdough").behind == 0
    chambers = indexed.paths.notes / "chambers"
    (chambers / "new.md").write_text("new\n")
    (chambers / "baker" / "2026-02-03 flour.md").write_text("Rye flour keeps for a year.\n")
    (indexed.paths.notes / "grand_hall" / "map.md").unlink()
    found = indexed.query("sourdough", neighbors=0)
    assert (found.freshness, found.behind) == ("stale", 3)
