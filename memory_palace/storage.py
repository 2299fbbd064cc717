"""The one module that writes files: atomic replacement, logs of JSON lines, the writer's lock.

After a crash a file has its old bytes or the new ones. Changes, reviews, rounds, usage and searches
are logged as JSON lines. The manifest is not: people edit it, and its damaged lines are reported
instead of skipped.
"""

from __future__ import annotations

import errno
import json
import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from glob import escape
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from typing import Any, BinaryIO, TypeVar

from memory_palace.errors import IndexLockedError, PalaceError
from memory_palace.system import BINARY, IN_USE, IS_POSIX, lock_file, read_file

TEMPORARY = ".tmp"
"""Suffix of temporary files; the next writer removes those left behind."""
_TEMPORARY_NAME = re.compile(r"(?<=.)\.(\d{1,20})\.([0-9a-f]{1,64})\.tmp\Z", re.DOTALL)
_LONGEST_STEM = 200
"""Maximum bytes of a file's name in its temporary's name, to stay within the system's limit."""
_NO_HARD_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL}
_POLL_SECONDS, _TRIES = 0.05, 40
_Logged = TypeVar("_Logged")


def write_atomic(path: Path, data: bytes, *, mode: int = 0o600) -> None:
    """Write a file atomically, replacing an existing one."""
    write_stream(path, lambda file: file.write(data), mode=mode)


def write_stream(path: Path, fill: Callable[[BinaryIO], object], *, mode: int = 0o600) -> None:
    """Write a file atomically through ``fill``; if that raises, the old bytes stay."""
    with _temporary(path.parent, path.name, mode) as (temporary, file):
        fill(file)
        _finish(file)
        _replace(temporary, path)


def _replace(source: Path, target: Path) -> None:
    """Rename a file over another one; wait for a reader of that, as Windows demands."""
    for _ in range(_TRIES):
        try:
            return os.replace(source, target)  # noqa: PTH105 - tests stop the build at this call
        except IN_USE:
            time.sleep(_POLL_SECONDS)
    return os.replace(source, target)  # noqa: PTH105


def write_new(path: Path, data: bytes, *, mode: int = 0o644) -> None:
    """Create a file atomically; raise ``FileExistsError`` if one exists.

    A hard link to the finished temporary makes the file appear complete or not at all.
    """
    with _temporary(path.parent, path.name, mode) as (temporary, file):
        file.write(data)
        _finish(file)
        link_new(temporary, path)


def link_new(old: Path, new: Path) -> None:
    """Hard-link a file to a new name; rename it where the file system has no hard links."""
    try:
        os.link(old, new)
    except OSError as error:
        if error.errno not in _NO_HARD_LINKS or new.exists():
            raise
        os.rename(old, new)  # noqa: PTH104 - tests stop at this call


def write_content(folder: Path, fill: Callable[[BinaryIO], object], name: str) -> Path:
    """Write a content-addressed file: ``{}`` in ``name`` becomes 16 hex digits of its SHA-256.

    An existing file of that name is replaced, since it may be incomplete.
    """
    with _temporary(folder, "content", 0o600) as (temporary, file):
        fill(file)
        path = folder / name.format(_digest(file))
        _finish(file)
        if IS_POSIX or not path.exists() or not is_named_by_content(path):  # or has readers
            _replace(temporary, path)
    return path


def is_named_by_content(path: Path) -> bool:
    """Whether the digest in a file's name is that of its content."""
    with naming(path), path.open("rb") as file:
        return path.stem.rpartition("-")[2] == _digest(file)


def make_ignored_folder(folder: Path, *, ignored: str = "*", mode: int = 0o777) -> None:
    """Create a folder, with ``ignored`` as its ``.gitignore`` unless it has one."""
    make_folder(folder, mode=mode)
    file = folder / ".gitignore"
    if not file.exists():
        write_atomic(file, f"{ignored}\n".encode())


def make_folder(folder: Path, *, mode: int = 0o777) -> None:
    """Create a folder and those above it durably: a file is lost with the name of its folder."""
    if not folder.is_dir():
        make_folder(folder.parent)
        folder.mkdir(mode=mode, exist_ok=True)
        sync_folder(folder.parent)


def sync_folder(folder: Path) -> None:
    """Make a rename durable; EINVAL, as some network file systems answer, is ignored."""
    if not IS_POSIX:
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
    """Remove the temporaries of interrupted writers, under the lock; a sync program's stay."""
    found = folder.glob(f".*{TEMPORARY}")
    remove_files(path for path in found if _TEMPORARY_NAME.search(path.name))


def is_abandoned(name: str) -> bool:
    """Whether a name is that of a temporary whose writing process has ended."""
    found = _TEMPORARY_NAME.search(name) if name.startswith(".") else None
    return found is not None and len(found[2]) == 8 and not _is_running(int(found[1][:9]))


def _is_running(process: int) -> bool:
    if not IS_POSIX:  # there os.kill would end the process
        return False
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


def sweep_temporaries_of(path: Path) -> None:
    """Remove the temporaries of one file that interrupted writers left beside it."""
    remove_files(path.parent.glob(f"{escape(_stem(path.name))}*{TEMPORARY}"))


def remove_files(paths: Iterable[Path]) -> None:
    """Delete files that no commit record names. Deleting is always the last step."""
    for path in paths:
        with suppress(*IN_USE):  # left to the next writer
            path.unlink(missing_ok=True)


@contextmanager
def _temporary(folder: Path, name: str, mode: int) -> Iterator[tuple[Path, BinaryIO]]:
    """Open a temporary file beside the target; remove it afterwards, unless it was renamed.

    One left by a killed process is found by ``sweep_temporaries`` through its suffix.
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
    """Add the file's name to an ``OSError`` without one, as calls on a descriptor raise it."""
    try:
        yield
    except OSError as error:
        if error.filename is None:
            error.filename = str(path)
        raise


def _stem(name: str) -> str:
    """Return the beginning of the name of a file's temporary."""
    return f".{os.fsencode(name)[:_LONGEST_STEM].decode('utf-8', 'ignore')}."


def _finish(file: BinaryIO) -> None:
    """Flush a file to the disk and close it, since Windows renames no open file."""
    file.flush()
    os.fsync(file.fileno())
    file.close()


def _digest(file: BinaryIO) -> str:
    file.seek(0)
    digest = sha256()
    while block := file.read(1 << 20):
        digest.update(block)
    return digest.hexdigest()[:16]


def write_own_record(path: Path, record: Mapping[str, object]) -> None:
    """Write a JSON object with this machine's name and the inode of the file, atomically.

    Raise ``PalaceError`` instead of replacing that of another machine.
    """
    if path.exists():
        how = "let the sync bring its end, or delete the file if that machine is gone"
        raise PalaceError(f"{path} is of another machine, whose change has not ended; {how}")

    def fill(file: BinaryIO) -> None:
        own = {"machine": _machine(), "inode": os.fstat(file.fileno()).st_ino}
        file.write(json.dumps({**record, **own}).encode())

    write_stream(path, fill)


def is_own_record(path: Path, record: Mapping[str, object]) -> bool:
    """Whether ``write_own_record`` wrote a file on this machine; true without a machine's name.

    A sync makes another file, with another inode; a restarted container has another name.
    """
    return record.get("machine") in (None, _machine()) or record.get("inode") == path.stat().st_ino


def _machine() -> str:
    import platform  # delayed: every command imports this module, and few change a note

    return platform.node()


def append_record(path: Path, record: Mapping[str, object], *, is_durable: bool = True) -> None:
    """Append a record as a line in one write, so that the lines of two processes do not mix.

    An incomplete last line is terminated first. ``is_durable=False`` skips fsync, for a record that
    may be lost in a power failure.
    """
    line = to_line(record)
    make_folder(path.parent)
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | BINARY, 0o600)
    try:
        with naming(path):
            size = os.lseek(descriptor, 0, os.SEEK_END)
            if size:
                os.lseek(descriptor, size - 1, os.SEEK_SET)
                line = line if os.read(descriptor, 1) == b"\n" else b"\n" + line
            while line:  # partial if the disk is full: the next write raises
                line = line[os.write(descriptor, line) :]
            if is_durable:
                os.fsync(descriptor)
    finally:
        os.close(descriptor)
    if is_durable:
        sync_folder(path.parent)


def to_line(record: Mapping[str, object]) -> bytes:
    """Return a record as one line of UTF-8 JSON, lone surrogates escaped."""
    text = json.dumps(record, ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8", "backslashreplace") + b"\n"


def make_room(path: Path, most_bytes: int) -> None:
    """Rotate a log that exceeds ``most_bytes`` to ``NAME.1``, replacing an earlier one."""
    if path.exists() and path.stat().st_size > most_bytes:
        _replace(path, path.with_name(f"{path.name}.1"))


def read_records(path: Path) -> Iterator[dict[str, Any]]:
    """Yield every JSON object of a log, oldest first; nothing without a file.

    An incomplete or damaged line is skipped: its writer was stopped before it reported success.
    """
    try:
        lines = read_file(path).split(b"\n")
    except FileNotFoundError:
        return
    for line in lines:
        record = parse_record(line)
        if record is not None:
            yield record


def parse_record(line: bytes) -> dict[str, Any] | None:
    """Parse a line as a JSON object; return ``None`` if it is not one."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def follow_moves(found: dict[str, list[_Logged]], moves: Iterable[tuple[str, str]]) -> None:
    """Move the logged entries of moved notes to their current paths, in place.

    ``moves`` are pairs of old and new path, oldest first.
    """
    for old, new in moves:
        if old in found:
            found[new] = [*found.get(new, ()), *found.pop(old)]


@contextmanager
def writer_lock(
    path: Path, *, wait_seconds: float = 0.0, what: str = "the index"
) -> Iterator[None]:
    """Hold the advisory lock at ``path``; raise ``IndexLockedError`` naming its holder.

    ``what`` names the locked resource in the message. The lock's folder is created, and ignored by
    git. The kernel frees the lock when its holder dies. ``filelock`` is not used: it truncates the
    file, and so the record of the holder, before it has the lock.
    """
    make_ignored_folder(path.parent, mode=0o700)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        _acquire(descriptor, path, wait_seconds, what)
        with naming(path):
            write_holder(descriptor, command=_command())
        yield
    finally:
        os.close(descriptor)


def write_holder(descriptor: int, **facts: str) -> None:
    """Record this process in a lock that it holds, with the time and some facts."""
    record = {"pid": os.getpid(), "since": time.time(), **facts}
    os.ftruncate(descriptor, 0)
    os.lseek(descriptor, 0, os.SEEK_SET)
    os.write(descriptor, json.dumps(record).encode())


def _acquire(descriptor: int, path: Path, wait_seconds: float, what: str) -> None:
    deadline = time.monotonic() + wait_seconds
    while True:
        try:
            return lock_file(descriptor)
        except OSError as error:
            if time.monotonic() >= deadline:
                raise IndexLockedError(_describe(path, what)) from error
            time.sleep(_POLL_SECONDS)


def _describe(path: Path, what: str) -> str:
    try:
        holder = json.loads(path.read_text("utf-8"))
        age = max(0.0, time.time() - float(holder["since"]))
        who = f"process {holder['pid']} ({holder['command']}) has held it for {age:.0f} s"
    except (OSError, ValueError, KeyError, TypeError):
        who = "another process has just started"
    return f"{what} is being written: {who}; try again, or wait longer with --wait SECONDS"


def _command() -> str:
    return " ".join([Path(sys.argv[0]).name, *sys.argv[1:2]]) if sys.argv else "python"
