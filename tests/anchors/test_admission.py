"""Which passages may come to mind at all."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from memory_palace.palace import Palace

Write = Callable[[str, str], Path]


def test_an_archived_passage_comes_to_mind_by_no_anchor_even_where_cold_notes_are_asked(
    palace: Palace, write: Write
) -> None:
    write("archive_basement/2025/old.md", "# Old\n\nThe [[tipping bucket]] of last year.\n")
    palace.index()
    palace.anchors.build()
    found = palace.query("tipping bucket", profile="anchors", include_cold=True, neighbors=0)
    assert found.anchors is not None and found.anchors.answered_by == "anchors"
    assert not any(hit.note.is_cold for hit in found.hits)
