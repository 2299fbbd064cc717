"""Entries of long JSON files, whole and damaged."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_palace.importing.formats import splitting
from memory_palace.importing.formats.export_files import ExportFile
from memory_palace.importing.items import ReadReport

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=8,
)
ENTRIES = st.lists(st.dictionaries(st.text(max_size=4), VALUES, min_size=1), max_size=5)


def split(data: bytes) -> tuple[list[Any], list[tuple[str, str]]]:
    report = ReadReport()
    file = ExportFile("f.json", len(data), lambda: io.BytesIO(data))
    values = [value for _, value in splitting.read_objects(file, report)]
    return values, [(broken.position, broken.reason) for broken in report.broken]


@pytest.fixture(params=[1, 7, 1 << 18])
def chunk(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(splitting, "_CHUNK", request.param)
    return int(request.param)


@settings(max_examples=60)
@given(ENTRIES, st.sampled_from([None, 1]), st.booleans(), st.integers(1, 40))
def test_entries_come_back_as_they_were_written(
    entries: list[Any], indent: int | None, is_ascii: bool, size: int
) -> None:
    before, splitting._CHUNK = splitting._CHUNK, size  # a fixture would last for all examples
    try:
        text = json.dumps(entries, indent=indent, ensure_ascii=is_ascii)
        data = text.encode("utf-8", "surrogatepass")
        assert split(data)[0] == json.loads(data.decode("utf-8", "replace"))
        lines = "".join(json.dumps(entry) + "\n" for entry in entries).encode()
        assert split(lines) == (json.loads(json.dumps(entries)), [])
    finally:
        splitting._CHUNK = before


def test_a_file_cut_off_anywhere_gives_the_entries_before(chunk: int) -> None:
    entries = [{"uuid": str(number), "name": 'a "b" [}'} for number in range(4)]
    data = json.dumps(entries).encode()
    for end in range(len(data)):
        values, broken = split(data[:end])
        assert values == entries[: len(values)]
        assert broken or end == 0, end


def test_a_broken_entry_is_named_and_the_rest_is_read(chunk: int) -> None:
    good = [{"uuid": str(number), "name": "x"} for number in range(3)]
    texts = [json.dumps(entry) for entry in good]
    for damage in (
        '{"uuid": "9", "name": x}',
        '{"uuid": "9", "name": "lost}',
        '{"uuid": "9", "name": "y"]}',
    ):
        data = f"[{texts[0]}, {damage}, {texts[1]}, {texts[2]}]".encode()
        values, broken = split(data)
        assert values in (good, [good[0], good[2]]), damage
        assert broken[0][0] == "entry 2"


@pytest.mark.parametrize(
    ("text", "values", "places"),
    [
        ("", [], []),
        ("[]", [], []),
        ('[null, {"a": 1}, "x", [1]]', [{"a": 1}], ["entry 1", "entry 3", "entry 4"]),
        ("not JSON at all", [], ["entry 1"]),
        ("[" * 100_000, [], ["entry 1"]),
        ("[" + '{"a":' * 100_000 + "1" + "}" * 100_000 + ', {"b": 2}]', [{"b": 2}], ["entry 1"]),
        ('\ufeff[{"a": 1}]', [{"a": 1}], []),
    ],
)
def test_what_is_no_object_is_named(text: str, values: list[Any], places: list[str]) -> None:
    found, broken = split(text.encode())
    assert found == values
    assert [position for position, _ in broken] == places


def test_a_wrapped_list_is_read_as_the_list() -> None:
    text = b'{"conversations": [{"a": 1}, {"a": 2}], "version": {"x": [{}]}}'
    assert split(text) == ([{"a": 1}, {"a": 2}], [])


def test_an_entry_too_long_is_passed_over(monkeypatch: pytest.MonkeyPatch, chunk: int) -> None:
    monkeypatch.setattr(splitting, "_LIMIT_ENTRY", 100)
    monkeypatch.setattr(splitting, "_SUSPICIOUS", 50)
    long = {"uuid": "1", "name": 'very "long" ' * 40}
    data = json.dumps([{"uuid": "0", "name": "a"}, long, {"uuid": "2", "name": "c"}]).encode()
    values, broken = split(data)
    if chunk < 100:
        assert [value["uuid"] for value in values] == ["0", "2"]
        assert [position for position, _ in broken] == ["entry 2"]
    else:
        assert len(values) == 3  # whole in one chunk, it takes no more memory


def test_lines_are_named_by_their_number_and_a_torn_last_one_is_said() -> None:
    data = b'{"a": 1}\n\n[1]\nnope\n{"b": 2}\n{"c": '
    report = ReadReport()
    file = ExportFile("f.jsonl", len(data), lambda: io.BytesIO(data))
    assert list(splitting.read_lines(file, report)) == [(1, {"a": 1}), (5, {"b": 2})]
    assert [broken.position for broken in report.broken] == ["line 3", "line 4", "line 6"]
    assert report.broken[-1].reason == "the file ends in the middle of this line"
