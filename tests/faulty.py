"""Make the calls that reach the disk fail, as a full disk or a missing permission would."""

import builtins
import errno
import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_APPEND
_CALLS = {
    errno.EACCES: ("open", "replace", "link", "rename", "unlink", "mkdir", "scandir", "listdir"),
    errno.EROFS: ("open", "replace", "link", "rename", "unlink", "mkdir"),
    errno.ENOSPC: ("open", "write", "pwrite", "fsync", "link", "mkdir", "replace"),
    errno.ENAMETOOLONG: ("open", "replace", "link", "rename", "mkdir"),
}
FAULTS = {errno.errorcode[number]: number for number in _CALLS}


class _Fault:
    """Refuses calls below a folder, from the ``first`` on."""

    def __init__(self, number: int, below: str, first: int) -> None:
        self.number, self.below, self.first = number, below, first
        self.failed: list[str] = []
        self._count = 0
        self._open = io.open

    def check(self, name: str, path: Any) -> None:
        if not self._is_below(path):
            return
        self._count += 1
        if self._count >= self.first:
            self.failed.append(name)
            named = () if isinstance(path, int) else (str(path),)
            raise OSError(self.number, os.strerror(self.number), *named)

    def replace(self, name: str) -> Any:
        real, reads_too = getattr(os, name), self.number == errno.EACCES

        def call(path: Any = ".", *rest: Any, **options: Any) -> Any:
            if name != "open" or reads_too or rest[0] & _WRITES:
                self.check(name, path)
            return real(path, *rest, **options)

        return call

    def open(self, path: Any, mode: str = "r", *rest: Any, **options: Any) -> Any:
        is_write = any(mark in mode for mark in "wax+")
        if is_write or (self.number == errno.EACCES and not isinstance(path, int)):
            self.check("open", path)
        return self._open(path, mode, *rest, **options)

    def _is_below(self, path: Any) -> bool:
        if isinstance(path, int):
            try:
                path = Path(f"/proc/self/fd/{path}").readlink()
            except OSError:
                return False
        return os.path.abspath(os.fsdecode(path)).startswith(self.below)  # noqa: PTH100


@contextmanager
def failing(number: int, below: Path, *, first: int = 1) -> Iterator[list[str]]:
    """Fail every call that writes below a folder, from the ``first`` on; give what failed.

    Without permission nothing below can be read either.
    """
    fault = _Fault(number, str(below), first)
    with pytest.MonkeyPatch.context() as patch:
        for name in _CALLS[number]:
            patch.setattr(os, name, fault.replace(name))
        patch.setattr(io, "open", fault.open)
        patch.setattr(builtins, "open", fault.open)
        yield fault.failed
