"""What is known of the notes without a look is what a look would find."""

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from writing_notes import index_notes, write_notes

from memory_palace import Palace
from memory_palace.index.snapshot import Freshness, check_freshness
from memory_palace.server import refreshing

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the kernel tells of no changes")


PEAR = "# A\n\nA pear.\n"


def write(root: Path, path: str, text: str = PEAR) -> None:
    write_notes(root, {path: text})


CHANGES: dict[str, Callable[[Path], object]] = {
    "a note is edited": lambda root: write(root, "low/a.md", "other"),
    "a note is added": lambda root: write(root, "low/c.md"),
    "a note goes": lambda root: (root / "b.md").unlink(),
    "a note is touched": lambda root: os.utime(root / "b.md", ns=(1, 1)),
    "a note is replaced": lambda root: (
        write(root, "t.txt"),
        (root / "t.txt").replace(root / "b.md"),
    ),
    "a folder is made, with a note": lambda root: write(root, "new/below/d.md"),
    "a folder is renamed": lambda root: (root / "low").rename(root / "high"),
    "a folder leaves": lambda root: shutil.rmtree(root / "low"),
    "a file says what is ignored": lambda root: write(root, ".palaceignore", "b.md\n"),
    "a folder becomes a link": lambda root: (
        (root / "low").rename(root / "high"),
        (root / "low").symlink_to(root / "high"),
    ),
}


@pytest.fixture
def palace(tmp_path: Path) -> Palace:
    return index_notes(tmp_path, dict.fromkeys(("low/a.md", "b.md"), PEAR))


class Looking:
    """Checks a palace, and counts how often its notes are looked at."""

    def __init__(self, palace: Palace, known: refreshing.KnownFreshness) -> None:
        self._palace, self._known = palace, known
        self.looks = 0

    def check(self) -> Freshness:
        return self._known.check(self._palace.paths, self._palace.config, self._palace.snapshot())

    def look(self, *args: object, **options: object) -> Freshness:
        self.looks += 1
        return check_freshness(*args, **options)  # type: ignore[arg-type]


@pytest.fixture
def looking(palace: Palace, monkeypatch: pytest.MonkeyPatch) -> Looking:
    known = refreshing.KnownFreshness()
    found = Looking(palace, known)
    monkeypatch.setattr(refreshing, "check_freshness", found.look)
    return found


def test_notes_that_nothing_happened_to_are_looked_at_twice(looking: Looking) -> None:
    for _ in range(9):
        assert looking.check().state == "current"
    assert looking.looks == 2  # the first look finds the folders to watch


def test_now_and_then_they_are_looked_at_all_the_same(looking: Looking) -> None:
    for _ in range(60):
        looking.check()
    assert looking.looks == 3


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_is_seen_at_once(change: str, palace: Palace, looking: Looking) -> None:
    for _ in range(3):
        looking.check()
    CHANGES[change](palace.paths.root)
    assert looking.check() == check_freshness(palace.paths, palace.config, palace.snapshot())
    assert looking.check().state == "stale"
    write(palace.paths.root, "high/below/e.md")
    assert looking.check() == check_freshness(palace.paths, palace.config, palace.snapshot())


def test_another_generation_is_compared_anew(palace: Palace, looking: Looking) -> None:
    write(palace.paths.root, "c.md")
    for _ in range(3):
        assert looking.check().behind == 1
    Palace(palace.paths.root).index()
    assert looking.check().state == "current"
