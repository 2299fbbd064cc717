"""The one module that writes files: a crash leaves the old bytes or the new ones."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from glob import escape
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from typing import BinaryIO

TEMPORARY = ".tmp"
"""Suffix of a file that is being written; anything with it is swept by the next writer."""
_LONGEST_STEM = 200
"""Bytes of a file's name that stand in the name of its temporary, so that no name is too long."""


def write_atomic(path: Path, data: bytes, *, mode: int = 0o600) -> None:
    """Replace ``path`` by ``data``."""
    write_stream(path, lambda file: file.write(data), mode=mode)


def write_stream(path: Path, fill: Callable[[BinaryIO], object], *, mode: int = 0o600) -> None:
    """Replace ``path`` by what ``fill`` writes; where it raises, the old bytes stay."""
    with _temporary(path.parent, path.name, mode) as (temporary, file):
        fill(file)
        _flush(file)
        os.replace(temporary, path)  # noqa: PTH105 - tests stop the build at this call


def write_new(path: Path, data: bytes, *, mode: int = 0o644) -> None:
    """Create a file that must not exist yet; ``FileExistsError`` leaves the other untouched.

    Linking a whole temporary to the name makes the file appear complete or not at all.
    """
    with _temporary(path.parent, path.name, mode) as (temporary, file):
        file.write(data)
        _flush(file)
        os.link(temporary, path)


def write_content(folder: Path, fill: Callable[[BinaryIO], object], name: str) -> Path:
    """Write a file that is named by its content: ``name`` has ``{}`` for 16 hex digits of SHA-256.

    A file of that name already there is replaced: that it exists does not prove that it is whole.
    """
    with _temporary(folder, "content", 0o600) as (temporary, file):
        fill(file)
        _flush(file)
        path = folder / name.format(_digest(file))
        os.replace(temporary, path)  # noqa: PTH105 - tests stop the build at this call
    return path


def is_named_by_content(path: Path) -> bool:
    """Whether a file's SHA-256 is the one in its name."""
    with naming(path), path.open("rb") as file:
        return path.stem.rpartition("-")[2] == _digest(file)


def make_ignored_folder(folder: Path, *, ignored: str = "*", mode: int = 0o777) -> None:
    """Make a folder, with a ``.gitignore`` of these lines unless it has one."""
    folder.mkdir(parents=True, exist_ok=True, mode=mode)
    file = folder / ".gitignore"
    if not file.exists():
        write_atomic(file, f"{ignored}\n".encode())


def sync_folder(folder: Path) -> None:
    """Make a rename durable. Some network file systems refuse with EINVAL, which is fine."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with naming(folder):
            os.fsync(descriptor)
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise
    finally:
        os.close(descriptor)


def sweep_temporaries(folder: Path) -> None:
    """Remove what interrupted writers left. Call it only while holding the lock."""
    remove_files(folder.glob(f".*{TEMPORARY}"))


def is_abandoned(name: str) -> bool:
    """Whether a name is that of a temporary of ours whose writer has ended."""
    *_, process, token, suffix = f"...{name}".rsplit(".", 3)
    is_ours = f".{suffix}" == TEMPORARY and len(token) == 8 and process.isdecimal()
    return is_ours and name.startswith(".") and not _is_running(int(process[:9]))


def _is_running(process: int) -> bool:
    if os.name == "nt":  # signal 0 would end it
        return False
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


def sweep_temporaries_of(path: Path) -> None:
    """Remove what interrupted writers of one file left beside it."""
    remove_files(path.parent.glob(f"{escape(_stem(path.name))}*{TEMPORARY}"))


def remove_files(paths: Iterable[Path]) -> None:
    """Delete files that no commit record names. Deleting is always the last step."""
    for path in paths:
        path.unlink(missing_ok=True)


@contextmanager
def _temporary(folder: Path, name: str, mode: int) -> Iterator[tuple[Path, BinaryIO]]:
    """Open a new file beside the target; it is gone afterwards, unless it was renamed.

    A process that dies leaves one that ``sweep_temporaries`` finds by its suffix.
    """
    temporary = folder / f"{_stem(name)}{os.getpid()}.{token_hex(4)}{TEMPORARY}"
    descriptor = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL, mode)
    try:
        with naming(folder / name), os.fdopen(descriptor, "w+b") as file:
            yield temporary, file
    finally:
        temporary.unlink(missing_ok=True)
    sync_folder(folder)


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Name the file in an ``OSError`` that a call on a descriptor raises without one."""
    try:
        yield
    except OSError as error:
        if error.filename is None:
            error.filename = str(path)
        raise


def _stem(name: str) -> str:
    """Return what the name of a file's temporary begins with."""
    return f".{os.fsencode(name)[:_LONGEST_STEM].decode('utf-8', 'ignore')}."


def _flush(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())


def _digest(file: BinaryIO) -> str:
    file.seek(0)
    digest = sha256()
    while block := file.read(1 << 20):
        digest.update(block)
    return digest.hexdigest()[:16]
