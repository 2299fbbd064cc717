import pytest

from memory_palace.palace import Palace


@pytest.fixture
def palace(tmp_path):
    palace = Palace.init(tmp_path, here=True)
    (tmp_path / "rooms").mkdir()
    (tmp_path / "rooms" / "new-gauge.md").write_text(
        "---\naliases: [second gauge]\n---\n# The new gauge\n"
    )
    return palace


def say(palace, heir):
    (palace.paths.root / "old.md").write_text(f"---\nsuperseded_by: {heir}\n---\nThe gauge.\n")
    palace.index(embedder="hashing")
    return [(found.where, found.message) for found in palace.doctor().findings]


@pytest.mark.parametrize(
    "heir",
    ["rooms/new-gauge.md", "'[[new-gauge]]'", "[[new-gauge]]", "The new gauge", "second gauge"],
)
def test_a_path_a_link_a_title_and_an_alias_name_what_took_the_place_of_a_note(palace, heir):
    assert say(palace, heir) == []


def test_doctor_names_a_note_that_is_superseded_by_nothing(palace):
    message = "is superseded by 'newest gauge', which names no note"
    assert say(palace, "'[[newest gauge]]'") == [("old.md", message)]
