import pytest

from memory_palace.changes.changing import read_notes, undo_change
from memory_palace.errors import UsageError
from memory_palace.features.tasks.conflicts import (
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
    more |= {"decision": "Snow decides.", "by": "Ilse"}
    return resolve_conflict(palace, "mast-height", winner=winner, apply=apply, **more)


def test_both_claims_are_quoted_by_path_lines_and_digest(palace, notes):
    outcome = open_(palace)
    assert "+`palace/chambers/a.md#L3-L6` sha256:" in outcome.diff
    conflict, claims = show_conflict(palace, "mast-height")
    assert conflict.parties == notes
    assert [(c.first_line, c.last_line) for c in claims] == [(3, 6), (4, 4)]
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


def test_an_open_conflict_stands_behind_the_notes_it_is_about(palace, notes):
    open_(palace, title="How high the mast of the station is")
    palace.index(embedder="none")

    def ask(question):
        return [hit.path.rpartition("/")[2] for hit in palace.query(question, neighbors=0).hits]

    asked = ask("how high is the mast in metres")
    assert set(asked[:2]) == {"a.md", "b.md"} and asked[2].endswith("station-is.md")
    (first,) = palace.rank_paths(["how high is the mast in metres"], limit=1)
    assert first[0].endswith(asked[0])
    assert ask("how high the mast of the station is")[0].endswith("station-is.md")


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
    undo_change(palace, apply=True)
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


def test_a_conflict_of_three_parties_is_not_decided_at_once(palace, notes, write):
    open_(palace)
    (path,) = (palace.paths.notes / "conflict_room").glob("*.md")
    write("chambers/c.md", "other\n")
    path.write_text(
        path.read_text("utf-8").replace("b.md]", "b.md, palace/chambers/c.md]"), "utf-8"
    )
    with pytest.raises(UsageError, match="not two parties"):
        resolve(palace)


WREN = """# Wren

Cells rest in April.
The server room is on the second floor.
Boil it first. The pump starts at 0.9 bar. Drain it.
"""
ROOMS = "# Rooms\n\nThe server room is on the sixth floor.\nThe pump starts at 1.4 bar.\n"


@pytest.fixture
def rooms(write):
    return write("chambers/wren.md", WREN), write("chambers/rooms.md", ROOMS)


def read(palace, path):
    return (palace.paths.root / path).read_bytes().decode()


def test_a_conflict_marks_the_line_that_lost_and_leaves_the_note(palace, rooms):
    open_(palace, "wren:4", "rooms:3")
    resolve(palace, winner="rooms")
    before, after = WREN.split("\n"), read(palace, rooms[0]).split("\n")
    (mark,) = [line for line in after if line not in before]
    assert after.index(mark) == 4
    assert mark.startswith("**Superseded 20") and mark.endswith(
        ":** Snow decides. Decided by Ilse; see [[rooms]]."
    )
    assert read_notes(palace).documents[rooms[0]].text("superseded_by") == ""
    undo_change(palace, apply=True)
    assert read(palace, rooms[0]) == WREN


def test_whole_notes_that_contradict_each_other_are_quoted_by_their_sentences(palace, rooms):
    outcome = open_(palace, "wren", "rooms")
    assert "wren.md#L4-L4` sha256:" in outcome.diff and "rooms.md#L3-L3` sha256:" in outcome.diff


def test_a_whole_note_is_never_superseded_where_no_sentence_was_found(palace, write):
    path = write("chambers/wren.md", "# Wren\n\nCells rest in April.\n\nPacks are warm.\n")
    write("chambers/rooms.md", "# Rooms\n\nA river runs by.\n\nA bridge leads over it.\n")
    open_(palace, "wren", "rooms")
    with pytest.raises(UsageError, match=r"with --line 12-15, or that none does with --whole"):
        resolve(palace, winner="rooms")
    with pytest.raises(UsageError, match="names no lines of the text"):
        resolve(palace, winner="rooms", line="9", apply=False)
    assert "is warm" not in resolve(palace, winner="rooms", line="5", apply=False).diff
    resolve(palace, winner="rooms", whole=True)
    documents = read_notes(palace).documents
    assert documents[path].text("superseded_by") == "palace/chambers/rooms.md"


def test_a_quote_that_moved_is_found_again_by_its_text(palace, rooms):
    open_(palace, "wren:4", "rooms:3")
    file = palace.paths.root / rooms[0]
    file.write_text(WREN.replace("Cells", "New first line.\nCells"), "utf-8")
    resolve(palace, winner="rooms", apply=False)
    resolve(palace, winner="rooms")
    assert "second floor.\n**Superseded" in read(palace, rooms[0])


def test_a_quote_that_is_gone_stops_with_what_to_do(palace, rooms):
    open_(palace, "wren:4", "rooms:3")
    file = palace.paths.root / rooms[0]
    file.write_text(WREN.replace("second", "third"), "utf-8")
    with pytest.raises(UsageError, match=r"no longer says what was quoted.*--line 12"):
        resolve(palace, winner="rooms")


def test_the_quotation_in_the_conflict_is_marked_too(palace, rooms):
    open_(palace, "wren:4", "rooms:3")
    resolve(palace, winner="rooms")
    (conflict,) = list_conflicts(palace, include_closed=True)
    section = conflict.document.section("Claim A")
    assert section.split("\n")[-1].startswith("**Superseded ")
    palace.index(embedder="hashing")
    found = [h for h in palace.query("server room floor", limit=9) if h.path == conflict.path]
    assert "sixth" not in "".join(hit.chunk.preview for hit in found)  # it stands in the note
    assert "**Superseded" not in conflict.document.section("Claim B")


def test_a_conflict_is_found_by_what_is_remembered_of_its_name(palace, notes):
    open_(palace)
    for text in ("mast", "height of the mast"):
        assert show_conflict(palace, text)[0].document.title == "Mast: height"
    with pytest.raises(UsageError, match=r"did you mean palace/conflict_room/.*\?$"):
        show_conflict(palace, "fast light")


def test_the_head_of_a_table_is_no_claim_and_a_row_is_quoted_below(palace, write):
    path = write(
        "chambers/wren.md", "# W\n\n| part | bar |\n|---|---|\n| pump | 0.9 |\n| tap | 2 |\n"
    )
    write("chambers/rooms.md", ROOMS)
    open_(palace, "wren:5", "rooms:4")
    with pytest.raises(UsageError, match="line 3 is the head of a table"):
        resolve(palace, winner="rooms", line="3")
    resolve(palace, winner="rooms")
    assert "| tap | 2 |\n\n**Superseded" in read(palace, path)
    assert ':** "pump | 0.9" Snow' in read(palace, path)
