"""Remembered digests are those of the bytes."""

import hashlib
import os

import pytest

from memory_palace.embedding import registry as weights_module
from memory_palace.embedding.registry import DIGESTS, digest_weights


@pytest.fixture
def weights(tmp_path):
    path = tmp_path / "model.safetensors"
    path.write_bytes(b"weights")
    return path


def age_cache(cache, *, seconds):
    """Make the cache look written that long before the moment that it was."""
    moment = (cache / DIGESTS).stat().st_mtime - seconds
    os.utime(cache / DIGESTS, (moment, moment))


def test_a_digest_is_computed_once_and_then_remembered(weights, tmp_path, monkeypatch):
    expected = hashlib.sha256(b"weights").hexdigest()
    assert digest_weights(weights, cache=tmp_path / "cache") == expected
    age_cache(tmp_path / "cache", seconds=-1)
    monkeypatch.setattr(weights_module, "file_digest", None)
    assert digest_weights(weights, cache=tmp_path / "cache") == expected


def test_changed_bytes_of_equal_length_are_digested_again(weights, tmp_path):
    before = digest_weights(weights, cache=tmp_path)
    weights.write_bytes(b"WEIGHTS")
    assert digest_weights(weights, cache=tmp_path) != before


def test_a_file_as_new_as_the_cache_is_not_trusted(weights, tmp_path, monkeypatch):
    digest_weights(weights, cache=tmp_path)
    age_cache(tmp_path, seconds=60)
    monkeypatch.setattr(weights_module, "file_digest", lambda file, name: hashlib.sha256(b"read"))
    assert digest_weights(weights, cache=tmp_path) == hashlib.sha256(b"read").hexdigest()


@pytest.mark.parametrize("damage", [b"", b"[]", b'{"x": 3}', b"\xff", b'{"x": {"stat": 1}}'])
def test_a_damaged_cache_is_written_anew(weights, tmp_path, damage):
    (tmp_path / DIGESTS).write_bytes(damage)
    expected = hashlib.sha256(b"weights").hexdigest()
    assert digest_weights(weights, cache=tmp_path) == expected
    assert expected.encode() in (tmp_path / DIGESTS).read_bytes()


def test_a_cache_that_cannot_be_written_costs_only_time(weights, tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("in the way", "utf-8")
    expected = hashlib.sha256(b"weights").hexdigest()
    assert digest_weights(weights, cache=blocked) == expected
