"""Which rooms a plan gets, and in which one a later note lies."""

import numpy as np
import pytest

from memory_palace.features.view.layout import Layout, lay_out
from memory_palace.features.view.naming import Described
from memory_palace.features.view.rooms import MORE, MOST_ROOMS, Resident, assign_rooms

TOPICS = ["amber anchor", "birch bridge", "copper crane", "dune delta", "ember elm", "fern flint"]


def resident(path, *, given="", title="", links=()):
    title = title or path.rpartition("/")[2].removesuffix(".md")
    return Resident(path, given, Described(title, (), title), links)


def rooms_of(paths, before=None):
    notes = [resident(path) for path in sorted(paths)]
    return assign_rooms(notes, np.zeros((len(notes), 0), np.float32), before or Layout())


def sizes(rooms):
    return {room: list(rooms.values()).count(room) for room in rooms.values()}


def of_topics(count, *, dimension=6, linked=False):
    """Return notes in one folder, each of one of six topics, and their vectors."""
    notes = [
        resident(
            f"{n:03}.md",
            title=f"{TOPICS[n % 6]} {n}" if n > 5 else TOPICS[n].title(),
            links=(n % 6,) if linked and n > 5 else (),
        )
        for n in range(count)
    ]
    noise = np.random.default_rng(1).normal(size=(count, dimension)) * 0.1
    vectors = np.eye(6, dimension)[np.arange(count) % 6] + noise
    return notes, (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def test_rooms_are_the_seven_and_the_archive_else_folders():
    rooms, _ = rooms_of(["a.md", "A/b.md", "A/B/c.md", "B/d.md"])
    assert rooms == {"a.md": "", "A/b.md": "A", "A/B/c.md": "A", "B/d.md": "B"}
    given = [resident("A/x.md", given="chambers"), resident("B/y.md", given="archive_basement")]
    assert assign_rooms(given, np.zeros((2, 0), np.float32), Layout()) == (
        {"A/x.md": "chambers", "B/y.md": "archive_basement"},
        {},
    )


def test_a_folder_that_holds_most_notes_is_entered():
    paths = [f"content/{name}/{n}.md" for name in "AB" for n in range(5)]
    assert {*rooms_of([*paths, "x/y.md"])[0].values()} == {"content/A", "content/B", "x"}


def test_of_hundreds_of_folders_small_ones_share_a_room():
    paths = [f"F{n:03}/{m}.md" for n in range(300) for m in range(100 if n < 5 else 3)]
    assert {*rooms_of(paths)[0].values()} == {*(f"F00{n}" for n in range(5)), MORE}


def test_names_with_a_hierarchy_are_rooms_as_folders_are():
    tree = {"plugins": 20, "sync": 12, "import": 9}
    paths = [f"{top}.{n}.md" for top, count in tree.items() for n in range(count)]
    rooms, takes = rooms_of([*paths, "plugins.md", "root.md", "daily.2024.md"])
    assert sizes(rooms) == {"plugins": 21, "sync": 12, "import": 9, "": 2}
    assert takes["sync"] == "sync."
    assert rooms["plugins.md"] == "plugins"


def test_numbers_of_johnny_decimal_are_a_hierarchy():
    paths = [f"{area}{n}.0{m} Thing {m}.md" for area in (1, 2) for n in (1, 2) for m in range(8)]
    assert {*rooms_of(paths)[0].values()} == {"11", "12", "21", "22"}


@pytest.mark.parametrize(("dimension", "linked"), [(6, False), (6, True)])
def test_a_flat_folder_is_divided_by_meaning_or_by_links_to_hubs(dimension, linked):
    notes, vectors = of_topics(150, linked=linked)
    rooms, takes = assign_rooms(notes, vectors[:, :dimension], Layout())
    assert {name.casefold() for name in takes} == {*TOPICS}
    assert sizes(rooms) == dict.fromkeys(takes, 25)


def test_without_vectors_it_stays_whole():
    notes, vectors = of_topics(150, linked=True)
    assert {*assign_rooms(notes, vectors[:, :0], Layout())[0].values()} == {""}


def test_a_later_note_joins_what_it_is_like_and_no_other_changes_its_room():
    notes, vectors = of_topics(150)
    rooms, takes = assign_rooms(notes[:144], vectors[:144], Layout())
    before = lay_out(rooms, vectors[:144], Layout(), takes)
    after, _ = assign_rooms(notes, vectors, before)
    assert {path: after[path] for path in rooms} == rooms
    assert all(after[notes[n].path] == after[notes[n % 6].path] for n in range(144, 150))


def test_a_new_folder_gets_a_room_while_there_are_few():
    paths = [f"R{n:02}/{m}.md" for n in range(MOST_ROOMS - 1) for m in range(5)]
    rooms, takes = rooms_of(paths)
    before = lay_out(rooms, np.zeros((len(rooms), 0), np.float32), Layout(), takes)
    later, known = rooms_of([*paths, "New/a.md", "Newer/a.md"], before)
    assert later["New/a.md"] == "New"
    assert len(known) <= MOST_ROOMS + 1
