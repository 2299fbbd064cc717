"""The benchmark of the server starts a real one, ends it, and sees where it does not answer."""

import os
from pathlib import Path

import pytest
from copying_palaces import copy_sample

from benchmarks.serving import draw_questions, served
from memory_palace.errors import PalaceError
from memory_palace.places import socket_path


@pytest.fixture
def root(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    return copy_sample(tmp_path / "sample", embedder="hashing").paths.root


def test_a_server_is_started_and_ended(root):
    with served(root):
        address = Path(socket_path(str(root.resolve()), os.environ))
        assert address.exists()
    assert not address.exists()


def test_a_server_that_does_not_start_is_an_error(tmp_path):
    with pytest.raises(PalaceError, match="the server does not start: palace: "), served(tmp_path):
        pass


def test_questions_are_words_of_notes_and_differ(root):
    asked = draw_questions(root, 40)
    assert len(asked) == 40
    assert len(set(asked)) > 5
