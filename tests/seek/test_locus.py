"""Notes that are places: written as notes, read from them, listed."""

import pytest

from memory_palace.features.seek.loci import read_loci
from memory_palace.features.seek.nodes import Pose2D

ROOM = "chambers/places"


def test_a_locus_is_a_note_with_front_matter(house):
    text = (house.paths.notes / ROOM / "Cellar.md").read_text("utf-8")
    assert "locus:\n  id: 0\n  x: 2.5\n  y: -1.0\n  yaw: 0.0\n" in text
    cellar = read_loci(house).loci[0]
    assert cellar.path == f"palace/{ROOM}/Cellar.md"
    assert (cellar.node_id, cellar.pose, cellar.tags) == (0, Pose2D(2.5, -1.0), ("wine",))
    assert cellar.summary == "Rows of bottles, wine and juice"


def test_nothing_is_written_without_apply(palace, put):
    outcome = put("Cellar", 0, 0, apply=False)
    assert "+locus:" in outcome.diff
    assert not (palace.paths.notes / ROOM).exists()


def test_any_note_with_the_field_is_a_locus_and_its_first_paragraph_the_summary(house):
    note = house.paths.notes / "chambers" / "well.md"
    text = "---\ntags: [water]\nlocus: {id: 3, x: 4, y: 4}\n---\n# Well\n\nTwelve metres\ndeep.\n"
    note.write_text(text, "utf-8")
    well = read_loci(house).loci[-1]
    assert (well.node_id, well.tags, well.summary) == (3, ("water",), "Twelve metres deep.")


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
