"""The doors in ``scripts/``: from a checkout, by whatever Python is there."""

import subprocess
import sys
from pathlib import Path

import pytest
from asking_anchors import with_settings
from running import run_main

from memory_palace import Palace

ROOT = Path(__file__).parents[2]
SCRIPTS = sorted((ROOT / "scripts" / "hippocampus").glob("*.py")) + [
    ROOT / "scripts" / f"{name}.py"
    for name in ("build_index_bge", "cold_zone_blinding_patch", "graph_router", "query_bge")
]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_a_bare_python_is_told_in_one_line_what_to_install(script: Path) -> None:
    """FINDINGS D: it was a traceback for want of typer. ``-S`` leaves site-packages out."""
    command = [sys.executable, "-I", "-S", str(script), "anything"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (9, "", 1)
    assert "has no typer" in done.stderr and f"pip install {ROOT}`" in done.stderr


@pytest.fixture
def palace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Palace:
    made = Palace.init(tmp_path)
    note = tmp_path / "palace" / "project_rooms" / "rain" / "gauge.md"
    note.parent.mkdir()
    note.write_text("# Rain gauge\n\nThe tipping bucket counts drops.\n", "utf-8")
    made.index(embedder="hashing")
    with_settings(made, anchors={"theta": 0.5}).anchors.build()
    monkeypatch.chdir(tmp_path)
    return made


def test_an_update_takes_the_note_that_was_written(palace: Palace) -> None:
    """FINDINGS D: document 003's own call, ``incremental-update.py PATH``, exited 2."""
    note = palace.paths.root / "palace" / "project_rooms" / "rain" / "new.md"
    note.write_text("# Bracket\n\nThe bracket rusts.\n", "utf-8")
    script = ROOT / "scripts" / "hippocampus" / "incremental-update.py"
    done = subprocess.run([sys.executable, str(script), str(note)], check=False)
    assert done.returncode == 0
    assert "palace/project_rooms/rain/new.md" in Palace(palace.paths.root).snapshot().paths


def test_a_lookup_shows_only_what_an_anchor_leads_to(palace: Palace, capsys) -> None:
    """FINDINGS D: it printed most of a palace at anchor 0.00."""
    for number in range(20):
        note = palace.paths.root / "palace" / "chambers" / f"day{number}.md"
        note.write_text(f"# Day {number}\n\nWe talked about the weather, and a gauge.\n", "utf-8")
    palace.index()
    with_settings(palace, anchors={"theta": 0.99}).anchors.build()
    hits = palace.look_up("how is the rain gauge").hits
    assert [hit.path for hit in hits] == ["palace/project_rooms/rain/gauge.md"]
    code, out, _ = run_main(capsys, "graph", "anchors", "lookup", "how is the rain gauge")
    assert code == 0 and out.count(".md:") == 1 and "(anchor 0.00" not in out
