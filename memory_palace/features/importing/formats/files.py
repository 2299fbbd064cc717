"""The files of an export: a folder, a .zip, or one file; nothing is unpacked to disk."""

from __future__ import annotations

import os
import stat
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO, Any

from memory_palace.features.importing.items import Broken, ImportedNote, ReadReport
from memory_palace.language.visible import visible

READ_ERRORS = (OSError, EOFError, zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError)
"""What reading a damaged, foreign or encrypted member raises."""
_LIMIT_UNPACKED = 1 << 30
_LIMIT_RATIO = 200
"""A member that unpacks to more than 1 GiB, and to over 200 times its size, is a bomb. JSON packs
to a tenth."""
_MOST_BROKEN = 10_000
SUFFIXES = (".md", ".markdown")
_LIMIT_NOTE = 16 << 20
_UNWANTED = frozenset(("__MACOSX", "node_modules"))


@dataclass(frozen=True, slots=True)
class ExportFile:
    """One file of an export."""

    name: str
    """POSIX path under the root of the export; of a single file its name."""
    open: Callable[[], IO[bytes]]

    @property
    def path(self) -> PurePosixPath:
        """The name in its parts."""
        return PurePosixPath(self.name)


def report_broken(report: ReadReport, file: str, position: str, reason: str) -> None:
    """Name an entry that could not be read; past ten thousand they are only counted."""
    if len(report.broken) < _MOST_BROKEN:
        report.broken.append(Broken(file, position, reason))
    else:
        report.dropped["broken"] += 1


def report_foreign(
    report: ReadReport, file: ExportFile, position: str, entry: Mapping[str, Any]
) -> None:
    """Name an entry that is none of the export, with its first keys."""
    known = ", ".join(sorted(visible(key) for key in entry)[:4]) or "nothing"
    report_broken(report, file.name, position, f"is no conversation: it has {known[:80]}")


@contextmanager
def open_export(path: Path, report: ReadReport) -> Iterator[list[ExportFile]]:
    """Give the files of an export, sorted by name; archives in a folder are looked into, once.

    A link that leaves the folder, a name that leaves the archive, and what is no ordinary file are
    left out and reported; hidden names are left out.
    """
    with ExitStack() as stack:
        if path.is_dir():
            found = list(_walk(path, report))
            archives = [file for file in found if file.name.lower().endswith(".zip")]
            files = [file for file in found if file not in archives]
            for file in archives:
                files += _members(path / file.name, f"{file.name}/", report, stack)
        elif is_archive(path):
            files = list(_members(path, "", report, stack))
        else:
            files = [_on_disk(path, path.name)]
        yield sorted(files, key=lambda file: file.name)


def read_whole(file: ExportFile, report: ReadReport, *, limit_bytes: int) -> bytes | None:
    """Return all of a small file; ``None``, reported, where it cannot be read or is longer."""
    try:
        with file.open() as stream:
            data = stream.read(limit_bytes + 1)
    except READ_ERRORS as error:
        report_broken(report, file.name, "byte 0", f"cannot be read: {error}")
        return None
    if len(data) > limit_bytes:
        report_broken(report, file.name, "byte 0", f"is longer than {limit_bytes >> 20} MB")
        return None
    return data


def read_notes(files: Iterable[ExportFile], report: ReadReport) -> Iterator[ImportedNote]:
    """Give each Markdown file byte for byte; its path is its identity, and it has no date.

    What holds a zero byte is no text, and reported.
    """
    for file in files:
        if file.path.suffix.lower() not in SUFFIXES:
            report.dropped["attachment"] += 1
            continue
        data = read_whole(file, report, limit_bytes=_LIMIT_NOTE)
        if data is not None and b"\0" in data[:8192]:
            report_broken(report, file.name, "byte 0", "is no text")
        elif data is not None:
            yield ImportedNote(file.name, file.name, file.path.stem, data)


def is_archive(path: Path) -> bool:
    """Whether a file begins as a .zip does."""
    with path.open("rb") as stream:
        return stream.read(4) in (b"PK\x03\x04", b"PK\x05\x06")


def _walk(root: Path, report: ReadReport) -> Iterator[ExportFile]:
    home = os.path.realpath(root)
    for folder, folders, names in os.walk(root, followlinks=False):
        folders[:] = filter(_is_wanted, folders)
        for name in names + [name for name in folders if (Path(folder) / name).is_symlink()]:
            path = Path(folder) / name
            shown = path.relative_to(root).as_posix()
            if not _is_wanted(name):
                continue
            if path.is_symlink() and os.path.commonpath((home, os.path.realpath(path))) != home:
                report_broken(report, shown, "byte 0", "is a link out of the folder; not followed")
            elif os.path.isfile(path):  # noqa: PTH113 - one that may not be looked at is none
                yield _on_disk(path, shown)


def _is_wanted(name: str) -> bool:
    return name not in _UNWANTED and (name == ".." or not name.startswith("."))


def _on_disk(path: Path, name: str) -> ExportFile:
    return ExportFile(name, lambda: path.open("rb"))


def _members(path: Path, prefix: str, report: ReadReport, stack: ExitStack) -> Iterator[ExportFile]:
    try:
        archive = stack.enter_context(zipfile.ZipFile(path))
    except READ_ERRORS as error:
        reason = f"is no whole archive, perhaps cut off: {error}"
        report_broken(report, path.name, "byte 0", reason)
        return
    for info in archive.infolist():
        name = info.filename.replace("\\", "/")
        parts = PurePosixPath(name).parts
        if info.is_dir() or not all(map(_is_wanted, parts)):
            continue
        if reason := _refuse(info, parts):
            report_broken(report, f"{prefix}{name}", "byte 0", reason)
            continue
        yield ExportFile(f"{prefix}{name}", partial(archive.open, info))


def _refuse(info: zipfile.ZipInfo, parts: tuple[str, ...]) -> str:
    if not parts or ".." in parts or parts[0].startswith("/") or parts[0].endswith(":"):
        return "its name leaves the archive; it is not read"
    if stat.S_ISLNK(info.external_attr >> 16):
        return "is a link; it is not followed"
    if info.flag_bits & 1:
        return "is encrypted"
    if info.file_size > max(_LIMIT_UNPACKED, info.compress_size * _LIMIT_RATIO):
        return f"would unpack to {info.file_size >> 20} MB; it is not read"
    return ""
