"""The table of replacements of a SentencePiece model: a trie in an array, and what it leads to.

The format is that of Darts-clone's double array, four bytes a unit (Yata, 2008).
"""

from __future__ import annotations

import struct
import unicodedata
from array import array
from sys import byteorder

_LONGEST_CLUSTER = 5
"""Bytes; longer ones are looked up a character at a time, as the published tokenizers do."""
_JOINERS = "\u200c\u200d\uff9e\uff9f"
"""Stand upon what is before them, and are no marks by their category."""


class CharacterMap:
    """Replaces characters, and letters together with the marks upon them."""

    def __init__(self, data: bytes) -> None:
        """Read a table as it stands in a model; raise ``ValueError`` where it is none."""
        if len(data) < 8:
            raise ValueError("the table of characters is too short")
        (size,) = struct.unpack_from("<I", data)
        if size % 4 or not 0 < size <= len(data) - 4:
            raise ValueError("the table of characters is cut off")
        self._units = array("I", data[4 : 4 + size])
        if byteorder == "big":
            self._units.byteswap()
        self._replacements = data[4 + size :]
        self._known: dict[str, str] = {}

    def normalize(self, text: str) -> str:
        """Return a text with what the table has replaced."""
        known, parts, cluster = self._known, [], ""
        for char in text:
            if not char.isascii() and _is_mark(char) and cluster and not _is_control(cluster[0]):
                cluster += char
                continue
            parts.append(cluster)
            cluster = char
        parts.append(cluster)
        for part in set(parts).difference(known):
            known[part] = self._replace(part)
        return "".join(map(known.__getitem__, parts))

    def _replace(self, cluster: str) -> str:
        if len(cluster) > 1 and len(cluster.encode("utf-8", "replace")) <= _LONGEST_CLUSTER:
            found = self._find(cluster)
            if found is not None:
                return found
        each = ((char, self._find(char)) for char in cluster)
        return "".join(char if found is None else found for char, found in each)

    def _find(self, text: str) -> str | None:
        """Return what the shortest beginning of a text that is in the trie is replaced by."""
        units, size = self._units, len(self._units)
        place = _offset(units[0])
        for byte in text.encode("utf-8", "replace"):
            place ^= byte
            if not byte or place >= size or units[place] & 0x800000FF != byte:
                return None
            is_end = units[place] >> 8 & 1
            place ^= _offset(units[place])
            if is_end and place < size:
                start = units[place] & 0x7FFFFFFF
                end = self._replacements.find(b"\0", start)
                return self._replacements[start : end if end >= 0 else None].decode()
        return None


def _offset(unit: int) -> int:
    return unit >> 10 << ((unit & 0x200) >> 6)


def _is_mark(char: str) -> bool:
    """Whether a character stands upon the one before it."""
    return char in _JOINERS or unicodedata.category(char)[0] == "M"


def _is_control(char: str) -> bool:
    """Whether nothing stands upon a character."""
    return char not in _JOINERS and unicodedata.category(char) in ("Cc", "Cf", "Zl", "Zp")
