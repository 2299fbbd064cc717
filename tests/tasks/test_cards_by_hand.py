"""Cards that people write straight into the corridor, beside the folders of the states."""

import pytest

from memory_palace.features.tasks.tasks import lint_tasks, list_tasks, move_task, show_task
from memory_palace.palace import Palace

LAYOUTS = {
    "classic": ("palace/dispatch_corridor", ""),
    "mapped": ("Tasks", "rooms: {Tasks: dispatch_corridor}\n"),
    "plain": ("dispatch_corridor", ""),
}


@pytest.fixture(params=LAYOUTS)
def corridor(tmp_path, request):
    """Return the corridor of a palace in each layout, with a card and a page about the folder."""
    folder, settings = LAYOUTS[request.param]
    own = tmp_path / ("palace" if request.param == "classic" else ".palace")
    own.mkdir()
    (own / "palace.yaml").write_text(settings)
    place = tmp_path / folder
    place.mkdir(parents=True)
    (place / "mend-the-roof.md").write_text("# Mend the roof\n\n- [ ] no more drips\n")
    (place / "README.md").write_text("# Tasks\n\nWhat is to be done around the house.\n")
    return place


def test_a_card_beside_the_folders_is_listed_as_active_and_a_page_on_the_folder_is_none(corridor):
    palace = Palace.discover(corridor)
    (card,) = list_tasks(palace)
    assert (card.document.title, card.state) == ("Mend the roof", "active")
    assert [check.text for check in card.checks] == ["no more drips"]
    assert show_task(palace, "mend the roof") == card
    (corridor / "paint.md").write_text("---\nstatus: Blocked\n---\n# Paint\n")
    assert [card.document.stem for card in list_tasks(palace, state="blocked")] == ["paint"]


def test_it_is_linted_and_told_where_it_belongs(corridor):
    palace = Palace.discover(corridor)
    shown = corridor.relative_to(palace.paths.root).as_posix()
    faults = lint_tasks(palace)
    assert f"{shown}/mend-the-roof.md: has no goal" in faults
    wanted = f"lies in no state's folder; move it to {shown}/active/"
    assert f"{shown}/mend-the-roof.md: {wanted}" in faults
    assert not [fault for fault in faults if "README" in fault or "says status" in fault]


def test_a_verb_moves_it_into_the_folder_of_its_state(corridor):
    palace = Palace.discover(corridor)
    move_task(palace, "block", "mend the roof", reason="no ladder", apply=True)
    (card,) = list_tasks(palace, state="blocked")
    shown = corridor.relative_to(palace.paths.root).as_posix()
    assert card.path == f"{shown}/blocked/mend-the-roof.md"
    assert (corridor / "blocked" / "mend-the-roof.md").exists()
