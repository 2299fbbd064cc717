"""What a page holds, read as ``memory_palace/view/page/data.js`` reads it."""

from __future__ import annotations

import json
import zlib
from typing import Any


def from_letters(block: str) -> bytes:
    """Return the bytes of a text that has seven bits in the lower end of each letter."""
    bits = "".join(f"{ord(letter) & 127:07b}" for letter in block)
    return bytes(int(bits[at : at + 8], 2) for at in range(0, len(bits) // 8 * 8, 8))


def unpack(block: str) -> Any:
    """Return the value that a block of a page holds."""
    return json.loads(zlib.decompress(from_letters(block)))
