"""Which notes of a store name a time: ``--when "last May"``, ``when:2026-05`` in a question."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from memory_palace.facts.fact import FactKind
from memory_palace.models import TimeReading
from memory_palace.postgres.posted import PostedLists
from memory_palace.retrieval.when import list_keys


def mark_naming(facts: PostedLists, times: Sequence[TimeReading]) -> NDArray[np.bool_]:
    """Say for each note of a snapshot whether a passage names a day, month or year of a time."""
    owners = facts.snapshot.row_note
    found = np.zeros(len(facts.snapshot.paths), np.bool_)
    for time in times:
        keys = list(list_keys(time.first, time.last))
        facts.fetch((FactKind.DATE, key) for key in keys)
        for key in keys:
            named = owners[facts.rows(FactKind.DATE, key)]
            found[named[named >= 0]] = True
    return found
