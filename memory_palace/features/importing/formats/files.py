"""Read the files of an export without unpacking it, and stream their JSON, of any types."""

from __future__ import annotations

import json
import os
import re
import zipfile
import zlib
from codecs import BOM_UTF8
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO, Any

import ijson

from memory_palace.errors import UsageError
from memory_palace.features.importing.items import ImportedNote, ImportReport
from memory_palace.notes.discovery import SUFFIXES

READ_ERRORS = (OSError, EOFError, zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError)
"""Errors of reading a damaged, foreign or encrypted member."""
_LIMIT_UNPACKED = 1 << 30
_LIMIT_RATIO = 200
"""A member that unpacks to more than 1 GiB, and to over 200 times its size, is a bomb. JSON packs
to a tenth."""
_LIMIT_NOTE = 16 << 20
_UNWANTED = ("__MACOSX", "node_modules")


@dataclass(frozen=True, slots=True)
class ExportFile:
    """One file of an export."""

    path: PurePosixPath
    """Below the root of the export; of a single file its name. Of a member of an archive it may
    hold `..`, and begin with `/`."""
    open: Callable[[], IO[bytes]]

    @property
    def name(self) -> str:
        return str(self.path)

    @property
    def suffix(self) -> str:
        return self.path.suffix.lower()


@contextmanager
def open_export(path: Path) -> Iterator[list[ExportFile]]:
    """Yield the files of an export, sorted by name, without links and hidden names.

    Raise ``UsageError`` for a damaged archive.
    """
    if path.is_dir():
        yield sorted(_walk(path), key=lambda file: file.name)
    elif path.suffix.lower() != ".zip":
        yield [_on_disk(path, path.name)]
    else:
        try:
            archive = zipfile.ZipFile(path)
        except READ_ERRORS as error:
            raise UsageError(f"{path} is no whole archive, perhaps cut off: {error}") from error
        with archive:
            yield sorted(_list_members(archive), key=lambda file: file.name)


def read_notes(files: Iterable[ExportFile], report: ImportReport) -> Iterator[ImportedNote]:
    """Yield each Markdown file byte for byte, identified by its path."""
    for file in files:
        if file.suffix in SUFFIXES and (data := read_whole(file, report)) is not None:
            yield ImportedNote(file.name, file.name, data)


def read_whole(file: ExportFile, report: ImportReport, limit: int = _LIMIT_NOTE) -> bytes | None:
    """Return the bytes of a file; report one that is too long or damaged."""
    try:
        with file.open() as stream:
            data = stream.read(limit + 1)
    except READ_ERRORS as error:
        report.refuse(file.name, "byte 0", f"cannot be read: {error}")
        return None
    if len(data) <= limit:
        return data
    report.refuse(file.name, "byte 0", f"is longer than {limit >> 20} MB")
    return None


def _walk(root: Path) -> Iterator[ExportFile]:
    for folder, folders, names in os.walk(root):
        folders[:] = filter(_is_wanted, folders)
        for path in map(Path(folder).joinpath, filter(_is_wanted, names)):
            if not path.is_symlink() and os.path.isfile(path):  # noqa: PTH113 - or not looked at
                yield _on_disk(path, path.relative_to(root).as_posix())


def _on_disk(path: Path, name: str) -> ExportFile:
    return ExportFile(PurePosixPath(name), lambda: path.open("rb"))


def _list_members(archive: zipfile.ZipFile) -> Iterator[ExportFile]:
    for member in archive.infolist():
        path = PurePosixPath(member.filename.replace("\\", "/"))
        if not member.is_dir() and all(map(_is_wanted, path.parts)):
            yield ExportFile(path, partial(_open_member, archive, member))


def _open_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> IO[bytes]:
    if member.file_size > max(_LIMIT_UNPACKED, member.compress_size * _LIMIT_RATIO):
        raise OSError(f"it would unpack to {member.file_size >> 20} MB")
    return archive.open(member)


def _is_wanted(name: str) -> bool:
    return name not in _UNWANTED and not name.startswith(".")


_LIMIT_LINE = 64 << 20
_MOST_LEVELS = 500
_STEPS = {"start_map": 1, "start_array": 1, "end_map": -1, "end_array": -1}
_AGAIN = "export it again and import that: what is there already is left"
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_STAMP = re.compile(r"[0-9]{9,12}(?:\.[0-9]{1,6})?")
_ROOTS = (None, "", "00000000-0000-4000-8000-000000000000")


def read_lines(file: ExportFile, report: ImportReport) -> Iterator[dict[str, Any]]:
    """Yield each line that is a JSON object; report the others."""
    number = 0
    try:
        with file.open() as stream:
            while line := stream.readline(_LIMIT_LINE):
                number += 1
                if len(line) == _LIMIT_LINE and not line.endswith(b"\n"):
                    reason = f"is longer than {_LIMIT_LINE >> 20} MB; what follows is not read"
                    report.refuse(file.name, f"line {number}", reason)
                    return
                if not line.strip():
                    continue
                try:
                    value = json.loads(line.decode("utf-8-sig", "replace"))
                except (ValueError, RecursionError) as error:
                    report.refuse(file.name, f"line {number}", f"is no JSON: {error}")
                    continue
                if isinstance(value, dict):
                    yield value
                else:
                    report.refuse(file.name, f"line {number}", "is no object")
    except READ_ERRORS as error:
        report.refuse(file.name, f"line {number + 1}", f"cannot be read on: {error}")


def read_objects(
    file: ExportFile, report: ImportReport, *, listed: re.Pattern[bytes] | None = None
) -> Iterator[dict[str, Any]]:
    """Yield each object of a JSON list, or the single object of a file.

    Of a file that begins with ``listed``, each object of the lists two levels below is yielded.
    Other values are reported; after invalid JSON the file is not read on.
    """
    count = 0
    try:
        with file.open() as stream:
            head = stream.read(64)
            is_list = head.removeprefix(BOM_UTF8).lstrip().startswith(b"[")
            is_listed = listed is not None and listed.match(head.removeprefix(BOM_UTF8)) is not None
            stream.seek(len(BOM_UTF8) if head.startswith(BOM_UTF8) else 0)
            for value in _build_values(stream, outer=3 if is_listed else int(is_list)):
                count += 1
                if isinstance(value, dict):
                    yield value
                elif not is_listed:
                    report.refuse(file.name, f"entry {count}", "is no object")
    except ijson.JSONError as error:
        cause = str(error).removeprefix("b'").split("\n")[0].split("\\n")[0].rstrip(". ")
        reason = f"is no JSON ({cause}), and the file is not read on; {_AGAIN}"
        report.refuse(file.name, f"entry {count + 1}", reason)
    except READ_ERRORS as error:
        reason = f"cannot be read on: {error}; {_AGAIN}"
        report.refuse(file.name, f"entry {count + 1}", reason)


def _build_values(stream: IO[bytes], *, outer: int) -> Iterator[object]:
    """Yield the values at nesting depth ``outer``.

    ``ijson.items`` would take gigabytes for a few thousand nested lists.
    """
    builder, depth = ijson.ObjectBuilder(), 0
    for event, value in ijson.basic_parse(stream):
        step = _STEPS.get(event, 0)
        depth += step
        if depth > _MOST_LEVELS:
            raise ijson.JSONError("it is nested too deeply")
        if depth > outer or (depth == outer and step <= 0 and event != "map_key"):
            builder.event(event, value)
            if depth == outer:
                yield builder.value
                builder = ijson.ObjectBuilder()


def mapping_of(value: Any) -> Mapping[str, Any]:
    """Return a JSON object; an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def list_of(value: Any) -> list[Any]:
    """Return a JSON array; an empty one for anything else."""
    return value if isinstance(value, list) else []


def text_of(value: Any) -> str:
    """Return a JSON string that can be written as UTF-8, free of control characters.

    Line feeds and tabs stay; a lone surrogate becomes U+FFFD. Other values give an empty text.
    """
    if not isinstance(value, str):
        return ""
    if not value.isascii():
        value = value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return _CONTROL.sub("", value.replace("\r\n", "\n").replace("\r", "\n"))


def moment_of(value: Any) -> datetime | None:
    """Parse a time, ISO 8601 or seconds of Unix (9 digits or more in a text); else ``None``.

    A time without a zone is taken for UTC.
    """
    try:
        if isinstance(value, str) and not _STAMP.fullmatch(value):
            said = datetime.fromisoformat(value.strip())
            return said if said.tzinfo else said.replace(tzinfo=UTC)
        if isinstance(value, int | float | Decimal | str) and value:
            return datetime.fromtimestamp(float(value), UTC)
    except (ValueError, OverflowError, OSError):
        pass
    return None


def find_branch(parents: Mapping[str, Any], leaf: Any) -> list[str]:
    """Return the ids from the root to a leaf; empty for a missing parent or a cycle.

    The caller then keeps all messages, so that none is lost.
    """
    branch: dict[str, None] = {}
    while leaf not in _ROOTS:
        if not isinstance(leaf, str) or leaf in branch or leaf not in parents:
            return []
        branch[leaf] = None
        leaf = parents[leaf]
    return list(reversed(branch))


def read_blocks(content: Any, kinds: Collection[str] = ("text",)) -> Iterator[str]:
    """Yield the texts of a message: a string, or a list's blocks that have one of the kinds."""
    for block in [content] if isinstance(content, str) else list_of(content):
        fields = mapping_of(block)
        if isinstance(block, str):
            yield text_of(block)
        elif text_of(fields.get("type")) in kinds:
            yield text_of(fields.get("text"))


def join_texts(texts: Iterable[str]) -> str:
    """Return texts as paragraphs, without the empty ones."""
    return "\n\n".join(text.strip() for text in texts if text.strip())


def name_attachments(values: Iterable[Any]) -> str:
    """Return one line that names attached files, without their folders."""
    given = (text_of(f.get("file_name") or f.get("name")) for f in map(mapping_of, values))
    names = [re.split(r"[/\\]", " ".join(name.split()))[-1] for name in given if name]
    return f"Attached: {', '.join(names)}" if names else ""
