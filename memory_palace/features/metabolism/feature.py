"""Upkeep: what outlives its project, what leaves for the archive, and what was changed."""

from __future__ import annotations

from memory_palace.changes import changing, cold_zone
from memory_palace.feature import Feature, Verb
from memory_palace.features.metabolism import cycle


class Metabolism(Feature):
    """What completed work leaves behind, and what is no longer used."""

    report = Verb(cycle.take_report)
    distill = Verb(cycle.distill)
    promote = Verb(cycle.promote)
    eliminate = Verb(cycle.eliminate)


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
