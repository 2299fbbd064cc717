"""The places of notes are kept beside the index, and nothing depends on that."""

import shutil

import pytest
from writing_notes import index_notes, write_notes

from memory_palace.features.view import layout
from memory_palace.features.view.gather import gather
from memory_palace.features.view.layout import read_layout
from memory_palace.palace import Palace
from memory_palace.storage import writer_lock


@pytest.fixture
def palace(tmp_path):
    notes = {
        f"{'AB'[number % 4 == 0]}/{number:02}.md": f"Note {number}, of the number {number % 7}.\n"
        for number in range(40)
    }
    return index_notes(tmp_path, notes)


def layout_of(palace):
    return palace.paths.view.with_suffix(".json")


def places(plan):
    return {note.path: note.box for note in plan.notes}


def add(palace, path, text="Another note about the number 3.\n"):
    write_notes(palace.paths.root, {path: text})
    palace.index()


def test_notes_that_come_and_go_move_no_other(palace):
    before = places(gather(palace))
    add(palace, "A/zz.md")
    add(palace, "C/new room.md")
    (palace.paths.root / "A" / "01.md").unlink()
    palace.index()
    after = places(gather(palace))
    shared = before.keys() & after.keys()
    assert len(shared) == 39
    assert all(after[path] == before[path] for path in shared)
    assert "A/01.md" not in after


def test_laying_out_anew_forgets_the_places(palace):
    gather(palace)
    for number in range(30):
        add(palace, f"B/more {number}.md", f"More about {number}.\n")
    grown = gather(palace)
    anew = gather(palace, new_plan=True)
    assert places(anew) != places(grown)
    assert places(gather(palace)) == places(anew)


def test_every_changed_byte_is_noticed(palace):
    gather(palace)
    data = layout_of(palace).read_bytes()
    whole = read_layout(layout_of(palace))
    for place in range(0, len(data), 37):
        layout_of(palace).write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
        said = []
        assert read_layout(layout_of(palace), said.append) == whole or said


def test_nothing_of_a_private_note_is_kept(palace):
    add(palace, "A/Secret plan.md", "---\nprivate: true\n---\nHush.\n")
    gather(palace)
    assert "Secret" not in layout_of(palace).read_text("utf-8")


def test_a_layout_that_another_keeps_writing_is_not_waited_for_without_end(palace, monkeypatch):
    monkeypatch.setattr(layout, "_WAIT_SECONDS", 0.0)
    said = []
    with writer_lock(palace.paths.view.with_suffix(".lock")):
        plan = gather(palace, remark=said.append)
    assert len(plan.notes) == 40
    assert len(said) == 1


def test_a_build_of_the_index_and_a_plan_do_not_wait_for_each_other(palace):
    with palace.writing():
        assert len(gather(palace, remark=pytest.fail).notes) == 40
    assert layout_of(palace).exists()


def test_notes_placed_by_another_meanwhile_stay_there(palace, monkeypatch):
    gather(palace)
    add(palace, "A/zz.md")
    other = shutil.copytree(palace.paths.root, palace.paths.root.parent / "other")
    theirs = gather(Palace(other))
    read, calls = layout.read_layout, []

    def read_late(path, *remark):
        calls.append(path)
        found = read(path, *remark)
        if len(calls) == 1:  # right after this look another has written
            shutil.copy(layout_of(Palace(other)), path)
        return found

    monkeypatch.setattr(layout, "read_layout", read_late)
    add(palace, "A/aa.md")
    mine = gather(palace)
    assert places(mine)["A/zz.md"] == places(theirs)["A/zz.md"]
    assert len(calls) == 2


def test_the_examination_of_the_index_expects_these_files(palace):
    palace.view()
    assert palace.doctor().findings == ()
    names = {path.name for path in palace.paths.index.iterdir()}
    assert {"view.html", "view.json", "view.lock"} <= names
