"""Decode the bytes of a note into text whose lines end in line feeds."""

from __future__ import annotations

import codecs
import re

from memory_palace.models import Problem

_LINE_END = re.compile(r"\r\n?")


def decode_note(data: bytes, path: str) -> tuple[str, tuple[Problem, ...]]:
    """Decode UTF-8 (with or without BOM) or UTF-16; take anything else for Windows-1252.

    NUL bytes become spaces. Lines are counted as an editor shows them: a carriage return, a line
    feed, or one after the other ends a line.
    """
    problems: list[Problem] = []
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        text = data.decode("utf-16", "replace")
        problems.append(Problem(path, None, "encoding", "is UTF-16; save it as UTF-8"))
    else:
        text = _decode_bytes(data, path, problems)
    if "\0" in text:
        line = 1 + text.count("\n", 0, text.index("\0"))
        message = "contains NUL bytes; they are read as spaces"
        problems.append(Problem(path, line, "encoding", message))
        text = text.replace("\0", " ")
    return (_LINE_END.sub("\n", text) if "\r" in text else text), tuple(problems)


def _decode_bytes(data: bytes, path: str, problems: list[Problem]) -> str:
    try:
        return data.removeprefix(codecs.BOM_UTF8).decode()
    except UnicodeDecodeError as error:
        line = 1 + data.count(b"\n", 0, error.start)
        message = "is not UTF-8 from here on and is read as Windows-1252; save it as UTF-8"
        problems.append(Problem(path, line, "encoding", message))
        return data.decode("cp1252", "replace")
