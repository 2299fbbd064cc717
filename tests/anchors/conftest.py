"""Palaces with anchors, made with the hashing embedder."""

from pathlib import Path

import pytest
from asking_anchors import Write
from writing_notes import write_notes

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
    made = Palace.init(tmp_path)
    write_notes(made.paths.notes, NOTES)
    made.index(embedder="hashing")
    made.anchors.build()
    return made


@pytest.fixture
def write(palace: Palace) -> Write:
    """Return what writes a note into the palace."""
    return lambda path, text: write_notes(palace.paths.notes, {path: text})
