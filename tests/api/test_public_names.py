import subprocess
import sys
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


def test_importing_the_package_imports_none_of_its_modules():
    code = "import sys, memory_palace; print(*(m for m in sys.modules if 'memory_palace.' in m))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_opening_a_palace_and_asking_imports_no_feature(tmp_path):
    code = (
        "import sys; from memory_palace import Palace; "
        "palace = Palace.init(sys.argv[1]); palace.new('Frost'); palace.index(embedder='hashing'); "
        "palace.query('frost'); "
        "print(*(m for m in sys.modules if m.startswith('memory_palace.facade')))"
    )
    run = [sys.executable, "-c", code, str(tmp_path)]
    assert subprocess.run(run, capture_output=True, text=True, check=True).stdout.split() == []
