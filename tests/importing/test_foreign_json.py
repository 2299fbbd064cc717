"""Entries of JSON files, whole and damaged."""

import io
import json
from pathlib import PurePosixPath
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_palace.features.importing.formats import files
from memory_palace.features.importing.formats.files import ExportFile
from memory_palace.features.importing.items import ImportReport

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(codec="utf-8"), max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=8,
)
KEYS = st.text(st.characters(codec="utf-8"), max_size=4)
ENTRIES = st.lists(st.dictionaries(KEYS, VALUES, min_size=1), max_size=5)


def split(data: bytes) -> tuple[list[Any], list[str]]:
    report = ImportReport("claude", "Imports", is_applied=False)
    file = ExportFile(PurePosixPath("f.json"), lambda: io.BytesIO(data))
    values = list(files.read_objects(file, report))
    return values, [broken.position for broken in report.broken]


@settings(max_examples=25)
@given(ENTRIES, st.sampled_from([None, 1]), st.booleans())
def test_entries_come_back_as_they_were_written(
    entries: list[Any], indent: int | None, is_ascii: bool
) -> None:
    text = json.dumps(entries, indent=indent, ensure_ascii=is_ascii)
    assert split(text.encode("utf-8", "replace"))[0] == entries


def test_a_file_cut_off_anywhere_gives_the_entries_before() -> None:
    entries = [{"uuid": str(number), "name": 'a "b" [}'} for number in range(4)]
    data = json.dumps(entries).encode()
    for end in range(len(data)):
        values, broken = split(data[:end])
        assert values == entries[: len(values)]
        assert broken, end


@pytest.mark.parametrize(
    ("text", "values", "places"),
    [
        ("[]", [], []),
        ('[null, {"a": 1}, "x", [1]]', [{"a": 1}], ["entry 1", "entry 3", "entry 4"]),
        ("not JSON at all", [], ["entry 1"]),
        ('[{"a": 1}, {"b": x}, {"c": 2}]', [{"a": 1}], ["entry 2"]),
        ("[" * 100_000, [], ["entry 1"]),
        ("[" + '{"a":' * 100_000 + "1" + "}" * 100_000 + ', {"b": 2}]', [], ["entry 1"]),
        ('{"a": 1}', [{"a": 1}], []),
        ('\ufeff[{"a": 1}]', [{"a": 1}], []),
        ("", [], ["entry 1"]),
    ],
)
def test_what_is_no_object_is_named(text: str, values: list[Any], places: list[str]) -> None:
    assert split(text.encode()) == (values, places)


def test_lines_are_named_by_their_number() -> None:
    data = b'{"a": 1}\n\n[1]\nnope\n{"b": 2}\n{"c": '
    report = ImportReport("claude", "Imports", is_applied=False)
    file = ExportFile(PurePosixPath("f.jsonl"), lambda: io.BytesIO(data))
    assert list(files.read_lines(file, report)) == [{"a": 1}, {"b": 2}]
    assert [broken.position for broken in report.broken] == ["line 3", "line 4", "line 6"]
