"""Files and settings of older versions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from asking_anchors import reached
from running import run_well

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


def test_a_setting_of_an_older_version_is_ignored_with_one_line(palace: Palace) -> None:
    settings = palace.paths.settings
    settings.write_text("anchors:\n  sem_theta: 0.5\n  anchor_weight: 0.6\n  k: 9\n", "utf-8")
    assert Palace(palace.paths.root).config.anchors.k == 9
    root = palace.paths.root
    assert (
        run_well("-C", root, "graph", "anchors", "list")[1].count("sem_theta, anchor_weight") == 1
    )
    assert "ignored" not in run_well("-C", root, "config", "show")[0]
