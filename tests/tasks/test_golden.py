"""The golden questions: a file that people write, asked, followed and guarded."""

import pytest
from running import commit_all

from memory_palace.errors import UsageError
from memory_palace.features.metabolism.cold_zone import archive_note
from memory_palace.features.tasks.golden import add_golden, ask_golden
from memory_palace.notes.golden import parse_golden
from memory_palace.palace import Palace

KEY, BOAT = "where is the key of the hut", "does the boat leak"


@pytest.fixture(params=["classic", "as it stands"])
def palace(request, tmp_path):
    """Make a palace of both layouts with two notes and a golden question of each."""
    is_here = request.param == "as it stands"
    if is_here:
        (tmp_path / ".palace").mkdir()
        rooms = "rooms: {archive_basement: archive_basement}\n"
        (tmp_path / ".palace" / "palace.yaml").write_text(rooms)
        (tmp_path / "archive_basement").mkdir()
    palace = Palace.init(tmp_path, here=is_here)
    (palace.paths.notes / "people").mkdir()
    texts = {"evening": "The key of the hut hangs behind the stove.", "boat": "The boat leaks."}
    for name, text in texts.items():
        (palace.paths.notes / "people" / f"{name}.md").write_text(text)
    palace.index(embedder="hashing")
    add_golden(palace, KEY, "evening")
    add_golden(palace, BOAT, "boat")
    return palace


def path_of(palace, name):
    return f"{palace.paths.prefix}people/{name}.md"


def ranks(palace, **how):
    return [one.rank for one in ask_golden(palace, **how)]


def test_a_golden_question_is_asked_and_never_an_answer(palace):
    assert ranks(palace) == [1, 1]
    report = palace.index()
    assert report.unchanged == 2 and not report.added
    everything = palace.query(KEY, limit=50).hits
    assert {hit.path for hit in everything} <= {path_of(palace, n) for n in ("evening", "boat")}


def test_the_file_is_a_table_that_people_may_write_in(palace):
    text = palace.paths.golden.read_text()
    mine = f"{text}\nMine | yours.\n\n| Question | Note | why |\n|--|:-:|--|\n"
    mine += "| a \\| b | [[boat]] | no reason |\n| a \\| b |evening| |\n"
    palace.paths.golden.write_text(mine)
    assert [(one.question, one.notes) for one in palace.golden.list()][2] == (
        "a | b",
        ("boat", "evening"),
    )


def test_lines_end_as_they_did_and_bytes_that_are_no_text_stay(palace):
    before = palace.paths.golden.read_bytes().replace(b"\n", b"\r\n") + b"\xff\r\n"
    palace.paths.golden.write_bytes(before)
    assert [one.question for one in palace.golden.list()] == [KEY, BOAT]
    add_golden(palace, "one | more", "boat")
    row = f"| one \\| more | {path_of(palace, 'boat')} |\r\n"
    assert palace.paths.golden.read_bytes().replace(row.encode(), b"") == before


def test_adding_the_same_twice_changes_nothing(palace):
    before = palace.paths.golden.read_bytes()
    add_golden(palace, f" {KEY.title()} ", "evening")
    assert palace.paths.golden.read_bytes() == before


def test_a_golden_note_is_followed_into_the_archive_and_back_in_the_same_change(palace):
    before = palace.paths.golden.read_bytes()
    archive_note(palace, "evening", apply=True)
    (moved,) = palace.golden.list()[0].notes
    assert "archive_basement" in moved and (palace.paths.root / moved).is_file()
    assert ranks(palace) == [None, 1]
    palace.changes.undo(apply=True)
    assert palace.paths.golden.read_bytes() == before


def test_a_golden_file_that_git_has_not_seen_stops_no_move(palace):
    commit_all(palace.paths.root)
    with palace.paths.golden.open("a") as file:
        file.write("\nMine.\n")
    archive_note(palace, "evening", apply=True)
    assert palace.paths.golden.read_text().endswith("\nMine.\n")


def test_a_note_that_somebody_moved_is_found_by_its_name_and_a_missing_one_is_named(palace):
    (palace.paths.notes / "other").mkdir()
    (palace.paths.notes / "people/boat.md").rename(palace.paths.notes / "other/boat.md")
    (palace.paths.notes / "people/evening.md").unlink()
    palace.index()
    key, boat = ask_golden(palace)
    assert (boat.rank, boat.notes) == (1, (f"{palace.paths.prefix}other/boat.md",))
    assert (key.rank, key.notes, key.unknown) == (None, (), (path_of(palace, "evening"),))


def test_a_link_in_the_place_of_the_file_is_refused(palace, tmp_path):
    elsewhere = tmp_path / "elsewhere.txt"
    palace.paths.golden.rename(elsewhere)
    palace.paths.golden.symlink_to(elsewhere)
    with pytest.raises(UsageError, match="is a link"):
        palace.golden.list()


def test_rows_of_other_tables_are_no_questions():
    text = "| question | answer |\n|--|--|\n| who | me |\n\n"
    text += "| a | question | note |\n|-|-|-|\n|1|2|3|\n"
    assert parse_golden(text) == []
