"""A folder of notes, and the same as a palace with two rooms."""

from __future__ import annotations

import pytest
from vaults import MAPPED, VAULT

from memory_palace.palace import Palace


@pytest.fixture
def vault(tmp_path):
    """Somebody's folder of notes, one of them in a folder of the name ``palace``."""
    for path, text in VAULT.items():
        file = tmp_path / "vault" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return tmp_path / "vault"


@pytest.fixture
def mapped(vault):
    """The same as a palace, with two rooms."""
    Palace.init(vault, here=True)
    (vault / ".palace" / "palace.yaml").write_text(MAPPED)
    return vault
