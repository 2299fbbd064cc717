"""What is computed without copying is what would be computed with it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from memory_palace.anchors.postings import score_pairs
from memory_palace.palace import Palace

Write = Callable[[str, str], Path]


@pytest.fixture
def grown(palace: Palace, write: Write) -> Palace:
    """A palace of several segments, with dead rows among the live ones."""
    for number in range(6):
        text = "".join(f"## Part {n}\n\nA mast, a burette and {n * number}.\n\n" for n in range(9))
        write("chambers/wren/log.md", f"# Log {number}\n\n{text}")
        write(f"chambers/wren/n{number}.md", f"Mast number {number}.\n")
        palace.index()
    return palace


@pytest.mark.parametrize("step", [1, 2, 7])
def test_pairs_are_scored_alike_in_runs_and_one_by_one(grown: Palace, step: int) -> None:
    snapshot = grown.snapshot()
    rows = np.flatnonzero(snapshot.row_note >= 0)[::step]
    matrix = grown.embedder().embed_passages(["a mast", "the burette", "part of it"])
    expected = matrix @ snapshot.rows_of(rows).T
    anchors, found, scores = score_pairs(matrix, snapshot, rows[::-1], theta=0.05)
    assert len(anchors) == np.count_nonzero(expected >= 0.05) > 0
    places = np.searchsorted(rows, found)
    np.testing.assert_allclose(scores, expected[anchors, places], atol=1e-6)
