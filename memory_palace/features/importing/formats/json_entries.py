"""Stream the entries of a JSON file: nothing of it is held but the entry that is read."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from typing import IO, Any

import ijson

from memory_palace.features.importing.formats.files import READ_ERRORS, ExportFile, report_broken
from memory_palace.features.importing.items import ReadReport

_LIMIT_LINE = 64 << 20
_MOST_LEVELS = 500
_HEAD_BYTES = 1024
_BOM = b"\xef\xbb\xbf"
_WRAPPED = re.compile(rb'\{\s*"(?:conversations|chats|data|items)"\s*:\s*\[')
_STEPS = {"start_map": 1, "start_array": 1, "end_map": -1, "end_array": -1}
_AGAIN = "export it again and import that: what is there already is left"


def read_lines(file: ExportFile, report: ReadReport) -> Iterator[tuple[int, dict[str, Any]]]:
    """Give each line that is a JSON object, with its number; report the others."""
    number = 0
    try:
        with file.open() as stream:
            while line := stream.readline(_LIMIT_LINE):
                number += 1
                if len(line) >= _LIMIT_LINE and not line.endswith(b"\n"):
                    reason = f"is longer than {_LIMIT_LINE >> 20} MB; what follows is not read"
                    report_broken(report, file.name, f"line {number}", reason)
                    return
                if line.strip():
                    value, reason = _parse(line.decode("utf-8-sig", "replace"))
                    if value is not None:
                        yield number, value
                    else:
                        report_broken(report, file.name, f"line {number}", reason)
    except READ_ERRORS as error:
        report_broken(report, file.name, f"line {number + 1}", f"cannot be read on: {error}")


def _parse(text: str) -> tuple[dict[str, Any] | None, str]:
    try:
        value = json.loads(text)
    except ValueError as error:
        return None, f"is no JSON: {error}"
    except RecursionError:
        return None, "is nested too deeply"
    return (value, "") if isinstance(value, dict) else (None, "is no object")


def read_objects(
    file: ExportFile, report: ReadReport, left_out: frozenset[str] = frozenset()
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Give each object of a list, or one after another, with its position, "entry 4".

    The list may stand in an object, as ``{"conversations": [...]}``. Values of the keys in
    ``left_out`` are skipped wherever they stand. What is no object is reported; where the file is
    no JSON any more it is not read on.
    """
    count = 0
    try:
        with file.open() as stream:
            head = stream.read(_HEAD_BYTES)
            stream.seek(len(_BOM) if head.startswith(_BOM) else 0)
            head = head.removeprefix(_BOM).lstrip()
            outer = 2 if _WRAPPED.match(head) else int(head.startswith(b"["))
            for value in _build(stream, outer, left_out) if head else ():
                count += 1
                if isinstance(value, dict):
                    yield f"entry {count}", value
                else:
                    report_broken(report, file.name, f"entry {count}", "is no object")
    except ijson.JSONError as error:
        cause = str(error).removeprefix("b'").split("\n")[0].split("\\n")[0].rstrip(". ")
        reason = f"is no JSON ({cause}), and the file is not read on; {_AGAIN}"
        report_broken(report, file.name, f"entry {count + 1}", reason)
    except READ_ERRORS as error:
        reason = f"cannot be read on: {error}; {_AGAIN}"
        report_broken(report, file.name, f"entry {count + 1}", reason)


def _build(stream: IO[bytes], outer: int, left_out: frozenset[str]) -> Iterator[object]:
    """Give the values that stand inside ``outer`` open lists and objects."""
    builder = ijson.ObjectBuilder()
    depth, skipped, is_skipped = 0, 0, False
    for event, value in ijson.basic_parse(stream, multiple_values=True):
        step = _STEPS.get(event, 0)
        if skipped or is_skipped:
            skipped += step
            is_skipped = False
            continue
        if event == "map_key":
            is_skipped = value in left_out
            if depth > outer and not is_skipped:
                builder.event(event, sys.intern(value))
            continue
        depth += step
        if depth > _MOST_LEVELS:
            raise ijson.JSONError("it is nested too deeply")
        if depth < outer and step < 0:
            return
        if depth > outer or step <= 0:
            builder.event(event, value)
            if depth == outer:
                yield builder.value
                builder = ijson.ObjectBuilder()
