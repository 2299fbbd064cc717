import os

import pytest

from memory_palace.palace import Palace

LATER = "# Later\n\nThe broker was brought back.\n"


@pytest.fixture
def palace(tmp_path):
    palace = Palace.init(tmp_path)
    chambers = palace.paths.notes / "chambers"
    (chambers / "early.md").write_text("---\ndate: 2026-03-01\n---\nThe broker was dropped.\n")
    (chambers / "late.md").write_text(f"---\ndate: 2026-09-01\n---\n{LATER}[[early]]\n")
    (chambers / "2026-09-02 named.md").write_text("The broker has a name now.\n")
    (chambers / "undated.md").write_text("The broker, and no date.\n")
    os.utime(chambers / "undated.md", (2_000_000_000, 2_000_000_000))
    palace.index(embedder="hashing")
    return palace


def names(result):
    return {hit.path.rpartition("/")[2] for hit in result.hits}


@pytest.mark.parametrize("text", ["broker", ""])
def test_a_question_as_of_a_day_is_answered_by_no_note_dated_later(palace, text):
    found = names(palace.query(text, as_of="2026-06-01", type=None, since="2000-01-01"))
    assert found == {"early.md", "undated.md"}
    assert names(palace.query("broker", as_of="2026-09-01")) == {
        "early.md",
        "late.md",
        "undated.md",
    }


def test_without_a_day_notes_dated_in_the_future_are_found(palace):
    (palace.paths.notes / "chambers" / "plan.md").write_text(
        "---\ndate: 2999-01-01\n---\nThe broker will be a museum.\n"
    )
    palace.index()
    assert "plan.md" in names(palace.query("broker"))


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        ("created: 2024-01-02\nupdated: 2026-09-01", "kept.md"),
        ("date: 2024-01-02\nmodified: 2026-09-01", "kept.md"),
        ("updated: 2026-09-01", "kept.md"),
        ("created: 2024-01-02", "2026-12-24 feast.md"),
    ],
)
def test_a_note_that_was_changed_later_had_been_written(tmp_path, fields, name):
    palace = Palace.init(tmp_path, here=True)
    (tmp_path / name).write_text(f"---\n{fields}\n---\nThe broker was dropped.\n")
    (tmp_path / "later.md").write_text("---\ncreated: 2026-09-01\n---\nThe broker came back.\n")
    palace.index(embedder="hashing")
    assert names(palace.query("broker", as_of="2026-06-01")) == {name}
    assert len(names(palace.query("broker"))) == 2
