import os

import pytest

from memory_palace.storage import (
    is_named_by_content,
    sweep_temporaries,
    write_atomic,
    write_content,
)


@pytest.mark.parametrize("call", ["open", "fsync", "replace"])
def test_a_failing_disk_leaves_the_old_bytes_and_no_temporary(tmp_path, monkeypatch, call):
    path = tmp_path / "note"
    path.write_bytes(b"old")

    def full(*args, **kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, call, full)
    with pytest.raises(OSError, match="No space"):
        write_atomic(path, b"new")
    monkeypatch.undo()
    assert path.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["note"]


def test_a_file_is_private_to_its_owner(tmp_path):
    write_atomic(tmp_path / "a", b"x")
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o600


def test_a_content_named_file_proves_itself_and_heals_a_damaged_one(tmp_path):
    path = write_content(tmp_path, lambda file: file.write(b"bytes"), "seg-{}.npz")
    assert is_named_by_content(path)
    path.write_bytes(b"damaged")
    assert not is_named_by_content(path)
    assert write_content(tmp_path, lambda file: file.write(b"bytes"), "seg-{}.npz") == path
    assert path.read_bytes() == b"bytes"


def test_what_a_dead_writer_left_is_swept(tmp_path):
    (tmp_path / ".INDEX.json.99.abcd.tmp").write_bytes(b"")
    for name in (kept := ["INDEX.json", ".syncthing.INDEX.json.tmp"]):
        (tmp_path / name).write_bytes(b"")
    sweep_temporaries(tmp_path)
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(kept)
