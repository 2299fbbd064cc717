import shutil
import tempfile
from pathlib import Path

import pytest
from copying_palaces import copy_sample
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
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
from memory_palace.palace import Palace


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


class Cards(RuleBasedStateMachine):
    """Any commands in any order: a card is in one state, and it is the one that was reached."""

    @initialize()
    def begin(self):
        self.folder = tempfile.TemporaryDirectory()
        self.palace = Palace.init(Path(self.folder.name))
        self.expected: dict[str, list[str]] = {}
        self.last: list[str] = []

    @precondition(lambda self: len(self.expected) < 3)
    @rule(name=st.sampled_from(["alpha", "beta", "gamma"]))
    def add(self, name):
        try:
            make(self.palace, name)
        except UsageError:
            assert name in self.expected
        else:
            assert name not in self.expected
            self.expected[name] = ["active"]
            self.last.append(name)

    @precondition(lambda self: self.expected)
    @rule(
        data=st.data(), verb=st.sampled_from(sorted(TRANSITIONS)), reason=st.sampled_from(["", "r"])
    )
    def go(self, data, verb, reason):
        name = data.draw(st.sampled_from(sorted(self.expected)))
        card = show_task(self.palace, name)
        meant = "reopen" if (verb, card.state) == ("start", "completed") else verb
        needed, new = TRANSITIONS[meant]
        is_legal = (
            card.state == needed
            and (reason or meant in ("start", "complete"))
            and (verb != "complete" or all(check.is_ticked for check in card.checks))
        )
        try:
            move(self.palace, verb, name, reason=reason)
        except (UsageError, CheckFailedError):
            assert not is_legal
        else:
            assert is_legal
            self.expected[name].append(new)
            self.last.append(name)

    @precondition(lambda self: self.expected)
    @rule(data=st.data())
    def tick(self, data):
        tick(self.palace, data.draw(st.sampled_from(sorted(self.expected))))

    @precondition(lambda self: self.last)
    @rule()
    def undo(self):
        name = self.last[-1]
        try:
            undo_change(self.palace, apply=True)
        except UsageError as error:
            assert "changed since" in str(error)  # a box was ticked by hand meanwhile
            return
        self.last.pop()
        self.expected[name].pop()
        if not self.expected[name]:
            del self.expected[name]

    @invariant()
    def every_card_is_in_one_state(self):
        found = list_tasks(self.palace)
        assert {card.document.title: card.state for card in found} == {
            name: states[-1] for name, states in self.expected.items()
        }
        assert len(found) == len(self.expected)
        for card in found:
            assert card.document.text("status") == card.state
            assert bool(card.document.text("blocked_by")) == (card.state == "blocked")

    def teardown(self):
        self.folder.cleanup()


Cards.TestCase.settings = settings(max_examples=10, stateful_step_count=12, deadline=None)
TestCards = Cards.TestCase
