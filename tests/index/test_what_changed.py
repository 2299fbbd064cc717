"""How an index learns what changed, from stat figures that a test chooses."""

from __future__ import annotations

import pytest

from memory_palace.index.diff import MARGIN_NS, KnownNote, diff_notes
from memory_palace.models import FileStat
from memory_palace.notes.discovery import SourceFile

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


def test_a_note_that_is_gone_counts_as_behind(indexed):
    assert indexed.query("sourdough").behind == 0
    (indexed.paths.notes / "grand_hall" / "map.md").unlink()
    found = indexed.query("sourdough", neighbors=0)
    assert (found.freshness, found.behind) == ("stale", 1)


def test_new_changed_and_gone_notes_are_each_counted_once(indexed):
    chambers = indexed.paths.notes / "chambers"
    (chambers / "new.md").write_text("new\n")
    (chambers / "baker" / "2026-02-03 flour.md").write_text("Rye flour keeps for a year.\n")
    (indexed.paths.notes / "grand_hall" / "map.md").unlink()
    assert indexed.query("sourdough", neighbors=0).behind == 3
