"""How a plan is written small."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from evaluation_data import GARDEN
from making_plans import make_plan
from reading_pages import unpack

from memory_palace.features.view.gather import gather
from memory_palace.features.view.page import pack, render
from memory_palace.palace import Palace


def texts_of(packed: list[str]) -> list[str]:
    heads = unpack(packed[0])["notes"]["head"]
    rests = [rest for block in packed[1:] for rest in unpack(block)]
    return [head + rest for head, rest in zip(heads, rests, strict=True)]


def test_the_texts_of_all_notes_come_out_as_they_went_in() -> None:
    plan = make_plan(500, words=900)
    packed = pack(plan)
    assert len(packed) == 3
    assert texts_of(packed) == [note.text for note in plan.notes]


def test_a_text_without_an_end_of_line_comes_out_whole() -> None:
    plan = make_plan(4)
    odd = ["# T\n\nOne line.\nAnother.\n", "# ", "x" * 999, "\n\n# T\n\nfirst"]
    notes = tuple(replace(note, text=text) for note, text in zip(plan.notes, odd, strict=True))
    assert texts_of(pack(replace(plan, notes=notes))) == odd


def test_a_page_of_many_short_notes_keeps_to_its_size() -> None:
    plan = make_plan(25_000, 12, words=29)
    texts = sum(len(note.text.encode()) for note in plan.notes)
    assert 180 < texts / 25_000 < 230
    assert len(render(plan)) <= 350_000 + 0.55 * texts


@pytest.mark.long
@pytest.mark.skipif(not GARDEN.is_dir(), reason="the garden vault is not there")
def test_the_page_of_a_garden_keeps_to_its_size(tmp_path: Path) -> None:
    shutil.copytree(GARDEN, tmp_path / "garden")
    palace = Palace.init(tmp_path / "garden", here=True)
    palace.index(embedder="hashing")
    plan = gather(palace)
    texts = sum(len(note.text.encode()) for note in plan.notes)
    assert len(plan.notes) > 700
    assert len(render(plan)) <= 350_000 + 0.55 * texts
