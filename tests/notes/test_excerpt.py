"""What is shown of a note by its lines."""

import pytest

from memory_palace.errors import UsageError
from memory_palace.notes.note import excerpt


@pytest.mark.parametrize("matter", ["private: true", '"private": yes', "private: true\n[broken"])
def test_nothing_of_a_private_note_is_shown(matter):
    with pytest.raises(UsageError, match="private"):
        excerpt("palace/a.md", f"---\n{matter}\n---\n# Diary\n\nMy own turnstone.\n".encode())


def test_private_spans_are_withheld_and_lines_keep_their_numbers():
    shown = excerpt("palace/a.md", b"one\n<private>two\nthree</private>\nfour\n", last_line=4)
    assert "two" not in shown.text and "three" not in shown.text
    assert shown.text.split("\n")[3] == "four"
