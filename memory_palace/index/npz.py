"""An ordinary ``.npz`` whose members are stored on 64-byte borders, so that they map into memory.

``numpy.load`` reads it like any other, but ignores ``mmap_mode`` for archives; ``map_arrays``
maps each member itself, in about a millisecond whatever its size.
"""

from __future__ import annotations

import mmap
import re
import struct
import zipfile
from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

Array = NDArray[Any]

_LOCAL_HEADER = 30
_PADDING_ID = 0xD935  # the extra-field id that zipalign uses for the same purpose
_BORDER = 64
_HEADER = re.compile(
    rb"\{'descr': '([^']+)', 'fortran_order': False, 'shape': \(([\d, ]*)\), \}\s*"
)


def write_arrays(file: BinaryIO, members: Mapping[str, Sequence[Array]]) -> None:
    """Write each member as the concatenation of its parts, without joining them in memory.

    Parts of one member share dtype and trailing shape. The bytes depend on nothing but the
    members: names in order, no time stamps.
    """
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name, parts in members.items():
            info = zipfile.ZipInfo(f"{name}.npy", date_time=(1980, 1, 1, 0, 0, 0))
            start = file.tell() + _LOCAL_HEADER + len(info.filename.encode())
            padding = -(start + 4) % _BORDER
            info.extra = struct.pack("<HH", _PADDING_ID, padding) + bytes(padding)
            with archive.open(info, "w") as member:
                member.write(_header(parts))
                for part in parts:
                    member.write(np.ascontiguousarray(part).data)


def map_arrays(path: Path) -> dict[str, Array]:
    """Map every member read-only. Raise ``ValueError`` or ``OSError`` where that cannot be."""
    with path.open("rb") as file:
        whole = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        try:
            with zipfile.ZipFile(file) as archive:
                infos = archive.infolist()
        except (zipfile.BadZipFile, struct.error, NotImplementedError) as error:
            raise ValueError(f"{path.name} is not a whole npz: {error}") from error
        return {info.filename.removesuffix(".npy"): _member(file, whole, info) for info in infos}


def checksum(path: Path) -> int:
    """Sum a file as 64-bit words, wrapping: it sees any flipped bit, at memory speed.

    It guards readers against damage, not against an adversary; ``doctor`` compares SHA-256.
    """
    is_small = path.stat().st_size < 4096
    data: Array = np.fromfile(path, np.uint8) if is_small else np.memmap(path, np.uint8, "r")
    whole = len(data) // 8 * 8
    tail = bytes(data[whole:]).ljust(8, b"\0")
    total = int(data[:whole].view(np.uint64).sum(dtype=np.uint64))
    return (total + int.from_bytes(tail, "little") + len(data)) % (1 << 64)


def _header(parts: Sequence[Array]) -> bytes:
    first = parts[0]
    shape = (sum(len(part) for part in parts), *first.shape[1:])
    buffer = BytesIO()
    npy.write_array_header_1_0(
        buffer,
        {"descr": npy.dtype_to_descr(first.dtype), "fortran_order": False, "shape": shape},
    )
    return buffer.getvalue()


def _member(file: BinaryIO, whole: mmap.mmap, info: zipfile.ZipInfo) -> Array:
    file.seek(info.header_offset + 26)
    name_size, extra_size = struct.unpack("<HH", file.read(4))
    file.seek(info.header_offset + _LOCAL_HEADER + name_size + extra_size)
    shape, dtype = _read_header(file)
    if dtype.hasobject:
        raise ValueError(f"{info.filename} holds objects")
    count = int(np.prod(shape))
    return np.frombuffer(whole, dtype, count, file.tell()).reshape(shape)


def _read_header(file: BinaryIO) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Read what ``_header`` wrote.

    numpy parses it with ``ast``, which fails now and then in threads of Python 3.11 (SystemError,
    "AST constructor recursion depth mismatch").
    """
    if file.read(8) != b"\x93NUMPY\x01\x00":
        raise ValueError("a member is no array of the format that is written here")
    (size,) = struct.unpack("<H", file.read(2))
    match = _HEADER.fullmatch(file.read(size))
    if match is None:
        raise ValueError("a member has a header that is not written here")
    shape = tuple(int(length) for length in match[2].split(b",") if length.strip())
    return shape, np.dtype(match[1].decode())
