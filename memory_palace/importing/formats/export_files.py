"""The files of an export: a folder, a .zip, or one file; nothing is unpacked to disk."""

from __future__ import annotations

import os
import stat
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO

from memory_palace.importing.items import Broken, ReadReport

READ_ERRORS = (OSError, EOFError, zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError)
"""What reading a damaged, foreign or encrypted member raises."""
_LIMIT_UNPACKED = 1 << 30
_LIMIT_RATIO = 200
"""A member that unpacks to more than 1 GiB, and to over 200 times its size, is a bomb. JSON packs
to a tenth."""
_MOST_BROKEN = 10_000
_UNWANTED = frozenset(("__MACOSX", "node_modules"))


@dataclass(frozen=True, slots=True)
class ExportFile:
    """One file of an export."""

    name: str
    """POSIX path under the root of the export; of a single file its name."""
    size: int
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


@contextmanager
def open_export(
    path: Path, report: ReadReport, *, hidden: bool = False
) -> Iterator[list[ExportFile]]:
    """Give the files of an export, sorted by name; archives in a folder are looked into, once.

    A link that leaves the folder, a name that leaves the archive, and what is no ordinary file are
    left out and reported; so are hidden names, silently, without ``hidden``.
    """
    with ExitStack() as stack:
        if path.is_dir():
            found = list(_walk(path, report, hidden=hidden))
            archives = [file for file in found if file.name.lower().endswith(".zip")]
            files = [file for file in found if file not in archives]
            for file in archives:
                files += _members(path / file.name, f"{file.name}/", report, stack)
        elif is_archive(path):
            files = list(_members(path, "", report, stack))
        else:
            files = [_on_disk(path, path.name, path.stat())]
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


def is_archive(path: Path) -> bool:
    """Whether a file begins as a .zip does."""
    with path.open("rb") as stream:
        return stream.read(4) in (b"PK\x03\x04", b"PK\x05\x06")


def _walk(root: Path, report: ReadReport, *, hidden: bool) -> Iterator[ExportFile]:
    home = os.path.realpath(root)
    for folder, folders, names in os.walk(root, followlinks=False):
        folders[:] = [name for name in folders if _is_wanted(name, hidden=hidden)]
        for name in names + [name for name in folders if (Path(folder) / name).is_symlink()]:
            path = Path(folder) / name
            shown = path.relative_to(root).as_posix()
            if not _is_wanted(name, hidden=hidden):
                continue
            real = os.path.realpath(path)
            if path.is_symlink() and os.path.commonpath((home, real)) != home:
                report_broken(report, shown, "byte 0", "is a link out of the folder; not followed")
                continue
            try:
                status = path.stat()
            except OSError as error:
                report_broken(report, shown, "byte 0", f"cannot be read: {error.strerror}")
                continue
            if stat.S_ISREG(status.st_mode):
                yield _on_disk(path, shown, status)


def _is_wanted(name: str, *, hidden: bool) -> bool:
    return name not in _UNWANTED and (hidden or not name.startswith("."))


def _on_disk(path: Path, name: str, status: os.stat_result) -> ExportFile:
    return ExportFile(name, status.st_size, lambda: path.open("rb"))


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
        if info.is_dir() or not all(
            _is_wanted(part, hidden=False) for part in parts if part != ".."
        ):
            continue
        if reason := _refuse(info, parts):
            report_broken(report, f"{prefix}{name}", "byte 0", reason)
            continue
        yield ExportFile(f"{prefix}{name}", info.file_size, _opener(archive, info))


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


def _opener(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Callable[[], IO[bytes]]:
    return lambda: archive.open(info)
