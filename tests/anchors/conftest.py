"""Palaces with anchors, made with the hashing embedder."""

from pathlib import Path

import pytest
from asking_anchors import Write

from memory_palace.palace import Palace

NOTES = {
    "project_rooms/radio/plan.md": "# Radio plan\n\n## Antenna mast\n\nThe [[antenna mast]] of the "
    "hill station bends in the wind. Guy ropes hold the antenna mast.\n",
    "project_rooms/rain/gauge.md": "# Rain gauge\n\n## Bucket calibration\n\nThe [[tipping "
    "bucket]] counts drops. Bucket calibration needs a burette.\n",
    "chambers/wren/diary.md": "# Diary of Wren\n\nWren met [[gauge|the rain gauge]] people and "
    "asked about the burette.\n",
    "reflection_wing/review.md": "# Peer review\n\n## Referee reports\n\nThe [[referee "
    "reports]] want the error of the tipping bucket in the paper.\n",
}


@pytest.fixture
def palace(tmp_path: Path) -> Palace:
    """Return an indexed palace of four notes, with its anchors."""
    made = make_palace(tmp_path, NOTES)
    made.anchors.build()
    return made


@pytest.fixture
def write(palace: Palace) -> Write:
    """Return what writes a note into the palace."""

    def write_note(path: str, text: str) -> Path:
        target = palace.paths.notes / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, "utf-8")
        return target

    return write_note


def make_palace(root: Path, notes: dict[str, str]) -> Palace:
    palace = Palace.init(root)
    for path, text in notes.items():
        target = palace.paths.notes / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, "utf-8")
    palace.index(embedder="hashing")
    return palace
