"""Memory-mapped tensors of a safetensors file, without the library of that name."""

from __future__ import annotations

import json
import mmap
import struct
from math import prod
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Tensor: TypeAlias = NDArray[np.float32]

MAX_HEADER_BYTES = 100_000_000
"""The limit of the format's own reader."""


class TensorFileError(ValueError):
    """The file does not follow the format, or holds something else than float32."""


class TensorFile:
    """Float32 tensors by name. They are read-only views: only touched pages are ever loaded."""

    def __init__(self, path: Path) -> None:
        with path.open("rb") as file:
            try:
                self._bytes = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            except ValueError as error:  # an empty file cannot be mapped
                raise TensorFileError(f"{path} is empty") from error
        self._path = path
        self._start, self._entries = self._read_header()

    def __getitem__(self, name: str) -> Tensor:
        """Return a tensor; ``KeyError`` names the one that is missing."""
        if not self._is_valid(name):
            raise TensorFileError(f"{self._path}: tensor {name} is not float32 within the file")
        first, shape = self.offset(name), self._entries[name]["shape"]
        flat = np.frombuffer(self._bytes, dtype="<f4", count=prod(shape), offset=first)
        return flat.reshape(shape)

    def offset(self, name: str) -> int:
        """Return where a tensor starts, counted from the start of the file."""
        return self._start + int(self._entries[name]["data_offsets"][0])

    def _is_valid(self, name: str) -> bool:
        """Whether a tensor is float32 and lies within the file."""
        entry = self._entries[name]
        try:
            (first, last), shape = entry["data_offsets"], entry["shape"]
            return bool(
                entry["dtype"] == "F32"
                and all(type(number) is int and number >= 0 for number in (first, last, *shape))
                and last <= len(self._bytes) - self._start
                and last - first == 4 * prod(shape)
            )
        except (KeyError, TypeError, ValueError):
            return False

    def _read_header(self) -> tuple[int, dict[str, Any]]:
        if len(self._bytes) < 8:
            raise TensorFileError(f"{self._path} is too short for a header")
        (length,) = struct.unpack("<Q", self._bytes[:8])
        if length > min(len(self._bytes) - 8, MAX_HEADER_BYTES):
            raise TensorFileError(f"{self._path}: the header reaches past the end of the file")
        try:
            header = json.loads(self._bytes[8 : 8 + length])
        except ValueError as error:
            raise TensorFileError(f"{self._path}: the header is not JSON") from error
        if not isinstance(header, dict):
            raise TensorFileError(f"{self._path}: the header is not an object")
        return 8 + length, header
