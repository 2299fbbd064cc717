"""Each rule of reverse elimination at its boundary."""

from dataclasses import replace
from datetime import date, timedelta

import pytest

from memory_palace.changes.journal import Create, Move, Replace
from memory_palace.features.metabolism.cycle import carry_out
from memory_palace.features.metabolism.elimination import find_proposals
from memory_palace.notes.document import parse_document
from memory_palace.notes.usage import Usage

TODAY = date(2026, 11, 21)
OLD = TODAY - timedelta(days=90)
FRESH = TODAY - timedelta(days=89)


LOGGED = Usage(TODAY - timedelta(days=200))
"""A log in which no note was opened or cited."""


def proposals(notes, *, usage=LOGGED, **more):
    return find_proposals(notes.ledger(usage=usage, **more))


def actions(notes, **more):
    found = proposals(notes, **more)
    return {p.path.rpartition("/")[2][:-3]: p.action for p in found if not p.held}


def held(notes, stem, **more):
    (found,) = (p for p in proposals(notes, **more) if p.path.endswith(f"/{stem}.md"))
    return found.held or ""


def steps(notes):
    ledger = notes.ledger(usage=LOGGED)
    return carry_out(ledger, find_proposals(ledger))


def fields_after(change, path):
    (data,) = [op.after for op in change if isinstance(op, Replace) and op.path == path]
    return parse_document(path, data).fields


def test_an_asset_is_demoted_after_ninety_days_without_use(notes):
    notes.asset("a", day=FRESH)
    assert actions(notes) == {}
    path = notes.asset("a", day=OLD, priority="medium")
    (found,) = proposals(notes)
    assert found.action == "demote" and found.evidence[0] == f"last use {OLD}, 90 days ago"
    after = fields_after(steps(notes).change, path)
    assert after["status"] == "stale" and after["priority"] == "low"
    assert after["stale_since"] == TODAY


@pytest.mark.parametrize("field", [{"priority": "high"}, {"pinned": "true"}])
def test_high_priority_and_a_pin_protect(notes, field):
    notes.asset("a", day=OLD, **field)
    assert actions(notes) == {}


def test_use_and_a_link_from_a_note_in_use_protect(notes):
    path = notes.asset("a", day=OLD)
    assert actions(notes, usage=replace(LOGGED, days={path: [FRESH]})) == {}
    assert actions(notes, usage=replace(LOGGED, days={path: [OLD]})) == {"a": "demote"}
    notes["chambers/x.md"] = "[[a]]"
    assert actions(notes) == {}
    notes["archive_basement/2026/x.md"] = notes.pop("chambers/x.md")
    assert actions(notes) == {"a": "demote"}


def test_a_note_that_an_asset_was_made_from_does_not_keep_it(notes):
    notes.asset("a", day=OLD, source="b")
    notes["chambers/b.md"] = "---\npromoted_to: a\n---\n[[a]]"
    assert actions(notes) == {"a": "demote"}


def test_an_undated_asset_is_left_alone(notes):
    notes["reflection_wing/principles/a.md"] = "no date"
    assert actions(notes) == {}


@pytest.mark.parametrize(("since", "expected"), [(FRESH, {}), (OLD, {"a": "archive"})])
def test_a_stale_asset_is_archived_after_ninety_more_days(notes, since, expected):
    day = TODAY - timedelta(days=400)
    notes.asset("a", day=day, status="stale", stale_since=since, priority="low")
    assert actions(notes) == expected
    if expected:
        change = steps(notes).change
        assert change == (
            Move(
                "palace/reflection_wing/principles/a.md",
                "palace/archive_basement/2026/reflection_wing/principles/a.md",
            ),
        )


def test_a_stale_asset_that_is_of_use_again_is_revived(notes):
    path = notes.asset("a", day=OLD, status="stale", stale_since=OLD)
    notes["chambers/x.md"] = "[[a]]"
    assert actions(notes) == {"a": "revive"}
    after = fields_after(steps(notes).change, path)
    assert "status" not in after and "stale_since" not in after


def test_a_superseded_note_is_archived_at_once_and_its_heir_takes_its_name(notes):
    notes.asset("old", superseded_by="palace/reflection_wing/principles/new.md", aliases="[once]")
    heir = notes.asset("new")
    done = steps(notes)
    assert fields_after(done.change, heir)["aliases"] == ["old", "once"]
    assert [op.old for op in done.change if isinstance(op, Move)] == [
        "palace/reflection_wing/principles/old.md"
    ]
    assert done.redirects == {"palace/reflection_wing/principles/old.md": heir}
    del notes["reflection_wing/principles/new.md"]
    (found,) = proposals(notes)
    assert found.held == "the note that supersedes it was not found" and steps(notes).change == ()


def test_an_asset_goes_back_when_its_card_is_open_again(notes):
    notes.card("c", project="radio")
    path = notes.asset("a", source="2026-10-01_c")
    assert actions(notes) == {}
    del notes["dispatch_corridor/completed/2026-10-01_c.md"]
    notes.card("c", project="radio", state="active")
    assert actions(notes) == {"a": "return"}
    change = steps(notes).change
    assert fields_after(change, path)["status"] == "returned"
    assert Move(path, "palace/project_rooms/radio/a.md") in change


@pytest.mark.parametrize(("failures", "expected"), [(1, {}), (2, {"a": "return"})])
def test_an_asset_goes_back_when_it_fails_as_often_as_it_succeeds(notes, failures, expected):
    notes.asset("a", successes=2, failures=failures, project="radio")
    assert actions(notes) == expected


def test_duplicates_open_a_conflict_and_neither_moves(notes):
    body = "Warm the cell before the panel charges the pack in winter mornings"
    notes.asset("a", day=OLD - timedelta(days=300), body=body)
    notes.asset("b", day=OLD, body=body + " always")
    assert actions(notes) == {"b": "merge"}
    (create,) = steps(notes).change
    assert isinstance(create, Create) and b"kind: duplicate" in create.after
    both = frozenset(
        ("palace/reflection_wing/principles/a.md", "palace/reflection_wing/principles/b.md")
    )
    assert actions(notes, settled=[both]) == {"a": "demote", "b": "demote"}
    notes.asset("b", day=OLD, body="Warm the hands before the panel charges the pack in spring")
    assert actions(notes) == {"a": "demote", "b": "demote"}


def test_opposite_rules_on_one_subject_open_a_conflict(notes):
    notes.asset("a", body="Always charge the packs below freezing.")
    notes.asset("b", body="Never charge the packs below freezing.")
    notes.asset("c", body="Never publish the garden of a keeper.")
    assert actions(notes) == {"b": "contradiction"}
    (create,) = steps(notes).change
    assert b"kind: contradiction" in create.after


def test_what_is_disputed_or_not_committed_is_held(notes):
    path = notes.asset("a", day=OLD)
    (found,) = proposals(notes, disputed=[path])
    assert found.held == "party to an open conflict"
    (found,) = proposals(notes, uncommitted=[path])
    assert found.held == "has edits that are not committed to git"


@pytest.mark.parametrize(("day", "expected"), [(FRESH, {}), (OLD, {"2026-10-01_c": "finish"})])
def test_a_completed_card_is_archived_ninety_days_after_it_was_distilled(notes, day, expected):
    notes.card("c", completed=OLD)
    assert actions(notes) == {}
    notes.asset("t", "telegrams", day=day, corridor_card="2026-10-01_c", priority="high")
    assert actions(notes) == expected


def test_open_cards_and_the_constitution_are_never_touched(notes):
    notes.card("c", state="active", completed=OLD)
    notes.asset("t", "telegrams", corridor_card="2026-10-01_c", priority="high")
    notes["grand_hall/constitution.md"] = "---\nsuperseded_by: t\ndate: 2020-01-01\n---\n1. x"
    notes.asset("r", "constitution_candidates", day=date(2020, 1, 1), decision="accepted")
    assert "constitution" not in actions(notes) and "r" not in actions(notes)
    assert "2026-10-01_c" not in actions(notes)


@pytest.mark.parametrize("began", [None, TODAY - timedelta(days=89)])
def test_without_a_log_of_ninety_days_nothing_is_called_unused(notes, began):
    notes.asset("a", day=OLD)
    notes.asset("b", day=OLD, status="stale", stale_since=OLD, body="Do it.")
    assert actions(notes, usage=Usage(began)) == {}
    assert set(actions(notes)) == {"a", "b"}


@pytest.mark.parametrize(
    "act", ["archive", "finish", "supersede", "return"],
)  # fmt: skip
def test_what_was_opened_within_ninety_days_does_not_leave(notes, act):
    heir = "palace/chambers/heir.md"
    notes["chambers/heir.md"] = "Do it.\n\n## Goal"
    paths = {
        "archive": lambda: notes.asset("a", day=OLD, status="stale", stale_since=OLD),
        "finish": lambda: notes.card("a", completed=OLD),
        "supersede": lambda: notes.asset("a", superseded_by=heir),
        "return": lambda: notes.asset("a", successes=1, failures=2, project="radio"),
    }
    path = paths[act]()
    notes.asset("t", "telegrams", day=OLD, corridor_card="2026-10-01_a", body="Do it.")
    assert act in actions(notes).values()
    assert act not in actions(notes, usage=replace(LOGGED, days={path: [FRESH]})).values()
    assert act in actions(notes, usage=replace(LOGGED, days={path: [OLD]})).values()


def stale(notes, body):
    return notes.asset("a", day=OLD, body=body, status="stale", stale_since=OLD)


@pytest.mark.parametrize(
    ("body", "elsewhere", "unsaid"),
    [
        ("The mast is 4 metres high.", "The mast is 4 metres high.", ""),
        ("The mast is 4 metres high.", "The mast is 6 metres high.", "The mast is 4 metres high."),
        ("```sh\nrm -r x\n```", "Then `rm` it.", "rm -r x"),
        ("```sh\nrm -r x\n```", "```sh\nrm -r x\n```", ""),
        ("See [it](https://a.b/c).", "See it.", "https://a.b/c"),
        ("Who pays?", "Somebody pays.", "Who pays?"),
        ("Nickel dies below zero: [[b]]", "# Nickel dies", "Nickel dies below zero: b"),
    ],
)  # fmt: skip
def test_a_note_is_archived_for_disuse_when_others_say_all_of_it(notes, body, elsewhere, unsaid):
    stale(notes, body)
    notes["chambers/b.md"] = elsewhere
    expected = f"says a thing that no other hot note says: {unsaid}" if unsaid else ""
    assert held(notes, "a") == expected
    notes["archive_basement/2026/b.md"] = notes.pop("chambers/b.md")
    assert held(notes, "a")


def test_what_is_held_says_how_much_would_be_lost(notes):
    stale(notes, f"The mast creaks in the wind. The {'very ' * 40}old roof leaks.")
    assert held(notes, "a") == (
        "says 2 things that no other hot note says, first: The mast creaks in the wind."
    )


def test_two_notes_that_only_say_the_same_do_not_leave_together(notes):
    stale(notes, "The mast is high.")
    again = {"body": "The mast is high.", "status": "stale", "stale_since": OLD}
    notes.asset("b", "thinking_paths", day=OLD, **again)
    assert actions(notes) == {"a": "archive"}
    assert held(notes, "b") == (
        "palace/reflection_wing/principles/a.md goes because this note says what it said"
    )


def test_what_is_private_in_a_note_keeps_it(notes):
    stale(notes, "The mast is high. <private>The key is under it.</private>")
    notes["chambers/b.md"] = "The mast is high."
    assert "private" in held(notes, "a")


def test_a_line_that_only_names_notes_is_no_loss(notes):
    stale(notes, "- [[b]], [[c]]\n- rooms/b.md")
    assert actions(notes) == {"a": "archive"}


def test_a_telegraph_stands_for_a_card_and_not_for_an_insight_that_it_repeats(notes):
    said = "The mast is high."
    stale(notes, said)
    notes.card("c", completed=FRESH, link=said)
    notes.asset("t", "telegrams", corridor_card="2026-10-01_c", body=said)
    assert held(notes, "a") == f"says a thing that no other hot note says: {said}"
