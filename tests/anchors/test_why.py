"""``palace anchors list`` and ``why``, and files of older versions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from asking_anchors import reached, with_settings
from running import run_well

from memory_palace.anchors import tier
from memory_palace.anchors.why import AnchorsWhy
from memory_palace.palace import Palace

Write = Callable[[str, str], Path]


def why(palace: Palace, text: str) -> AnchorsWhy:
    return palace.anchors.why(text, whole=palace.snapshot(include_cold=True))


def test_why_names_the_anchor_and_the_passages_it_brought(palace: Palace) -> None:
    palace.anchors.build()
    found = why(palace, "about the antenna mast")
    (fired,) = found.fired
    assert (fired.anchor.casefold(), fired.kind) == ("antenna mast", "link")
    assert fired.passages[0].path == "palace/project_rooms/radio/plan.md"
    assert found.silent == ""


def test_why_says_what_was_left_out_and_for_what_reason(palace: Palace, write: Write) -> None:
    write("archive_basement/old.md", "# Old\n\nAn antenna mast of last year.\n")
    write(
        "chambers/wren/held.md",
        "# Held\n\nThe antenna mast. <private>the antenna mast key is under the mat</private>\n",
    )
    palace.index()
    palace.anchors.build()
    left = {out.path: out.reason for out in why(palace, "the antenna mast").left_out}
    assert left["palace/archive_basement/old.md"] == "archived"
    assert left["palace/chambers/wren/held.md"] == "private spans or secrets withheld: 1"
    narrow = with_settings(palace, anchors={"allow": ["palace/reflection_wing"]})
    left = {out.path: out.reason for out in why(narrow, "the antenna mast").left_out}
    assert left["palace/project_rooms/radio/plan.md"] == "outside of anchors.allow"
    denied = with_settings(palace, anchors={"deny": ["antenna mast"]})
    found = why(denied, "the antenna mast")
    assert [out.reason for out in found.left_out] == ["denied by anchors.deny"]
    assert found.fired == () and found.silent == "the settings deny every anchor in it"


def test_why_says_why_nothing_fired(palace: Palace) -> None:
    assert "palace anchors build" in why(palace, "I am hungry").silent
    palace.anchors.build()
    assert "anchors stands in it" in why(palace, "I am hungry").silent


def test_nothing_that_is_private_is_told(palace: Palace, write: Write) -> None:
    write("chambers/wren/own.md", "---\nprivate: true\n---\n# Own\n\nMy antenna mast.\n")
    palace.index()
    palace.anchors.build()
    assert "own.md" not in repr(why(palace, "the antenna mast"))


def test_anchors_of_an_older_version_are_made_anew_and_never_misread(
    palace: Palace, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tier, "SCHEMA", tier.SCHEMA - 1)
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
    assert run_well("-C", root, "anchors", "list")[1].count("sem_theta, anchor_weight") == 1
    assert "ignored" not in run_well("-C", root, "config", "show")[0]
