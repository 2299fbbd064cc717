"""The benchmark of the server asks a real one, ends it, and sees where it does not answer."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from memory_palace.bench.serving import draw_questions, read_cpu, read_memory, served
from memory_palace.cli.bench_serve import connect
from memory_palace.cli.resident import decode
from memory_palace.errors import PalaceError
from memory_palace.places import socket_path


def test_a_server_is_asked_over_one_connection_and_ended(root):
    with served(root) as pid, connect(root) as ask:
        first, second = (decode(ask(["-C", str(root), "query", "frost"])) for _ in range(2))
        assert first["parts"] == second["parts"]
        assert "Frost" in first["parts"][0][1]
        assert 5 < read_memory(pid) < 2_000
        assert 0 < read_cpu(pid) < 60
        with pytest.raises(PalaceError, match="the server does not answer"):
            ask(["-C", str(root), "query", "--no-such-option"])
    assert not Path(socket_path(str(root), os.environ)).exists()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_a_server_that_does_not_start_is_an_error(tmp_path, runtime):
    with pytest.raises(PalaceError, match="the server does not start: palace: "), served(tmp_path):
        pass


def test_questions_are_words_of_notes_and_differ(root):
    asked = draw_questions(root, 40)
    assert len(asked) == 40
    assert len(set(asked)) > 5
    assert all(word.isalnum() for question in asked for word in question.split())
