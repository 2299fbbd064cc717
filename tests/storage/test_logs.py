import os
import subprocess
import sys

import pytest

from memory_palace.storage import append_record, read_records


def numbers(path):
    return [record["n"] for record in read_records(path)]


def test_a_torn_last_line_is_skipped_and_ended_by_the_next_record(tmp_path):
    path = tmp_path / "logs" / "log.jsonl"
    append_record(path, {"n": 1})
    with path.open("ab") as file:
        file.write(b'{"n": 2, "text": "to')
    assert numbers(path) == [1]
    append_record(path, {"n": 3})
    assert numbers(path) == [1, 3]


@pytest.mark.parametrize(
    "garbage",
    [b"\0\0\0", b"[1]", b"7", b"\xff\xfe", b"[" * 100_000, b"", b'{"n": 9', b"<<<<<<< HEAD"],
    ids=["zeros", "list", "number", "not UTF-8", "deep", "blank", "torn", "merge mark"],
)
def test_garbage_in_the_middle_costs_only_itself(tmp_path, garbage):
    path = tmp_path / "log.jsonl"
    append_record(path, {"n": 1})
    with path.open("ab") as file:
        file.write(garbage + b"\n")
    append_record(path, {"n": 2}, is_durable=False)
    assert numbers(path) == [1, 2]


def test_a_log_that_is_not_there_has_no_records(tmp_path):
    assert numbers(tmp_path / "no" / "log.jsonl") == []


def test_a_path_that_is_not_utf8_comes_back_as_it_was(tmp_path):
    path = tmp_path / "log.jsonl"
    append_record(path, {"path": "note-\udcff"})
    assert [record["path"] for record in read_records(path)] == ["note-\udcff"]


def test_a_full_disk_leaves_a_torn_line_that_the_next_record_ends(tmp_path, monkeypatch):
    path = tmp_path / "log.jsonl"
    append_record(path, {"n": 1})
    real, room = os.write, [5]

    def full(descriptor, data):
        if not room:
            raise OSError(28, "No space left on device")
        return real(descriptor, data[: room.pop()])

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(OSError, match="No space"):
        append_record(path, {"n": 2})
    monkeypatch.undo()
    append_record(path, {"n": 3})
    assert numbers(path) == [1, 3]


def test_only_a_durable_record_is_flushed(tmp_path, monkeypatch):
    flushed = []
    monkeypatch.setattr(os, "fsync", flushed.append)
    append_record(tmp_path / "log.jsonl", {"n": 1}, is_durable=False)
    assert flushed == []
    append_record(tmp_path / "log.jsonl", {"n": 2})
    assert len(flushed) == 2  # the file, and its folder


_WRITER = """
import sys
from pathlib import Path
from memory_palace.storage import append_record
for number in range(200):
    append_record(
        Path(sys.argv[1]), {"n": number, "who": sys.argv[2], "text": "x" * 9000}, is_durable=False
    )
"""


def test_two_processes_that_append_lose_and_mix_nothing(tmp_path):
    path = tmp_path / "log.jsonl"
    writers = [
        subprocess.Popen([sys.executable, "-c", _WRITER, str(path), who]) for who in ("a", "b")
    ]
    assert [writer.wait() for writer in writers] == [0, 0]
    records = list(read_records(path))
    assert len(records) == 400
    for who in ("a", "b"):
        assert [r["n"] for r in records if r["who"] == who] == list(range(200))
