"""Whatever is wrong with a store is one line that names it and says what to type."""

import socket
import sys
from dataclasses import replace

import pytest
from psycopg import sql

from memory_palace.cli.registry import Address, read_address
from memory_palace.errors import IndexMissingError, StoreError, UsageError
from memory_palace.features.store import connecting
from memory_palace.features.store.connecting import (
    asking,
    connect,
    find_palace,
    make_palace,
    make_store,
    open_store,
)

PASSWORD = "open sesame"


def fail(url: str, kind: type[Exception] = StoreError) -> str:
    """Return what is said of an address that cannot be used."""
    with pytest.raises(kind) as caught:
        connect(read_address(url), purpose="test").close()
    said = str(caught.value)
    assert len(said.splitlines()) == 1
    assert "sesame" not in said
    return said


def test_a_server_that_is_not_there(tmp_path):
    said = fail(f"postgresql://anna@/notes?host={tmp_path}")
    assert "No such file" in said and "`pg_isready` with this address, up to the #" in said
    assert "Connection refused" in fail("postgresql://anna:sesame@127.0.0.1:1/notes#hut")


def test_a_role_or_database_that_is_not_there(database):
    said = fail(database.url("nobody-here"))
    assert 'role "nobody-here" does not exist; have an administrator run `createuser`' in said
    said = fail(database.server.url("nothing", "keeper"))
    assert 'database "nothing" does not exist; have an administrator run `createdb`' in said


def test_a_role_that_may_not_connect_or_not_that_often(database):
    url = database.url(database.make_role("anna"))
    with database.server.connect(database.name) as admin:
        admin.execute("ALTER ROLE anna CONNECTION LIMIT 0")
        assert 'too many connections for role "anna"; try again' in fail(url)
        admin.execute("ALTER ROLE anna CONNECTION LIMIT -1")
        name = sql.Identifier(database.name)
        admin.execute(sql.SQL("REVOKE CONNECT ON DATABASE {} FROM PUBLIC").format(name))
    said = fail(url)
    assert "permission denied" in said and "`GRANT CONNECT ON DATABASE … TO anna`" in said


def test_a_password_that_is_missing_or_wrong(database, monkeypatch, tmp_path):
    monkeypatch.setenv("PGPASSFILE", str(tmp_path / "none"))
    guarded = database.url("guarded")
    assert "it wants a password; set PGPASSWORD, or write it into ~/.pgpass" in fail(guarded)
    monkeypatch.setenv("PGPASSWORD", "sesame close")
    assert "it takes another password; set PGPASSWORD, or mend ~/.pgpass" in fail(guarded)
    assert "another password" in fail(guarded.replace("guarded@", "guarded:sesame@"))
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    connect(read_address(guarded), purpose="test").close()
    monkeypatch.delenv("PGPASSWORD")
    passwords = tmp_path / "pgpass"
    passwords.write_text(f"*:*:*:guarded:{PASSWORD}\n")
    passwords.chmod(0o600)
    monkeypatch.setenv("PGPASSFILE", str(passwords))
    connect(read_address(guarded), purpose="test").close()


def test_an_address_that_cannot_be_read(database):
    assert "cannot be read" in fail(f"{database.url()}&sesame=1", UsageError)
    assert "cannot be read" in fail("postgresql://anna:%zzsesame@/notes", UsageError)
    for mark in "/?#@[":
        with pytest.raises((UsageError, StoreError)) as caught:
            url = f"postgresql://anna:open{mark}sesame@127.0.0.1:1/notes"
            connect(read_address(url), purpose="test").close()
        assert "sesame" not in str(caught.value) and "open" not in str(caught.value)


def test_a_database_without_pgvector_or_with_an_old_one(database, monkeypatch):
    with database.server.connect(database.name) as admin:
        admin.execute("DROP EXTENSION vector")
    assert "has no pgvector: have an administrator run `CREATE EXTENSION vector`" in fail(
        database.url()
    )
    with database.server.connect(database.name) as admin:
        admin.execute("CREATE SCHEMA elsewhere; CREATE EXTENSION vector SCHEMA elsewhere")
        admin.execute("GRANT USAGE ON SCHEMA elsewhere TO PUBLIC")
    with connect(read_address(database.url()), purpose="test") as connection:
        assert connection.execute("SELECT '[1,2]'::vector <#> '[3,4]'").fetchone() == (-11.0,)
    monkeypatch.setattr(connecting, "LEAST_VECTOR", (99, 0))
    assert "`ALTER EXTENSION vector UPDATE`" in fail(database.url())


def test_a_server_that_accepts_and_never_answers(tmp_path, monkeypatch):
    monkeypatch.setattr(connecting, "_LIMITS", "connect_timeout=2")
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen()
        said = fail(f"postgresql://anna@127.0.0.1:{deaf.getsockname()[1]}/notes")
    assert "timeout expired" in said


def test_a_role_that_may_not_set_a_store_up(database):
    address = read_address(database.url(database.make_role("anna"), palace="hut"))
    with (
        connect(address, purpose="test") as connection,
        pytest.raises(StoreError, match=r"GRANT CREATE ON DATABASE .* TO anna"),
    ):
        make_store(connection, address)


def test_others_are_told_who_is_at_work_and_where(database, monkeypatch, tmp_path):
    (tmp_path / "notes").mkdir()
    monkeypatch.chdir(tmp_path / "notes")
    monkeypatch.setenv("LOGNAME", "anna")
    anna = database.make_role("anna")
    with connect(read_address(database.url()), purpose="index"), database.connect(anna) as other:
        names = other.execute(
            "SELECT application_name FROM pg_stat_activity WHERE usename = 'keeper'"
        ).fetchall()
    assert names == [(f"palace index: anna@{socket.gethostname()} notes"[:63],)]


@pytest.fixture
def store(database):
    address = read_address(database.url(palace="hut"))
    with connect(address, purpose="test") as connection:
        make_store(connection, address)
        make_palace(connection, address)
    return address


def test_a_connection_that_is_lost(store, database):
    with open_store(store, purpose="test") as connection:
        with database.server.connect() as admin:
            admin.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s",
                [database.name],
            )
        with pytest.raises(StoreError, match=r"the connection was lost .*; run the command again"):
            find_palace(connection, store)
        with pytest.raises(StoreError, match=r"the connection is (lost|closed); run"):
            find_palace(connection, store)


def test_what_a_server_refuses_is_one_line_with_what_to_do(store):
    with open_store(store, purpose="test") as connection:
        for state, said in (
            ("53100", "its disk is full: free space there and run the command again"),
            ("40P01", "another builder came first"),
            ("XX001", "see the server's log"),
            ("P0001", "no such luck (P0001)"),
        ):
            with pytest.raises(Exception) as caught, asking(store), connection.transaction():
                connection.execute(
                    sql.SQL("DO $$BEGIN RAISE 'no such luck' USING ERRCODE = {}; END$$").format(
                        sql.Literal(state)
                    )
                )
            assert said in str(caught.value) and "no such luck" in str(caught.value)
            assert len(str(caught.value).splitlines()) == 1


def test_the_only_palace_needs_no_name_and_of_several_one_is_asked_for(store):
    nameless = replace(store, palace="")
    with open_store(nameless, purpose="test") as connection:
        only = find_palace(connection, nameless)
        assert only == find_palace(connection, store)
        make_palace(connection, replace(store, palace="shed"))
        with pytest.raises(UsageError, match="#NAME; it may be hut, shed"):
            find_palace(connection, nameless)
        with pytest.raises(IndexMissingError, match="readable: hut, shed"):
            find_palace(connection, replace(store, palace="boat"))


def test_an_address_is_shown_without_its_password():
    for url, shown in (
        ("postgresql://a:sesame@h:5/d?sslmode=require#p", "postgresql://a@h:5/d#p"),
        ("postgresql://a@/d?host=/tmp/x&password=sesame", "postgresql://a@/d?host=/tmp/x"),
        ("postgresql:///d", "postgresql:///d"),
        ("postgresql://h1,h2/d", "postgresql://h1,h2/d"),
    ):
        address = read_address(url)
        assert address.shown == shown
        assert "sesame" not in repr(address)
        assert isinstance(address, Address)


def test_nothing_of_the_database_is_imported_without_a_store():
    import subprocess

    code = (
        "import sys\n"
        "from memory_palace.cli.group import run\n"
        "run(['status', '--help'])\n"
        "import memory_palace.palace, memory_palace.features.asking.verbs\n"
        "import memory_palace.features.upkeep.settings\n"
        "print([n for n in sys.modules if n.split('.')[0] in ('psycopg', 'pgvector')\n"
        "       or n.startswith('memory_palace.features.store')])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
