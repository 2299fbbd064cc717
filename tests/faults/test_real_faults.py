"""The same faults from the system itself: a child without root's powers, small file systems."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from serving_palaces import warm


def palace(root, *line, prefix=(), **options):
    command = [*prefix, sys.executable, "-m", "memory_palace", *line]
    environ = {"PATH": os.environ["PATH"], "HOME": str(root), "PYTHONPATH": str(Path.cwd())}
    return subprocess.run(
        command, cwd=root, env=environ, capture_output=True, text=True, check=False, **options
    )


def set_up(root, *lines):
    for line in ("init .", "new Frost", *lines, "index --embedder hashing"):
        status, _, errors = warm(root, *line.split())
        assert status == 0, errors


@pytest.fixture
def bound(tmp_path):
    """Run a command as one whom permissions bind, on notes of which two cannot be read."""
    prefix = () if os.geteuid() else ("setpriv", "--inh-caps=-all", "--bounding-set=-all")
    if prefix and not shutil.which("setpriv"):
        pytest.skip("root may read everything, and there is no setpriv")
    set_up(tmp_path, "new Snow --room chambers/deep", "new Hail")
    (tmp_path / "palace/project_rooms/Frost.md").chmod(0)
    (tmp_path / "palace/chambers/deep").chmod(0)
    probe = ["cat", str(tmp_path / "palace/project_rooms/Frost.md")]
    if subprocess.run([*prefix, *probe], capture_output=True, check=False).returncode == 0:
        pytest.skip("permissions bind nobody here")
    yield lambda *line: palace(tmp_path, *line, prefix=prefix)
    (tmp_path / "palace/chambers/deep").chmod(0o755)


def test_one_unreadable_note_and_folder_are_named_and_the_rest_goes_on(bound):
    indexed = bound("index")
    assert indexed.returncode == 7
    for said in (indexed, bound("status"), bound("doctor")):
        text = said.stdout + said.stderr
        assert "palace/project_rooms/Frost.md" in text and "palace/chambers/deep" in text
        assert "Traceback" not in text
    for line in (("query", "hail"), ("task", "list"), ("metabolism", "cold"), ("graph", "orphans")):
        done = bound(*line)
        assert done.returncode == 0 and "Traceback" not in done.stderr, line
    assert "Hail.md" in bound("query", "hail", "--format", "paths").stdout
    assert "palace/chambers/deep" in bound("query", "hail").stderr
    assert bound("show", "Hail").returncode == 0


def test_an_unreadable_index_is_one_line(bound, tmp_path):
    (tmp_path / "palace/.index").chmod(0)
    try:
        for verb in ("index", "status", "doctor", "list"):
            done = bound(verb)
            assert done.returncode == 1 and done.stderr.count("\n") == 1, verb
            assert done.stderr.startswith("palace: palace/.index"), verb
    finally:
        (tmp_path / "palace/.index").chmod(0o777)


@pytest.fixture
def mounted(tmp_path):
    """A file system of 1 MB."""
    folder = tmp_path / "small"
    folder.mkdir()
    options = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)]
    if os.geteuid() or subprocess.run(options, capture_output=True, check=False).returncode:
        pytest.skip("this machine lets nobody mount a file system")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(folder):
    with (folder / "filler").open("wb", buffering=0) as filler:
        try:
            while filler.write(bytes(4096)):
                pass
        except OSError:
            pass


def test_a_full_disk_is_one_line_and_the_notes_stay(mounted):
    set_up(mounted)
    before = (mounted / "palace/project_rooms/Frost.md").read_bytes()
    fill(mounted)
    for line in (
        ("new", "Another"),
        ("index", "--force"),
        ("metabolism", "archive", "Frost", "--apply"),
    ):
        status, _, errors = warm(mounted, *line)
        assert status == 1 and errors.count("\n") == 1, (line, errors)
        assert "No space left" in errors and "free some space" in errors
    assert (mounted / "palace/project_rooms/Frost.md").read_bytes() == before
    assert "Frost" in warm(mounted, "list")[1]
    (mounted / "filler").unlink()
    assert warm(mounted, "new", "Another")[0] == 0


def test_a_read_only_file_system_can_be_asked_and_not_written(mounted):
    set_up(mounted)
    subprocess.run(["mount", "-o", "remount,ro", str(mounted)], check=True)
    assert "Frost" in warm(mounted, "query", "frost")[1]
    for line in (("new", "Another"), ("index", "--force")):
        status, _, errors = warm(mounted, *line)
        assert status == 1 and errors.count("\n") == 1, (line, errors)
        assert "Read-only file system" in errors
