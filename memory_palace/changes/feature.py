"""The log of changes and the cold zone, as attributes of ``Palace``."""

from __future__ import annotations

from memory_palace.changes import changing, cold_zone
from memory_palace.feature import Feature, Verb


class ColdZone(Feature):
    """The archive basement, where ordinary questions do not look."""

    check = Verb(cold_zone.find_leaks)
    fix = Verb(cold_zone.fix_leaks)
    archive = Verb(cold_zone.archive_note)
    restore = Verb(cold_zone.restore_note)
    undo = Verb(cold_zone.undo_last)


class Changes(Feature):
    """The log of everything that a command has changed in the notes."""

    log = Verb(changing.read_changes)
    undo = Verb(changing.undo_change)
