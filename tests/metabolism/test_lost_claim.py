import shutil
from datetime import date, timedelta
from pathlib import Path

from memory_palace.features.metabolism.cycle import eliminate
from memory_palace.palace import Palace

SAMPLE = Path(__file__).parents[2] / "palace"
WREN = "palace/chambers/01_wren/accumulated knowledge of Wren.md"


def test_a_lost_claim_takes_nothing_of_its_note_out_of_the_hot_rooms(tmp_path):
    """One figure once sent 816 words to the archive with the next weekly run."""
    shutil.copytree(SAMPLE, tmp_path / "palace")
    palace = Palace(tmp_path)
    before = (tmp_path / WREN).read_text("utf-8").split("\n")
    palace.conflicts.resolve(
        "mast-height-at-saddle-hut",
        winner="first siting draft",
        decision="Two metres everywhere.",
        by="Jean-Luc Perrin",
        line="20-22",
        apply=True,
    )
    for week in range(0, 26, 5):
        today = date(2026, 11, 22) + timedelta(weeks=week)
        eliminate(palace, apply=True, today=today)
        after = (tmp_path / WREN).read_text("utf-8").split("\n")
        assert [line for line in before if line not in after] == []
        (mark,) = [line for line in after if line not in before]
        assert mark.startswith("**Superseded ") and "3.2 metres" in after[after.index(mark) - 2]
