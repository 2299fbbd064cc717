"""Arrays map as they were written, and inverted lists give back what went in."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_palace.index.segment import FIELDS, Segment, checksum, hash_key, map_arrays
from memory_palace.index.writing import count_keys, pack_postings, write_arrays

texts = st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=12), max_size=8)


def _write(path, members):
    with path.open("w+b") as file:
        write_arrays(file, members)
    return path


def test_numpy_reads_what_is_written_and_parts_are_joined(tmp_path):
    part = np.arange(12, dtype=np.float32).reshape(4, 3)
    path = _write(tmp_path / "a.npz", {"v": [part, part + 1], "empty": [np.zeros((0, 2), "u4")]})
    with np.load(path) as archive:
        assert np.array_equal(archive["v"], np.concatenate([part, part + 1]))
        assert archive["empty"].shape == (0, 2)


def test_every_member_maps_on_a_64_byte_border_without_a_copy(tmp_path):
    members = {name: [np.arange(n, dtype=np.uint8)] for name, n in (("a", 1), ("bb", 7), ("c", 99))}
    mapped = map_arrays(_write(tmp_path / "a.npz", members))
    for name, array in mapped.items():
        assert array.ctypes.data % 64 == 0, name
        assert not array.flags.owndata and not array.flags.writeable
        assert np.array_equal(array, members[name][0])


def test_the_same_arrays_are_the_same_bytes(tmp_path):
    array = np.linspace(0, 1, 50, dtype=np.float32)
    first = _write(tmp_path / "a.npz", {"x": [array]})
    second = _write(tmp_path / "b.npz", {"x": [array[:20], array[20:]]})
    assert first.read_bytes() == second.read_bytes()


@pytest.mark.parametrize("size", [0, 1, 100])
def test_a_truncated_file_is_a_value_error(tmp_path, size):
    path = _write(tmp_path / "a.npz", {"x": [np.arange(1000)]})
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(ValueError):
        map_arrays(path)


@given(data=st.binary(min_size=1, max_size=9000), where=st.floats(0, 0.999), bit=st.integers(0, 7))
def test_the_checksum_sees_any_flipped_bit(tmp_path_factory, data, where, bit):
    path = tmp_path_factory.mktemp("sum") / "f"
    path.write_bytes(data)
    before = checksum(path)
    flipped = bytearray(data)
    flipped[int(where * len(data))] ^= 1 << bit
    path.write_bytes(flipped)
    assert checksum(path) != before


def packed(rows):
    """Return a segment in memory whose fields all hold the same."""
    keys = [count_keys(row) for row in rows]
    packed = [pack_postings(field, keys).items() for field in FIELDS]
    members = {name: np.concatenate(list(parts)) for pairs in packed for name, parts in pairs}
    others = {"vectors": np.zeros((len(rows), 0), np.float32), "kind": np.zeros(1, np.uint8)}
    return Segment(Path("memory.jsonl"), members | others, b"", is_cold=False)


@given(texts)
def test_a_key_finds_the_rows_that_hold_it_and_how_often(rows):
    segment = packed(rows)
    for letter in "abcdefghz":
        found, counts = segment.find("words", hash_key(letter))
        expected = [(i, row.count(letter)) for i, row in enumerate(rows) if letter in row]
        assert list(zip(found.tolist(), counts.tolist(), strict=True)) == expected


@given(texts)
def test_unpacking_gives_back_the_keys_of_every_row(rows):
    for row, found in zip(rows, packed(rows).row_keys[0], strict=True):
        expected = Counter(hash_key(letter) for letter in row)
        assert dict(zip(found.keys.tolist(), found.counts.tolist(), strict=True)) == expected


@given(texts)
def test_lengths_count_repeated_terms(rows):
    assert packed(rows).arrays["words_lengths"].tolist() == [len(row) for row in rows]


def test_a_term_that_fills_a_passage_counts_no_more_than_255_times():
    _, counts = packed([["a"] * 1000]).find("words", hash_key("a"))
    assert counts.tolist() == [255]
