"""Notes that are places: written as notes, read from them, listed, imported and exported."""

from __future__ import annotations

import json

import pytest

from memory_palace.errors import UsageError
from memory_palace.features.seek.loci import import_loci, read_loci
from memory_palace.features.seek.nodes import MemoryNode, Pose2D, read_node_list
from memory_palace.features.seek.schema import SchemaError
from memory_palace.shown import to_record

ROOM = "chambers/places"


def test_a_locus_is_a_note_with_front_matter(house):
    text = (house.paths.notes / ROOM / "Cellar.md").read_text("utf-8")
    assert "locus:\n  id: 0\n  x: 2.5\n  y: -1.0\n  yaw: 0.0\n" in text
    cellar = read_loci(house).loci[0]
    assert cellar.path == f"palace/{ROOM}/Cellar.md"
    assert cellar.node == MemoryNode(
        0, Pose2D(2.5, -1.0), None, ("wine",), "Rows of bottles, wine and juice"
    )


def test_nothing_is_written_without_apply(palace, put):
    outcome = put("Cellar", 0, 0, apply=False)
    assert "+locus:" in outcome.diff
    assert not (palace.paths.notes / ROOM).exists()


def test_an_existing_note_gets_a_place_and_keeps_its_text(house, put):
    note = house.paths.notes / "chambers" / "well.md"
    note.write_text("---\ntags: [water]\n---\n# Well\n\nTwelve metres deep.\n", "utf-8")
    put("Well", 4, 4, note=True, tags=("stone",))
    well = read_loci(house).loci[-1].node
    assert (well.node_id, well.tags) == (3, ("water", "stone"))
    assert well.summary == "Twelve metres deep."
    assert note.read_text("utf-8").endswith("# Well\n\nTwelve metres deep.\n")


def export(palace):
    records = map(to_record, read_loci(palace).loci)
    return [{key: value for key, value in one.items() if key != "path"} for one in records]


def test_export_and_import_are_each_others_inverse(house, tmp_path):
    records = export(house)
    file = tmp_path / "map.json"
    file.write_text(json.dumps(records), "utf-8")
    assert import_loci(house, read_node_list(file), room=ROOM, apply=False).diff == ""
    for note in (house.paths.notes / ROOM).glob("*.md"):
        note.unlink()
    import_loci(house, read_node_list(file), room=ROOM, apply=True)
    assert export(house) == records


def test_an_import_moves_the_note_of_the_same_id(house):
    import_loci(house, [{"node_id": 1, "pose": {"x": 5, "y": 5}}], room=ROOM, apply=True)
    attic = read_loci(house).loci[1]
    assert (attic.title, attic.pose) == ("Attic", Pose2D(5.0, 5.0))
    assert attic.summary == "Boxes of winter clothes under the roof"


def test_two_nodes_of_one_title_become_two_notes(house):
    records = [
        {
            "node_id": number,
            "pose": {"x": number, "y": 0},
            "title": "Hall",
            "summary": f"# {number}",
        }
        for number in (10, 11)
    ]
    import_loci(house, records, room=ROOM, apply=True)
    found = read_loci(house).loci[-2:]
    assert [locus.path.rpartition("/")[2] for locus in found] == ["Hall.md", "Hall 11.md"]
    assert [locus.summary for locus in found] == ["# 10", "# 11"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[", "is not JSON"),
        ('[{"node_id": 1, "pose": {"x": NaN, "y": 0}}]', "NaN is not a JSON number"),
        ('[{"node_id": -1, "pose": {"x": 0, "y": 0}}]', "node_id"),
        ('[{"node_id": 1, "pose": {"x": 0}}]', "'y' is a required property"),
        (
            '[{"node_id": 1, "pose": {"x": 0, "y": 0}}, {"node_id": 1, "pose": {"x": 0, "y": 0}}]',
            "two nodes have id 1",
        ),
    ],
)
def test_a_list_that_is_wrong_is_refused(tmp_path, text, problem):
    file = tmp_path / "map.json"
    file.write_text(text, "utf-8")
    with pytest.raises((UsageError, SchemaError), match=problem):
        read_node_list(file)


@pytest.mark.parametrize(
    ("field", "problem"),
    [
        ("here", "is a mapping"),
        ("{id: 1, x: 0}", "lacks y"),
        ("{id: 1, x: 0, y: 0, z: 0}", "not z"),
        ("{id: -1, x: 0, y: 0}", "whole number from 0"),
        ("{id: 9, x: .nan, y: 0}", "finite number"),
        ("{id: 9, x: left, y: 0}", "is a number, not 'left'"),
        ("{id: 0, x: 0, y: 0}", "is node 0, as"),
    ],
)
def test_a_locus_that_is_wrong_is_named_and_the_others_are_read(house, field, problem):
    note = house.paths.notes / "chambers" / "wrong.md"
    note.write_text(f"---\nlocus: {field}\n---\n# Wrong\n", "utf-8")
    found = read_loci(house)
    assert len(found.loci) == 3
    assert problem in str(found.problems[0])


def test_cold_and_private_notes_are_no_loci(house):
    cold = house.paths.notes / "archive_basement"
    (cold / "old.md").write_text("---\nlocus: {id: 8, x: 0, y: 0}\n---\n# Old\n", "utf-8")
    private = house.paths.notes / "chambers" / "own.md"
    private.write_text("---\nprivate: true\nlocus: {id: 9, x: 0, y: 0}\n---\n# Own\n", "utf-8")
    assert [locus.node_id for locus in read_loci(house).loci] == [0, 1, 2]
