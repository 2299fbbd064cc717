"""Reads a safetensors file whose digest is proved: tensors by name, mapped and never copied."""

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


def _map(path: Path) -> mmap.mmap:
    with path.open("rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


class TensorFile:
    """Tensors of a mapped file, or of the bytes of one: read-only, and loaded where touched."""

    def __init__(self, path: Path, data: bytes | None = None) -> None:
        self._bytes = _map(path) if data is None else data
        (length,) = struct.unpack("<Q", self._bytes[:8])
        self._start = 8 + length
        self._entries: dict[str, Any] = json.loads(self._bytes[8 : self._start])

    def __getitem__(self, name: str) -> Tensor:
        """Return a tensor of float32; ``KeyError`` names the one that is missing."""
        return self.read(name, "F32")

    def read(self, name: str, kind: str) -> NDArray[Any]:
        """Return a tensor of a kind that ``KINDS`` names; ``ValueError`` for another kind."""
        entry = self._entries[name]
        if entry["dtype"] != kind:
            raise ValueError(f"tensor {name} is {entry['dtype']}, not {kind}")
        first, shape = self._start + int(entry["data_offsets"][0]), entry["shape"]
        flat = np.frombuffer(self._bytes, dtype=KINDS[kind], count=prod(shape), offset=first)
        return flat.reshape(shape)
