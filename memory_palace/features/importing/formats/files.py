"""The files of an export: a folder, a .zip, or one file; nothing is unpacked to disk."""

from __future__ import annotations

import os
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO

from memory_palace.errors import UsageError
from memory_palace.features.importing.items import ImportedNote, ImportReport
from memory_palace.notes.discovery import SUFFIXES

READ_ERRORS = (OSError, EOFError, zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError)
"""What reading a damaged, foreign or encrypted member raises."""
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
        """The path as text."""
        return str(self.path)

    @property
    def suffix(self) -> str:
        """The suffix in small letters."""
        return self.path.suffix.lower()


@contextmanager
def open_export(path: Path) -> Iterator[list[ExportFile]]:
    """Give the files of an export, sorted by name; links and hidden names are left out.

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
    """Give each Markdown file byte for byte; its path is its identity."""
    for file in files:
        if file.suffix not in SUFFIXES:
            continue
        try:
            with file.open() as stream:
                data = stream.read(_LIMIT_NOTE + 1)
        except READ_ERRORS as error:
            report.refuse(file.name, "byte 0", f"cannot be read: {error}")
            continue
        if len(data) > _LIMIT_NOTE:
            report.refuse(file.name, "byte 0", f"is longer than {_LIMIT_NOTE >> 20} MB")
        else:
            yield ImportedNote(file.name, file.name, data)


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
