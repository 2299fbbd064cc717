from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("psycopg", reason="needs the extra [postgres]")

pytestmark = pytest.mark.postgres

SERVE = """
import sys
sys.path.insert(0, sys.argv[1])
from store.serving import Server
server = Server()
print(server.folder, server.pid, server.keeper.pid, flush=True)
sys.stdin.read()
"""


def test_the_server_is_real_and_listens_on_a_socket_alone(database):
    with database.connect() as connection:
        found = connection.execute("SHOW listen_addresses").fetchone()
        assert found == ("",)
        distance = connection.execute("SELECT '[1,2]'::vector <#> '[3,4]'").fetchone()
    assert distance == (-11.0,)


def test_a_test_connects_as_an_ordinary_role(database):
    bob = database.make_role("bob")
    for role in (bob, "keeper"):
        with database.connect(role) as connection:
            found = connection.execute(
                "SELECT rolsuper, rolbypassrls FROM pg_roles WHERE rolname = current_user"
            ).fetchone()
        assert found == (False, False)


def test_what_one_test_writes_no_other_finds(server, database):
    from store.serving import Database

    with database.connect() as connection:
        connection.execute("CREATE TABLE mine ()")
    other = Database(server)
    try:
        with other.connect() as connection:
            assert connection.execute("SELECT to_regclass('mine')").fetchone() == (None,)
    finally:
        other.close()


@pytest.mark.usefixtures("server")
@pytest.mark.parametrize("killed", ["starter", "keeper"])
def test_the_server_ends_with_whoever_started_it(killed):
    starter = subprocess.Popen(
        [sys.executable, "-c", SERVE, Path(__file__).parents[1]],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    folder, *processes = starter.stdout.readline().split()
    server, keeper = map(int, processes)
    ends = [os.pidfd_open(process) for process in (server, keeper)]
    os.kill(starter.pid if killed == "starter" else keeper, signal.SIGKILL)
    for end in ends:
        wait_for(end)
    starter.kill()
    starter.communicate()
    assert killed == "keeper" or not Path(folder).exists()
    subprocess.run(["rm", "-rf", folder], check=True)


def wait_for(process: int) -> None:
    """Wait until a process that is no child of this one has ended."""
    assert select.select([process], [], [], 30)[0], "it is still there"
    os.close(process)


@pytest.mark.usefixtures("server")
def test_a_server_that_was_killed_starts_again():
    from store.serving import Server

    own = Server()
    try:
        with own.connect() as connection:
            connection.execute("CREATE TABLE kept AS SELECT 7 AS number")
        own.crash()
        own.start()
        with own.connect() as connection:
            assert connection.execute("SELECT number FROM kept").fetchone() == (7,)
    finally:
        own.stop()
    assert not own.folder.exists()
