"""Which passages may come to mind at all."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from memory_palace.anchors import lookup
from memory_palace.palace import Palace

PASSING = "The tipping bucket, in passing, among boots, ropes, soup and a torn map.\n"
Write = Callable[[str, str], Path]


def test_a_passage_of_today_is_admitted_before_better_ones(
    palace: Palace, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    palace.anchors.build()
    write("chambers/wren/today.md", PASSING)
    palace.index()
    question = "bucket calibration of the tipping bucket with a burette"
    assert palace.look_up(question).hits[0].path != "palace/chambers/wren/today.md"
    monkeypatch.setattr(lookup, "POOL", 1)
    (admitted,) = palace.look_up(question).hits
    assert admitted.path == "palace/chambers/wren/today.md"


def test_an_archived_passage_comes_to_mind_by_no_anchor_even_where_cold_notes_are_asked(
    palace: Palace, write: Write
) -> None:
    write("archive_basement/2025/old.md", "# Old\n\nThe **tipping bucket** of last year.\n")
    palace.index()
    palace.anchors.build()
    found = palace.query("tipping bucket", profile="anchors", include_cold=True, neighbors=0)
    assert found.anchors is not None and found.anchors.answered_by == "anchors"
    assert not any(hit.note.is_cold for hit in found.hits)
