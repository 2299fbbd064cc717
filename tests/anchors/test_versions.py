"""Files and settings of older versions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from asking_anchors import reached

from memory_palace.features.anchors import anchor_file
from memory_palace.palace import Palace

Write = Callable[[str, str], Path]


def test_anchors_of_an_older_version_are_made_anew_and_never_misread(
    palace: Palace, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(anchor_file, "SCHEMA", anchor_file.SCHEMA - 1)
    palace.anchors.build()
    monkeypatch.undo()
    fresh = Palace(palace.paths.root)
    assert reached(fresh, "antenna mast") == set()
    assert fresh.query("antenna mast", profile="anchors").hits
    write("chambers/wren/new.md", "# Snow\n\nMelt water.\n")
    assert not fresh.index().problems
    assert "palace/project_rooms/radio/plan.md" in reached(fresh, "antenna mast")
