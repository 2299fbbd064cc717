from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_palace.embedding.tensor_file import TensorFile, TensorFileError

VALUES = np.arange(6, dtype=np.float32).reshape(2, 3)
ENTRY = {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}


def write_tensors(path: Path, header: Any, data: bytes = VALUES.tobytes()) -> Path:
    encoded = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(encoded)) + encoded + data)
    return path


def test_a_tensor_has_the_shape_and_values_that_were_stored(tmp_path: Path) -> None:
    header = {"__metadata__": {"format": "pt"}, "weights": ENTRY}
    file = TensorFile(write_tensors(tmp_path / "m", header))
    assert np.array_equal(file["weights"], VALUES)


def test_a_tensor_cannot_be_written_to(tmp_path: Path) -> None:
    tensor = TensorFile(write_tensors(tmp_path / "m", {"weights": ENTRY}))["weights"]
    with pytest.raises(ValueError, match="read-only"):
        tensor[0, 0] = 1


@pytest.mark.parametrize(
    "change",
    [
        {"dtype": "F16"},
        {"dtype": "I64"},
        {"shape": [2, 4]},
        {"shape": [-2, -3]},
        {"shape": "23"},
        {"data_offsets": [0, 28], "shape": [7]},
        {"data_offsets": [-4, 20]},
        {"data_offsets": [24, 0]},
        {"data_offsets": [0]},
        {"data_offsets": [0.0, 24.0]},
    ],
)
def test_an_entry_that_does_not_fit_the_file_is_refused(
    tmp_path: Path, change: dict[str, Any]
) -> None:
    file = TensorFile(write_tensors(tmp_path / "m", {"weights": ENTRY | change}))
    with pytest.raises(TensorFileError, match="weights"):
        file["weights"]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\0" * 7,
        struct.pack("<Q", 1 << 60) + b"{}",
        struct.pack("<Q", 3) + b"{}",
        struct.pack("<Q", 2) + b"[]",
        struct.pack("<Q", 2) + b"{]",
        struct.pack("<Q", 2) + b"\xff\xff",
    ],
)
def test_a_broken_header_is_refused(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "m").write_bytes(data)
    with pytest.raises(TensorFileError):
        TensorFile(tmp_path / "m")


@given(st.integers(0, 200), st.integers(0, 255))
def test_a_flipped_byte_never_reads_outside_the_file(
    tmp_path_factory: pytest.TempPathFactory, place: int, value: int
) -> None:
    path = write_tensors(tmp_path_factory.mktemp("flip") / "m", {"weights": ENTRY})
    data = bytearray(path.read_bytes())
    data[place % len(data)] = value
    path.write_bytes(data)
    try:
        tensor = TensorFile(path)["weights"]
    except (TensorFileError, KeyError):
        return
    assert tensor.nbytes == 24
