from pathlib import Path

import pytest
from api.signatures import list_signatures, public_members

import memory_palace

PINNED = Path(__file__).with_name("signatures.txt")


def test_public_names_and_signatures_are_those_that_were_agreed():
    assert PINNED.read_text("utf-8").splitlines() == list(list_signatures()), (
        "the public API has changed: if that is meant, renew the file with "
        "python tests/api/signatures.py > tests/api/signatures.txt, "
        "and say so in CHANGELOG.md"
    )


def test_every_public_name_can_be_had():
    assert all(getattr(memory_palace, name) is not None for name in memory_palace.__all__)
    with pytest.raises(AttributeError, match="Castle"):
        memory_palace.Castle  # noqa: B018


def test_every_public_method_says_what_it_does():
    silent = [name for name, member in public_members() if not (member.__doc__ or "").strip()]
    assert silent == []
