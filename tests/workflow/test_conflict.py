from __future__ import annotations

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from memory_palace.changes.changing import read_notes, undo_change
from memory_palace.config import PalacePaths
from memory_palace.errors import UsageError
from memory_palace.notes.reading import find_disputes
from memory_palace.workflow.conflicts import (
    list_conflicts,
    open_conflict,
    resolve_conflict,
    show_conflict,
)


@pytest.fixture
def notes(write):
    return (
        write("chambers/a.md", "# Mast\n\nThe mast is 3.2 metres.\n```\nfence\n```\n"),
        write("chambers/b.md", "---\ntitle: Draft\n---\nThe mast is 2 metres.\n"),
    )


def open_(palace, first="a:3-6", second="b", **more):
    values = {"title": "Mast: height", "kind": "contradiction", "raised_by": "sable"}
    return open_conflict(
        palace, first, second, evidence=("snow of 2.6 metres",), apply=True, **values | more
    )


def resolve(palace, *, winner="a", apply=True, **more):
    return resolve_conflict(
        palace,
        "mast-height",
        winner=winner,
        decision="Snow decides.",
        by="Ilse",
        apply=apply,
        allow_uncommitted=False,
        **more,
    )


def test_both_claims_are_quoted_by_path_lines_and_digest(palace, notes):
    outcome = open_(palace)
    assert "+`palace/chambers/a.md#L3-L6` sha256:" in outcome.diff
    conflict, claims = show_conflict(palace, "mast-height")
    assert conflict.parties == notes
    assert [(c.quote.first_line, c.quote.last_line) for c in claims] == [(3, 6), (4, 4)]
    assert [claim.standing for claim in claims] == ["as quoted", "as quoted"]
    assert "The mast is 3.2 metres." in conflict.document.section("Claim A")
    assert list(conflict.document.sections) == [
        "", "Claim A", "Claim B", "Evidence", "Decision", "Follow-up",
    ]  # fmt: skip


def test_a_quote_that_no_longer_stands_in_its_note_is_named(palace, notes):
    open_(palace)
    a, b = (palace.paths.root / path for path in notes)
    a.write_text(a.read_text().replace("3.2", "3.3"))
    b.unlink()
    _, claims = show_conflict(palace, "mast-height")
    assert [claim.standing for claim in claims] == ["changed since", "gone"]


def test_a_quoted_secret_is_withheld(palace, write, notes):
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    write("chambers/c.md", f"height 4\ntoken {token}\n")
    outcome = open_(palace, "c", "b")
    assert token not in outcome.diff


def test_parties_are_marked_in_answers_until_somebody_decides(palace, notes):
    open_(palace)
    palace.index(embedder="hashing")
    hits = {h.path: h for h in palace.query("how high is the mast", limit=9).hits}
    (conflict,) = list_conflicts(palace)
    assert all(hits[path].disputed_in == (conflict.path,) for path in notes)
    assert hits[conflict.path].disputed_in == ()
    resolve(palace)
    hits = palace.query("how high is the mast", limit=9).hits
    assert [hit.disputed_in for hit in hits] == [()] * len(hits)


def test_resolving_writes_who_won_on_the_record_and_on_the_loser(palace, notes):
    open_(palace)
    before = {d.path: d.data for d in read_notes(palace).documents.values()}
    assert resolve(palace, apply=False).identity is None
    assert {d.path: d.data for d in read_notes(palace).documents.values()} == before
    resolve(palace)
    documents = read_notes(palace).documents
    assert documents[notes[1]].text("superseded_by") == notes[0]
    assert documents[notes[0]].data == before[notes[0]]
    (conflict,) = list_conflicts(palace, include_closed=True)
    assert list_conflicts(palace) == []
    assert conflict.status == "resolved" and conflict.document.text("resolved_by") == "Ilse"
    assert conflict.document.section("Decision").endswith("Snow decides.")
    with pytest.raises(UsageError, match="already resolved"):
        resolve(palace)
    undo_change(palace, command="conflict", identity=None, apply=True)
    assert {d.path: d.data for d in read_notes(palace).documents.values()} == before


def test_without_a_winner_nothing_but_the_record_changes(palace, notes):
    open_(palace)
    outcome = resolve(palace, winner=None)
    assert len(outcome.paths) == 1
    assert list_conflicts(palace, include_closed=True)[0].status == "wontfix"


def test_only_a_party_can_win_and_a_note_has_no_conflict_with_itself(palace, notes, write):
    open_(palace)
    write("chambers/c.md", "other")
    with pytest.raises(UsageError, match="not a party"):
        resolve(palace, winner="c")
    with pytest.raises(UsageError, match="itself"):
        open_(palace, "a", "a", title="x")
    with pytest.raises(UsageError, match="one of contradiction"):
        open_(palace, title="y", kind="quarrel")


names = st.text(
    st.characters(exclude_categories=("C", "Z"), exclude_characters="/"), min_size=1, max_size=12
)


@given(st.lists(names, min_size=1, max_size=3, unique=True), st.booleans())
def test_the_quick_reader_of_parties_agrees_with_yaml(tmp_path_factory, parties, is_flow):
    root = tmp_path_factory.mktemp("palace")
    folder = root / "palace" / "conflict_room"
    folder.mkdir(parents=True)
    paths = [f"palace/chambers/{name} note.md" for name in parties]
    head = yaml.safe_dump(
        {"status": "open", "parties": paths},
        default_flow_style=None if is_flow else False,
        allow_unicode=True,
        width=10**6,
    )
    (folder / "x.md").write_text(f"---\n{head}---\n", "utf-8")
    found = find_disputes(PalacePaths(root))
    assert found == dict.fromkeys(paths, ("palace/conflict_room/x.md",))


def test_two_places_of_one_note_can_conflict_and_nothing_is_superseded(palace, write):
    write("chambers/a.md", "# Mast\n\nIt is 3 metres.\n\nIt is 2 metres.\n")
    open_(palace, "a:3", "a:5")
    outcome = resolve(palace)
    assert len(outcome.paths) == 1
    assert list_conflicts(palace) == []
    assert read_notes(palace).documents["palace/chambers/a.md"].text("superseded_by") == ""


def test_a_conflict_of_three_parties_is_not_decided_at_once(palace, notes, write):
    open_(palace)
    (path,) = (palace.paths.notes / "conflict_room").glob("*.md")
    write("chambers/c.md", "other\n")
    path.write_text(
        path.read_text("utf-8").replace("b.md]", "b.md, palace/chambers/c.md]"), "utf-8"
    )
    with pytest.raises(UsageError, match="more than two parties"):
        resolve(palace)
