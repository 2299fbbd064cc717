import pytest
from writing_notes import write_notes


@pytest.fixture
def write(palace):
    def write_note(path, text):
        write_notes(palace.paths.notes, {path: text})
        return f"palace/{path}"

    return write_note
