"""How long a note, or a claim in it, holds: as lines and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from memory_palace.models import Validity
from memory_palace.shown import plural, show_date


def superseded_record(validity: Validity) -> dict[str, Any]:
    """Return what JSON has of a claim that is superseded."""
    day = None if validity.valid_until is None else show_date(validity.valid_until)
    return {"date": day, "see": list(validity.superseded_by)}


def write_superseded(validity: Validity) -> str:
    """Say since when a claim is superseded, and what to read instead."""
    record = superseded_record(validity)
    return f"superseded {record['date']}, see {', '.join(record['see'])}"


def say_validity(validity: Validity) -> Iterator[str]:
    """Yield how long a note holds and what took its place, where it says so."""
    named = (("valid from", validity.valid_from), ("valid until", validity.valid_until))
    said = [f"{words} {show_date(moment)}" for words, moment in named if moment is not None]
    if validity.superseded_by:
        said.append(f"superseded by {', '.join(validity.superseded_by)}")
    if said:
        yield ", ".join(said)


def validity_record(validity: Validity) -> dict[str, Any]:
    """Return what JSON has of how long a note holds."""
    first, last = validity.valid_from, validity.valid_until
    return {
        "valid_from": None if first is None else show_date(first),
        "valid_until": None if last is None else show_date(last),
        "superseded_by": list(validity.superseded_by),
    }


def say_copied(dates: Any) -> list[str]:
    """Return the remark on notes that --since and --until leave out: their date is told as 0."""
    copied = int((dates == 0).sum())
    return [f"{plural(copied, 'note')} left out: only a copy dates the files"] if copied else []
