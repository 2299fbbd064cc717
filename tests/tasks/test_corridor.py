import shutil

import pytest
from copying_palaces import copy_sample
from writing_notes import read_state

from memory_palace.changes.changing import undo_change
from memory_palace.errors import CheckFailedError, PalaceError, UsageError
from memory_palace.features.tasks.tasks import (
    TRANSITIONS,
    lint_tasks,
    list_tasks,
    move_task,
    new_task,
    show_task,
)


def make(palace, title="Swap packs", *, checks=("all swapped",), outputs=(), apply=True):
    about = {"owner": "wren", "project": "winter", "goal": "Fresh packs.", "next_action": ""}
    return new_task(palace, title, outputs=outputs, checks=checks, apply=apply, **about)


def move(palace, verb, name="swap-packs", *, reason="", apply=True):
    return move_task(palace, verb, name, reason=reason, apply=apply)


def tick(palace, name="swap-packs"):
    path = palace.paths.root / show_task(palace, name).path
    path.write_text(path.read_text().replace("- [ ]", "- [x]"))


def test_a_card_goes_through_all_its_states_and_back_byte_for_byte(palace):
    make(palace)
    start = read_state(palace.paths)
    move(palace, "block", reason="the road is closed: really")
    assert (
        show_task(palace, "swap-packs").document.text("blocked_by") == "the road is closed: really"
    )
    assert lint_tasks(palace) == []
    move(palace, "start")
    assert show_task(palace, "swap-packs").state == "active"
    assert "blocked_by" not in show_task(palace, "swap-packs").document.fields
    tick(palace)
    move(palace, "complete")
    assert lint_tasks(palace) == []
    move(palace, "reopen", reason="cold again")
    assert "cold again" in show_task(palace, "swap-packs").document.texts("reopened")[0]
    undo_change(palace, apply=True)
    assert show_task(palace, "swap-packs").state == "completed"
    assert len(read_state(palace.paths)) == len(start) == 1


@pytest.mark.parametrize("verb", ["block", "reopen"])
def test_a_reason_is_asked_for(palace, verb):
    make(palace)
    tick(palace)
    if verb == "reopen":
        move(palace, "complete")
    with pytest.raises(UsageError, match="reason"):
        move(palace, verb, reason="  ")


def test_a_card_closes_only_when_every_check_is_ticked_and_every_output_exists(palace, write):
    make(palace, checks=("one", "two"), outputs=("project_rooms/winter/index.md", "[[log]]"))
    path = palace.paths.root / show_task(palace, "swap-packs").path
    path.write_text(path.read_text().replace("- [ ] one", "- [x] one"))
    with pytest.raises(CheckFailedError) as found:
        move(palace, "complete")
    assert str(found.value).split("\n")[1:] == [
        "not ticked: two",
        "does not exist: project_rooms/winter/index.md",
        "does not exist: [[log]]",
        f"`palace task tick {path.stem} N --apply` ticks the check number N",
    ]
    tick(palace)
    write("project_rooms/winter/index.md", "x")
    with pytest.raises(CheckFailedError, match=r"\[\[log\]\]"):
        move(palace, "complete")
    write("project_rooms/winter/log.md", "x")
    move(palace, "complete")
    assert show_task(palace, "swap-packs").state == "completed"


def test_a_card_without_any_check_never_closes(palace, write):
    with pytest.raises(UsageError, match="check"):
        make(palace, checks=())
    write("dispatch_corridor/active/2026-01-01_bare.md", "---\nstatus: active\n---\n## Goal\n\nx\n")
    with pytest.raises(CheckFailedError, match="no acceptance check"):
        move(palace, "complete", "bare")


def test_links_by_path_follow_a_card_and_links_by_name_stay_as_written(palace, write):
    make(palace)
    name = show_task(palace, "swap-packs").document.stem
    source = write(
        "chambers/a.md",
        f"[[dispatch_corridor/active/{name}|card]] and [[{name}]], "
        f"[md](../dispatch_corridor/active/{name}.md#Goal)\n"
        f"`[[dispatch_corridor/active/{name}]]` [[dispatch_corridor/active/{name}#Goal]]\n",
    )
    palace.index(embedder="hashing")
    assert palace.graph().broken() == []
    shown = move(palace, "block", reason="r")
    assert f"b/{source}" in shown.diff
    assert palace.graph().broken() == []
    assert (palace.paths.root / source).read_text() == (
        f"[[palace/dispatch_corridor/blocked/{name}|card]] and [[{name}]], "
        f"[md](../dispatch_corridor/blocked/{name}.md#Goal)\n"
        f"`[[dispatch_corridor/active/{name}]]` [[palace/dispatch_corridor/blocked/{name}#Goal]]\n"
    )


def test_the_lint_names_a_card_in_two_states_and_a_field_that_contradicts_the_folder(palace):
    make(palace)
    card = palace.paths.root / show_task(palace, "swap-packs").path
    twin = card.parent.parent / "blocked" / card.name
    twin.parent.mkdir()
    shutil.copy(card, twin)
    faults = "\n".join(lint_tasks(palace))
    assert "is also at" in faults and "says status 'active' in the folder blocked" in faults
    assert "has no blocked_by" in faults
    with pytest.raises(UsageError, match="2 cards are called"):
        move(palace, "block", reason="r")
    with pytest.raises(PalaceError, match="already exists"):
        move_task(
            palace, "block", card.relative_to(palace.paths.root).as_posix(), reason="r", apply=True
        )


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    return copy_sample(tmp_path_factory.mktemp("sample"), embedder="hashing")


def test_the_cards_of_the_sample_palace_pass_the_lint(sample):
    cards = list_tasks(sample)
    assert len(cards) >= 7 and {card.state for card in cards} == {"active", "blocked", "completed"}
    assert lint_tasks(sample) == []


@pytest.mark.parametrize(
    ("state", "verbs"),
    [("active", ["block", "complete"]), ("blocked", ["start"]), ("completed", ["reopen", "start"])],
)
def test_a_card_takes_the_verbs_of_its_state_alone(palace, write, state, verbs):
    write(f"dispatch_corridor/{state}/swap-packs.md", f"---\nstatus: {state}\n---\n- [x] a\n")
    for verb in TRANSITIONS:
        if verb in verbs:
            assert move(palace, verb, reason="r", apply=False).diff
        else:
            with pytest.raises(UsageError):
                move(palace, verb, reason="r")
    assert [card.state for card in list_tasks(palace)] == [state]


def test_a_second_card_of_one_name_is_refused(palace):
    make(palace)
    with pytest.raises(UsageError):
        make(palace)
