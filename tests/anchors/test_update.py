"""Anchors follow the notes: writes, edits, renames, deletions, and builds that overlap them."""

import numpy as np
import pytest
from asking_anchors import reached

from memory_palace.errors import IndexDamagedError
from memory_palace.features.anchors import anchor_file
from memory_palace.features.anchors.anchors import build_file, commit_file
from memory_palace.index.commit import read_commit
from memory_palace.palace import Palace


def test_a_new_note_is_reachable_through_its_anchors_after_one_update(palace, write):
    write("chambers/wren/new.md", "# Snow\n\nMelt water filled the tipping bucket.\n")
    palace.index()
    assert "palace/chambers/wren/new.md" in reached(palace, "the tipping bucket")


def test_a_new_name_is_an_anchor_from_the_next_build_on(palace, write):
    write("chambers/wren/new.md", "# Visit\n\nThen **Quirin Zabel** came by.\n")
    palace.index()
    assert reached(palace, "what of Quirin Zabel") == set()
    palace.anchors.build()
    assert reached(palace, "what of Quirin Zabel") == {"palace/chambers/wren/new.md"}


def test_an_edited_note_has_none_of_its_old_passages(palace, write):
    """H13: all postings of a changed note are replaced."""
    write("project_rooms/radio/plan.md", "# Radio plan\n\n## Cable\n\nOnly a cable now.\n")
    palace.index()
    assert reached(palace, "antenna mast") == set()
    assert reached(palace, "radio plan") == {"palace/project_rooms/radio/plan.md"}


@pytest.mark.parametrize("to", ["reflection_wing/renamed.md", "archive_basement/review.md", None])
def test_a_note_is_found_under_its_new_path_and_a_cold_or_deleted_one_is_not(palace, to):
    old = palace.paths.notes / "reflection_wing/review.md"
    if to:
        (palace.paths.notes / to).parent.mkdir(exist_ok=True)
        old.rename(palace.paths.notes / to)
    else:
        old.unlink()
    palace.index()
    is_found = to is not None and to.startswith("reflection_wing")
    assert reached(palace, "referee reports") == ({f"palace/{to}"} if is_found else set())


def test_anchors_of_an_older_version_are_made_anew_and_never_misread(palace, write, monkeypatch):
    monkeypatch.setattr(anchor_file, "SCHEMA", anchor_file.SCHEMA - 1)
    palace.anchors.build()
    monkeypatch.undo()
    fresh = Palace(palace.paths.root)
    assert reached(fresh, "antenna mast") == set()
    assert fresh.query("antenna mast", profile="anchors").hits
    write("chambers/wren/new.md", "# Snow\n\nMelt water.\n")
    assert not fresh.index().problems
    assert "palace/project_rooms/radio/plan.md" in reached(fresh, "antenna mast")


def test_a_build_that_began_before_an_update_loses_nothing(palace, write):
    """H12: the nightly build computes for long; notes come meanwhile."""
    work = palace.anchors.work()
    file = build_file(work, palace.snapshot())
    write("chambers/wren/new.md", "# Snow\n\nMelt water filled the tipping bucket.\n")
    palace.index()
    commit_file(palace, work, file, wait_seconds=0)
    assert "palace/chambers/wren/new.md" in reached(palace, "the tipping bucket")


def test_the_commit_record_names_the_files_and_nothing_else_stays(palace):
    """H20: there is one commit, so that no reader sees parts of two builds."""
    for _ in range(3):
        palace.anchors.build()
    commit = read_commit(palace.paths.commit)
    files = {path.stem for path in palace.paths.index.glob("anchors-*")}
    assert set(commit.anchors) <= files <= commit.names()


def test_an_unchanged_palace_gives_the_same_lists(palace):
    """H19: nothing compounds from night to night."""
    first = palace.anchors.book().file
    palace.anchors.build()
    again = palace.anchors.book().file
    assert np.array_equal(first.scores, again.scores)
    assert first.anchors == again.anchors


def test_a_damaged_file_stops_no_update(palace, write):
    name = read_commit(palace.paths.commit).anchors[0]
    path = palace.paths.index / f"{name}.npz"
    path.write_bytes(path.read_bytes()[:-100] + bytes(100))
    write("chambers/wren/new.md", "# Snow\n\nMelt water.\n")
    [problem] = palace.index().problems
    assert path.name in str(problem) and "palace graph anchors build" in str(problem)
    assert read_commit(palace.paths.commit).anchors == ()
    palace.anchors.build()
    assert reached(palace, "antenna mast")


@pytest.mark.parametrize("damage", ["flip", "truncate", "delete"])
def test_a_damaged_file_is_named_by_everyone_and_left_out_by_doctor(palace, damage):
    path = palace.paths.index / f"{read_commit(palace.paths.commit).anchors[0]}.npz"
    data = bytearray(path.read_bytes())
    if damage == "delete":
        path.unlink()
    elif damage == "truncate":
        path.write_bytes(data[:100])
    else:
        data[len(data) // 2] ^= 1
        path.write_bytes(data)
    fresh = Palace(palace.paths.root)
    with pytest.raises(IndexDamagedError, match=rf"{path.name}.*palace graph anchors build"):
        fresh.query("antenna mast", profile="anchors")
    assert fresh.query("antenna mast").hits
    [finding] = fresh.doctor().findings
    assert path.name in finding.message
    assert [f.message for f in fresh.doctor(fix=True).fixed] == [finding.message]
    assert fresh.doctor().findings == ()
    fresh.anchors.build()
    assert reached(fresh, "antenna mast")


def test_compaction_and_a_forced_build_keep_the_anchors(palace, write):
    for number in range(10):
        write(f"chambers/wren/n{number}.md", f"# Day {number}\n\nNothing much, {number}.\n")
        palace.index()
    palace.index(force=True)
    assert "palace/project_rooms/radio/plan.md" in reached(palace, "antenna mast")
