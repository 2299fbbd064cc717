"""An answer is checked against any note, or against lines of one."""

from pathlib import Path

import pytest
from writing_notes import index_notes

from memory_palace import Palace
from memory_palace.errors import PalaceError, UsageError
from memory_palace.features.checking.verify import verify

NOTE = "# Gate\n\nThe gate jams above 2.4 metres.\n\nThe mill closed in 1911.\n"


@pytest.fixture
def palace(tmp_path: Path) -> Palace:
    half = "# Half\n\nThe gate is green.\n\n<private>The gate jams above 2.4 metres.</private>\n"
    hidden = f"---\nprivate: true\n---\n{NOTE}"
    return index_notes(tmp_path, {"gate.md": NOTE, "hidden.md": hidden, "half.md": half})


@pytest.mark.parametrize("name", ["gate.md", "gate:3", "gate.md:1-5", "Gate"])
def test_a_note_without_a_token_bears_out_what_it_says(palace: Palace, name: str) -> None:
    right = verify(palace, "The gate jams above 2.4 metres.", [name])
    wrong = verify(palace, "The gate jams above 9.7 metres.", [name])
    assert (right.verdict, right.token_verdict) == ("quoted", "not_applicable")
    assert wrong.verdict == "contradicted"


def test_only_the_lines_that_are_named_count(palace: Palace) -> None:
    found = verify(palace, "The mill closed in 1911.", ["gate:3"])
    assert found.verdict in ("contradicted", "not_found")
    with pytest.raises(UsageError, match="5 lines"):
        verify(palace, "The mill closed in 1911.", ["gate:30"])


def test_what_is_withheld_bears_nothing_out(palace: Palace) -> None:
    for name in ("half.md", "half.md:1-9"):
        found = verify(palace, "The gate jams above 2.4 metres.", [name])
        assert found.verdict in ("contradicted", "not_found")
    with pytest.raises(PalaceError, match="no note matches"):
        verify(palace, "The gate jams above 2.4 metres.", ["hidden.md"])
