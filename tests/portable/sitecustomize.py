"""Let the package, and nothing else, find what Python has on Windows; Python runs this at start.

Missing: modules and names of POSIX. Refused: to replace or delete a file that this process has open
or mapped. Different: a listing has no inodes, and a log needs ``O_BINARY``.
"""

import builtins
import fcntl
import os
import signal
import socket
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from types import ModuleType, SimpleNamespace

NO_MODULES = "fcntl resource pwd grp termios tty pty syslog posix _posixsubprocess".split()
NO_NAMES = """
    AF_UNIX SO_PEERCRED SIGALRM SIGHUP SIGKILL ITIMER_REAL setitimer alarm pause tzset fork setsid
    getsid getuid geteuid getgid getegid getgroups getpgid killpg pread pwrite fchown chown fchdir
    fdatasync sync mkfifo uname nice wait statvfs sendfile posix_spawn set_blocking ttyname getxattr
    O_CLOEXEC O_DIRECTORY O_NOFOLLOW O_NONBLOCK O_SYNC O_DSYNC POSIX_SPAWN_OPEN WNOHANG
""".split()
BINARY = 1 << 29  # Linux has no such flag
import_any = builtins.__import__


def refuse(call, *, if_there=False):
    def refusing(*paths, **options):
        for path in paths:
            for one in Path("/proc/self/fd").iterdir():
                with suppress(FileNotFoundError):
                    if one.samefile(path):
                        raise PermissionError(13, "used by another process", str(path))
        if if_there and os.path.lexists(paths[1]):
            raise FileExistsError(17, "exists", str(paths[1]))
        call(*paths, **options)

    return refusing


def open_binary(path, flags, mode=0o777):
    assert flags & BINARY or not flags & os.O_APPEND, "each line feed would be two bytes"
    return os.open(path, flags & ~BINARY, mode)


class Entry:
    def __init__(self, real):
        self._real = real

    def __getattr__(self, name):
        return getattr(self._real, name)

    def stat(self):
        names = ("st_mode", "st_size", "st_mtime_ns", "st_ctime_ns")
        found = {name: getattr(self._real.stat(), name) for name in names}
        return SimpleNamespace(**found, st_ino=0, st_dev=0)


@contextmanager
def scandir(folder="."):
    with os.scandir(folder) as entries:
        yield map(Entry, entries)


class Lacking(ModuleType):
    def __getattr__(self, name):
        if name in NO_NAMES:
            raise AttributeError(f"Windows has no {self.__name__}.{name}")
        return getattr(import_any(self.__name__), name)


def lock(descriptor, mode, size):
    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


MODULES = {module.__name__: Lacking(module.__name__) for module in (os, signal, socket, time)}
MODULES["msvcrt"] = SimpleNamespace(locking=lock, LK_NBLCK=2)
vars(MODULES["os"]).update(open=open_binary, scandir=scandir, O_BINARY=BINARY)


def import_module(name, scope=None, *rest, **options):
    if str((scope or {}).get("__name__")).startswith("memory_palace"):
        if name in NO_MODULES:
            raise ImportError(f"Windows has no module {name}")
        if name in MODULES:
            return MODULES[name]
    return import_any(name, scope, *rest, **options)


builtins.__import__ = import_module
os.unlink, os.replace = refuse(os.unlink), refuse(os.replace)
os.rename = refuse(os.rename, if_there=True)
