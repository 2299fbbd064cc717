import pytest
from copying_palaces import copy_sample

from memory_palace.changes.changing import read_notes, undo_change
from memory_palace.config import SEVEN
from memory_palace.errors import PalaceError
from memory_palace.features.tasks.tasks import CLOSE, OPEN, draw_map, own_links
from memory_palace.features.tasks.tasks import PANEL as PLACE
from memory_palace.palace import Palace

PANEL = SEVEN.path_of(PLACE)


@pytest.fixture
def sample(tmp_path):
    return copy_sample(tmp_path)


def draw(palace, *, apply=True):
    return draw_map(palace, apply=apply)


def test_the_map_is_added_once_and_peoples_words_around_it_stay(sample):
    panel = sample.paths.root / PANEL
    before = panel.read_text("utf-8")
    if OPEN in before:
        before = before[: before.index(OPEN)].rstrip() + "\n"
        panel.write_text(before, "utf-8")
    assert draw(sample, apply=False).identity is None and panel.read_text("utf-8") == before
    draw(sample)
    text = panel.read_text("utf-8")
    assert text.startswith(before) and text.count(OPEN) == text.count(CLOSE) == 1
    panel.write_text(text + "\nMine, below.\n", "utf-8")
    (sample.paths.notes / "chambers" / "new.md").write_text("new", "utf-8")
    draw(sample)
    again = panel.read_text("utf-8")
    assert again.startswith(before) and again.endswith(f"{CLOSE}\n\nMine, below.\n")
    assert again != text and draw(sample).diff == ""
    undo_change(sample, apply=True)
    assert panel.read_text("utf-8") == text + "\nMine, below.\n"


def test_the_map_counts_what_is_there_and_its_links_lead_somewhere(sample):
    draw(sample)
    sample.index(embedder="hashing")
    assert sample.graph().broken() == [] and sample.graph().ambiguous() == []
    text = (sample.paths.root / PANEL).read_text("utf-8")
    for room in ("chambers", "reflection_wing", "archive_basement"):
        count = len(list((sample.paths.notes / room).rglob("*.md")))
        assert f"| {room} | {count} |" in text
    assert "- completed: 4" in text and "- broken links: 0" in text
    assert "Mast height at Saddle hut" in text


def test_links_of_the_map_are_nobodys_evidence(sample):
    panel = read_notes(sample).documents[PANEL]
    written = own_links(panel)
    draw(sample)
    drawn = read_notes(sample).documents[PANEL]
    assert len(drawn.links) > len(written)
    assert [link.target for link in own_links(drawn)] == [link.target for link in written]


@pytest.mark.parametrize("text", [OPEN, CLOSE, f"{CLOSE}\n{OPEN}", f"{OPEN}\n{CLOSE}\n{OPEN}"])
def test_marks_that_are_no_pair_are_named_and_nothing_is_lost(tmp_path, text):
    palace = Palace.init(tmp_path)
    (tmp_path / PANEL).write_text(f"Mine.\n\n{text}\n")
    with pytest.raises(PalaceError, match="each occur once"):
        draw(palace)
    assert (tmp_path / PANEL).read_text() == f"Mine.\n\n{text}\n"


def test_a_title_cannot_write_a_link_or_a_mark_into_the_panel(tmp_path):
    palace = Palace.init(tmp_path)
    wing = tmp_path / "palace" / "reflection_wing" / "x.md"
    wing.write_text(f"---\ntitle: 'a]] [[evil|{CLOSE}'\n---\nx\n")
    draw(palace)
    text = (tmp_path / PANEL).read_text()
    assert "[[evil" not in text
    assert draw(palace).diff == ""
