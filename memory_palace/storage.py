"""The one module that writes files: atomic replacement, logs of JSON lines, the writer's lock.

A crash leaves the old bytes or the new ones. Changes, reviews, rounds, usage and searches are
logged a JSON object per line. The manifest is not: people edit it, and its bad lines are named
instead of skipped.
"""

from __future__ import annotations

import errno
import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from glob import escape
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from typing import Any, BinaryIO, TypeVar

from memory_palace.errors import IndexLockedError

if os.name == "nt":  # pragma: no cover - tested on Linux and macOS only
    import msvcrt

    def _try_lock(descriptor: int) -> None:
        os.lseek(descriptor, 1 << 30, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
else:
    import fcntl

    def _try_lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


TEMPORARY = ".tmp"
"""Suffix of a file that is being written; anything with it is swept by the next writer."""
_LONGEST_STEM = 200
"""Bytes of a file's name that stand in the name of its temporary, so that no name is too long."""
_POLL_SECONDS = 0.05
_Logged = TypeVar("_Logged")


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


def append_record(path: Path, record: Mapping[str, object], *, is_durable: bool = True) -> None:
    """Add one line, in one write, so that two processes do not mix theirs.

    A torn last line is ended first. ``is_durable=False`` leaves flushing to the system, for a
    record that may be lost in a power cut.
    """
    line = to_line(record)
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        with naming(path):
            size = os.lseek(descriptor, 0, os.SEEK_END)
            if size:
                os.lseek(descriptor, size - 1, os.SEEK_SET)
                line = line if os.read(descriptor, 1) == b"\n" else b"\n" + line
            while line:  # short only where the disk is full: the next write says so
                line = line[os.write(descriptor, line) :]
            if is_durable:
                os.fsync(descriptor)
    finally:
        os.close(descriptor)
    if is_durable:
        sync_folder(path.parent)


def to_line(record: Mapping[str, object]) -> bytes:
    """Return the line of a record; a lone surrogate becomes the escape that JSON has for it."""
    text = json.dumps(record, ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8", "backslashreplace") + b"\n"


def make_room(path: Path, most_bytes: int) -> None:
    """Give a log that is full the name with ``.1`` behind it, in the place of the one before."""
    if path.exists() and path.stat().st_size > most_bytes:
        path.replace(path.with_name(f"{path.name}.1"))


def read_records(path: Path) -> Iterator[dict[str, Any]]:
    """Yield every line that is a JSON object, oldest first; nothing where there is no file.

    A torn or damaged line is skipped: its writer was stopped before it could say it was done.
    """
    try:
        lines = path.read_bytes().split(b"\n")
    except FileNotFoundError:
        return
    for line in lines:
        record = parse_record(line)
        if record is not None:
            yield record


def parse_record(line: bytes) -> dict[str, Any] | None:
    """Return the JSON object that a line is, ``None`` where it is none."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def follow_moves(found: dict[str, list[_Logged]], moves: Iterable[tuple[str, str]]) -> None:
    """Give what is logged of a note to its present path, in place.

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

    ``what`` is what the lock protects, for the message. The folder of the lock is made, and git
    ignores what is in it. The kernel frees the lock when its holder dies. ``filelock`` is not
    used: it truncates the file, and with it the record of the holder, before it has the lock.
    """
    make_ignored_folder(path.parent, mode=0o700)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        _acquire(descriptor, path, wait_seconds, what)
        record = json.dumps({"pid": os.getpid(), "since": time.time(), "command": _command()})
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, record.encode(), 0)
        yield
    finally:
        os.close(descriptor)


def _acquire(descriptor: int, path: Path, wait_seconds: float, what: str) -> None:
    deadline = time.monotonic() + wait_seconds
    while True:
        try:
            return _try_lock(descriptor)
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
