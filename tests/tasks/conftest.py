import pytest

from memory_palace.palace import Palace


@pytest.fixture
def palace(tmp_path):
    return Palace.init(tmp_path)


@pytest.fixture
def write(palace):
    def write_note(path, text):
        file = palace.paths.notes / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
        return f"palace/{path}"

    return write_note
