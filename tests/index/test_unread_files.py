"""Files that never end, folders that cannot be read, and notes that change while they are read."""

import errno
import os
import signal
from functools import partial

import pytest

from memory_palace.changes.journal import undo
from memory_palace.errors import ConfigError, PalaceError
from memory_palace.notes.golden import read_golden
from memory_palace.palace import Palace
from memory_palace.places import HOOK_LOG, HOOK_MARKS


@pytest.fixture
def folder(tmp_path):
    for name in ("top", "far/heron", "far/deep/ibis", ".obsidian/x"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / f"{name}.md").write_text(f"The {name.rpartition('/')[2]} wades.\n")
    Palace.init(tmp_path, here=True).index(embedder="hashing")
    signal.alarm(60)  # ends a run that waits for a writer
    yield tmp_path
    signal.alarm(0)


READERS = {
    ".palaceignore": Palace.index,
    ".palace/palace.yaml": lambda palace: Palace(palace.paths.root),
    ".palace/watchdog_manifest_v1.jsonl": Palace.index,
    ".palace/golden_questions.md": lambda palace: read_golden(palace.paths),
    ".palace/.journal.json": Palace.index,
    ".palace/logs/moves.jsonl": lambda palace: undo(palace.paths, now="now"),
    ".palace/.index/INDEX.json": Palace.snapshot,
    ".palace/.index/lock": Palace.index,
    "export.json": lambda palace: palace.import_export(palace.paths.root / "export.json"),
    "far/heron.md": lambda palace: palace.append("heron", "More."),
}


@pytest.mark.parametrize("name", READERS)
def test_a_pipe_in_place_of_a_file_is_named_and_waits_for_nobody(folder, name):
    palace, file = Palace(folder), folder / name
    file.parent.mkdir(exist_ok=True)
    file.unlink(missing_ok=True)
    os.mkfifo(file)
    with pytest.raises((PalaceError, OSError), match=file.name):
        READERS[name](palace)


def test_what_is_no_file_is_no_note_and_not_behind(folder):
    (folder / ".palace/palace.yaml").write_text("rooms: {far: conflict_room}\n")
    for name in ("top.md", "far/heron.md", ".obsidian/templates.json"):
        (folder / name).unlink(missing_ok=True)
        os.mkfifo(folder / name)
    (folder / "link.md").symlink_to("top.md")
    report = (palace := Palace(folder)).index()
    assert report.failed == ("far/heron.md", "link.md", "top.md")
    assert report.removed == ("far/heron.md", "top.md")
    assert palace.query("ibis").freshness == "current"
    assert {finding.message for finding in palace.doctor().findings} == {"is not a regular file"}


@pytest.fixture
def closed(monkeypatch):
    """Names of folders that cannot be listed, with the error of each."""
    errors, real = {}, os.scandir

    def scandir(path):
        if number := errors.get(str(path).rpartition("/")[2]):
            raise OSError(number, os.strerror(number))
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    return errors


def test_the_notes_of_a_folder_that_cannot_be_read_stay_until_it_is_gone(folder, closed):
    palace = Palace(folder)
    closed["far"] = errno.EACCES
    report = palace.index(verify=True)
    assert (report.failed, report.removed) == (("far",), ())
    answer = palace.query("ibis")
    assert (answer.hits[0].path, answer.freshness) == ("far/deep/ibis.md", "current")
    assert [finding.where for finding in palace.doctor(fix=True).findings] == ["far"]
    closed["far"] = errno.ENOTDIR  # has become a file
    assert palace.index().removed == ("far/deep/ibis.md", "far/heron.md")


def test_a_top_folder_that_cannot_be_read_changes_no_index(folder, closed):
    palace = Palace(folder)
    closed[folder.name] = errno.EACCES
    with pytest.raises(ConfigError, match=f"{folder} cannot be read: Permission denied"):
        palace.index()
    assert palace.query("ibis").freshness == "unchecked" and len(palace.snapshot().paths) == 3


@pytest.mark.parametrize(("moment", "is_swapped"), [("open", True), ("fstat", False)])
def test_a_note_that_changes_meanwhile_is_read_again(folder, monkeypatch, moment, is_swapped):
    file, palace, seen = folder / "top.md", Palace(folder), []
    file.write_text("The wombat digs.\n")

    def step(call, real, given, *rest, **options):
        done = real(given, *rest, **options)
        if given == file or seen:
            seen.append(call)
        if seen[-1:] == [moment] and seen.count(moment) == 1:
            target = folder / "other" if is_swapped else file
            target.write_text("The quokka digs.\n")  # as long
            target.replace(file)
        return done

    for call in ("open", "fstat"):
        monkeypatch.setattr(os, call, partial(step, call, getattr(os, call)))
    palace.index()
    monkeypatch.undo()
    palace.index()
    assert palace.doctor().findings == () and palace.query("quokka").hits[0].path == "top.md"


def test_doctor_knows_the_files_of_hooks_and_takes_back_an_interrupted_change(folder):
    palace = Palace(folder)
    (palace.paths.index / HOOK_MARKS).mkdir()
    (palace.paths.index / HOOK_LOG).write_text("{}\n")
    assert palace.doctor().findings == ()
    palace.paths.journal.write_text('{"id": "x", "moves": [["top.md", "far/top.md"]]}')
    (folder / "top.md").rename(folder / "far/top.md")
    (found, *_) = palace.doctor().findings
    assert found.where == ".palace/.journal.json" and "palace doctor --fix" in found.message
    mended = palace.doctor(fix=True)
    assert mended.findings == () and found in mended.fixed and (folder / "top.md").exists()
