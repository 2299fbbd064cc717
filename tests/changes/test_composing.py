import pytest

from memory_palace.changes.composing import compose_note, note_path, record_decision
from memory_palace.config import SEVEN
from memory_palace.errors import UsageError
from memory_palace.language.visible import fence_text

REST = "\n## Follow-up\n\nNone yet.\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("## Decision\n\nOpen.\n" + REST, "## Decision\n\nAccepted.\n" + REST),
        ("## Decision\n\nPending. A person decides.\n" + REST, "## Decision\n\nAccepted.\n" + REST),
        ("## Decision\n\nWe talked.\n", "## Decision\n\nAccepted.\n\nWe talked.\n"),
        (
            "```\n## Decision\n\nOpen.\n```\n",
            "```\n## Decision\n\nOpen.\n```\n\n## Decision\n\nAccepted.\n",
        ),
        ("", "## Decision\n\nAccepted.\n"),
    ],
)
def test_a_decision_takes_the_place_of_what_the_form_said_and_of_nothing_else(before, after):
    decided = record_decision("a.md", f"# A\n\n{before}".encode(), "Accepted.")
    assert decided.decode() == f"# A\n\n{after}"


def test_a_note_has_fields_heading_lead_sections_and_source_in_that_order():
    note = compose_note(
        "palace/a.md", "A", {"title": "A"}, {"Goal": "Go."}, lead="About it.", source="b"
    )
    assert note.after.decode() == (
        "---\ntitle: A\n---\n# A\n\nAbout it.\n\n## Goal\n\nGo.\n\nFrom [[b]].\n"
    )


def test_a_fence_is_longer_than_any_in_the_text():
    assert fence_text("a\n````\nb", "text") == "`````text\na\n````\nb\n`````"


@pytest.mark.parametrize("title", ["", "///", "..."])
def test_a_title_that_names_no_file_is_refused(title):
    with pytest.raises(UsageError, match="cannot be named after"):
        note_path(SEVEN, title, room="chambers")
