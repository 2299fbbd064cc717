"""Reads a safetensors file: tensors by name, mapped and never copied."""

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

KINDS = {"F32": "<f4", "I32": "<i4", "U8": "u1"}
"""Numbers that are read, by the format's name of them."""
MAX_HEADER_BYTES = 100_000_000
"""The limit of the safetensors format's own reader."""


class TensorFileError(ValueError):
    """A safetensors file does not follow the format, or holds numbers of another kind."""


def _map(path: Path) -> mmap.mmap:
    with path.open("rb") as file:
        try:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except ValueError as error:  # an empty file cannot be mapped
            raise TensorFileError(f"{path} is empty") from error


class TensorFile:
    """Tensors of a mapped safetensors file, or of the bytes of one, by name.

    They are read-only views: only touched pages are ever loaded.
    """

    def __init__(self, path: Path, data: bytes | None = None) -> None:
        self._path = path
        self._bytes = _map(path) if data is None else data
        self._start, self._entries = self._read_header()

    def __getitem__(self, name: str) -> Tensor:
        """Return a tensor of float32; ``KeyError`` names the one that is missing."""
        return self.read(name, "F32")

    def read(self, name: str, kind: str) -> NDArray[Any]:
        """Return a tensor of a kind that ``KINDS`` names."""
        if not self._is_valid(name, kind):
            raise TensorFileError(f"{self._path}: tensor {name} is not {kind} within the file")
        entry = self._entries[name]
        first, shape = self._start + int(entry["data_offsets"][0]), entry["shape"]
        flat = np.frombuffer(self._bytes, dtype=KINDS[kind], count=prod(shape), offset=first)
        return flat.reshape(shape)

    def _is_valid(self, name: str, kind: str) -> bool:
        """Whether a tensor is of a kind and lies within the file."""
        entry = self._entries[name]
        try:
            (first, last), shape = entry["data_offsets"], entry["shape"]
            return bool(
                entry["dtype"] == kind
                and all(type(number) is int and number >= 0 for number in (first, last, *shape))
                and last <= len(self._bytes) - self._start
                and last - first == np.dtype(KINDS[kind]).itemsize * prod(shape)
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
