import pytest

from memory_palace.changes.composing import compose_note, note_path, record_decision
from memory_palace.config import SEVEN
from memory_palace.errors import UsageError
from memory_palace.language.visible import fence_text


def test_a_decision_stands_above_what_was_deliberated():
    before = b"# A\n\n## Decision\n\nWe talked for an hour.\n\n## Follow-up\n\nNone yet.\n"
    after = record_decision("a.md", before, "Accepted.").decode()
    assert after.index("Accepted.") < after.index("We talked for an hour.")
    assert after.endswith("## Follow-up\n\nNone yet.\n")


@pytest.mark.parametrize("undecided", ["Open.", "Pending. A person decides."])
def test_a_decision_takes_the_place_of_what_the_form_said(undecided):
    before = f"# A\n\n## Decision\n\n{undecided}\n\n## Follow-up\n\nNone yet.\n"
    after = record_decision("a.md", before.encode(), "Accepted.").decode()
    assert after == "# A\n\n## Decision\n\nAccepted.\n\n## Follow-up\n\nNone yet.\n"


def test_a_note_without_a_place_for_the_decision_gets_one():
    assert record_decision("a.md", b"# A\n", "Accepted.") == b"# A\n\n## Decision\n\nAccepted.\n"


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


def test_a_heading_in_a_code_block_is_not_the_section_of_the_decision():
    before = b"# A\n\n```\n## Decision\n\nOpen.\n```\n\n## Decision\n\nOpen.\n"
    after = record_decision("a.md", before, "Accepted.")
    assert after == before[: -len(b"Open.\n")] + b"Accepted.\n"
