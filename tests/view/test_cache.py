"""The places of notes are kept beside the index, and nothing depends on that."""

from __future__ import annotations

import json
import shutil

import pytest

from memory_palace.features.view import housing
from memory_palace.features.view.cache import LayoutDamagedError, read_layout
from memory_palace.features.view.gather import gather
from memory_palace.features.view.values import ViewOptions
from memory_palace.palace import Palace
from memory_palace.storage.lock import writer_lock

WHOLE = ViewOptions()


@pytest.fixture
def palace(tmp_path):
    for number in range(40):
        file = tmp_path / f"{'AB'[number % 4 == 0]}" / f"{number:02}.md"
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"Note {number} is about the number {number % 7}.\n", "utf-8")
    palace = Palace.init(tmp_path, here=True)
    palace.index(embedder="hashing")
    return palace


def layout_of(palace):
    return palace.paths.view.with_suffix(".json")


def places(plan):
    return {note.path: note.box for note in plan.notes}


def add(palace, path, text="Another note about the number 3.\n"):
    file = palace.paths.root / path
    file.parent.mkdir(exist_ok=True)
    file.write_text(text, "utf-8")
    palace.index()


def test_notes_that_come_go_and_are_renamed_move_no_other(palace):
    before = places(gather(palace, WHOLE))
    add(palace, "A/zz.md")
    add(palace, "C/new room.md")
    (palace.paths.root / "A" / "01.md").unlink()
    (palace.paths.root / "A" / "02.md").rename(palace.paths.root / "A" / "two.md")
    palace.index()
    after = places(gather(palace, WHOLE))
    assert after["A/two.md"] == before["A/02.md"]
    shared = before.keys() & after.keys()
    assert len(shared) == 38
    assert all(after[path] == before[path] for path in shared)
    assert "A/01.md" not in after


def test_laying_out_anew_forgets_the_places(palace):
    gather(palace, WHOLE)
    for number in range(30):
        add(palace, f"B/more {number}.md", f"More about {number}.\n")
    grown = gather(palace, WHOLE)
    anew = gather(palace, ViewOptions(relayout=True))
    assert places(anew) != places(grown)
    assert places(gather(palace, WHOLE)) == places(anew)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "is damaged"),
        (b"{", "is damaged"),
        (b"[]", "is damaged"),
        (b"\xff\xfe", "is damaged"),
        (b"[" * 100_000, "is damaged"),
        (b'{"format":1,"check":"00","layout":{}}', "does not match its own digest"),
        (b'{"format":99}', "has a format that this version does not read"),
    ],
)
def test_a_damaged_layout_is_made_anew_and_said(palace, data, why):
    first = gather(palace, WHOLE)
    layout_of(palace).write_bytes(data)
    said = []
    assert gather(palace, WHOLE, remark=said.append) == first
    assert len(said) == 1
    assert why in said[0]
    assert gather(palace, WHOLE, remark=pytest.fail) == first
    with pytest.raises(LayoutDamagedError):
        layout_of(palace).write_bytes(data)
        read_layout(layout_of(palace))


def test_every_changed_byte_is_noticed(palace):
    gather(palace, WHOLE)
    data = layout_of(palace).read_bytes()
    whole = read_layout(layout_of(palace))
    for place in range(0, len(data), 37):
        layout_of(palace).write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
        try:
            assert read_layout(layout_of(palace)) == whole
        except LayoutDamagedError:
            continue


def test_nothing_of_a_private_note_is_kept(palace):
    add(palace, "A/Secret plan.md", "---\nprivate: true\n---\nHush.\n")
    gather(palace, WHOLE)
    assert "Secret" not in layout_of(palace).read_text("utf-8")


def test_a_palace_that_may_only_be_read_is_drawn(palace, monkeypatch):
    first = gather(palace, WHOLE)
    layout_of(palace).unlink()

    def refuse(*args, **kwargs):
        raise PermissionError(13, "Permission denied", str(palace.paths.index))

    monkeypatch.setattr(housing, "write_layout", refuse)
    said = []
    assert gather(palace, WHOLE, remark=said.append) == first
    assert len(said) == 1
    assert "Permission denied" in said[0]
    assert not layout_of(palace).exists()


def test_a_layout_that_another_keeps_writing_is_not_waited_for_without_end(palace, monkeypatch):
    monkeypatch.setattr(housing, "_WAIT_SECONDS", 0.0)
    said = []
    with writer_lock(palace.paths.view.with_suffix(".lock")):
        plan = gather(palace, WHOLE, remark=said.append)
    assert len(plan.notes) == 40
    assert len(said) == 1


def test_a_build_of_the_index_and_a_plan_do_not_wait_for_each_other(palace):
    with palace.writing():
        assert len(gather(palace, WHOLE, remark=pytest.fail).notes) == 40
    assert layout_of(palace).exists()


def test_a_build_that_sweeps_the_temporary_away_costs_nothing(palace, monkeypatch):
    from memory_palace.features.view import cache

    calls, write = [], cache.write_atomic

    def swept_once(path, data):
        calls.append(path)
        if len(calls) == 1:
            raise FileNotFoundError(2, "No such file or directory", str(path))
        write(path, data)

    monkeypatch.setattr(cache, "write_atomic", swept_once)
    gather(palace, WHOLE, remark=pytest.fail)
    assert len(calls) == 2


def test_notes_placed_by_another_meanwhile_stay_there(palace, monkeypatch):
    gather(palace, WHOLE)
    add(palace, "A/zz.md")
    other = shutil.copytree(palace.paths.root, palace.paths.root.parent / "other")
    theirs = gather(Palace(other), WHOLE)
    read, calls = housing.read_layout, []

    def read_late(path):
        calls.append(path)
        found = read(path)
        if len(calls) == 1:  # right after this look another has written
            shutil.copy(layout_of(Palace(other)), path)
        return found

    monkeypatch.setattr(housing, "read_layout", read_late)
    add(palace, "A/aa.md")
    mine = gather(palace, WHOLE)
    assert places(mine)["A/zz.md"] == places(theirs)["A/zz.md"]
    assert len(calls) == 2


def test_the_examination_of_the_index_expects_these_files(palace):
    palace.view()
    assert palace.doctor().findings == ()
    assert json.loads(layout_of(palace).read_bytes())["format"] == 1
    names = {path.name for path in palace.paths.index.iterdir()}
    assert {"view.html", "view.json", "view.lock"} <= names
