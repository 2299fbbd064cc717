"""A folder of notes, and the same as a palace with two rooms."""

import pytest
from vaults import MAPPED, VAULT
from writing_notes import write_notes

from memory_palace.palace import Palace


@pytest.fixture
def vault(tmp_path):
    """Somebody's folder of notes, one of them in a folder of the name ``palace``."""
    return write_notes(tmp_path / "vault", VAULT)


@pytest.fixture
def mapped(vault):
    """The same as a palace, with two rooms."""
    Palace.init(vault, here=True)
    (vault / ".palace" / "palace.yaml").write_text(MAPPED)
    return vault
