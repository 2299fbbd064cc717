"""What a role that was not granted a palace can do with it: nothing."""

import psycopg
import pytest
from psycopg import sql
from store.granting import list_tables

from memory_palace.cli.registry import Address, read_address
from memory_palace.errors import IndexLockedError, IndexMissingError, StoreError, UsageError
from memory_palace.features.store.connecting import (
    connect,
    drop,
    find_palace,
    grant,
    list_palaces,
    make_palace,
    make_store,
    open_store,
)

SECRET, HERS = 1, 2
"""Numbers of two palaces: the one that nobody else is to see, and the one that was granted."""
REFUSED = psycopg.errors.InsufficientPrivilege


@pytest.fixture
def store(database):
    """Two palaces with a row in every table each; ``reader`` reads one, ``writer`` writes it."""
    secret, hers = (read_address(database.url(palace=name)) for name in ("secret", "hers"))
    with connect(secret, purpose="test") as keeper:
        make_store(keeper, secret)
        assert [make_palace(keeper, address) for address in (secret, hers)] == [SECRET, HERS]
        for palace in (SECRET, HERS):
            fill(keeper, palace)
        grant(keeper, hers, database.make_role("reader"), may_write=False)
        grant(keeper, hers, database.make_role("writer"), may_write=True)
    database.make_role("stranger")
    return database


def columns_of(connection, table):
    """Return the columns that must be given, with their types."""
    return connection.execute(
        "SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute WHERE attnum > 0 "
        "AND attrelid = %s::regclass AND attnotnull AND NOT atthasdef AND attname <> 'palace'",
        [f"memory_palace.{table}"],
    ).fetchall()


VALUES = {"integer": "7", "smallint": "7", "bigint": "7", "real": "1", "double precision": "1"}
VALUES |= {"boolean": "false", "text": "'canary'", "bytea": "'canary'", "jsonb": "'{}'"}
VALUES |= {"integer[]": "'{}'", "bigint[]": "'{}'", "text[]": "'{canary}'"}


def insertion(connection, table, palace):
    """Return the statement that adds a row to a table of a palace."""
    columns = columns_of(connection, table)
    names = sql.SQL(", ").join(sql.Identifier(name) for name in ["palace", *dict(columns)])
    values = ", ".join([str(palace), *(VALUES[kind] for _, kind in columns)])
    into = sql.SQL("INSERT INTO memory_palace.{} ({}) VALUES ").format(sql.Identifier(table), names)
    return into + sql.SQL(f"({values})")


def secured(connection):
    return [t for t in list_tables(connection) if t not in ("version", "palace", "member")]


def fill(connection, palace):
    with connection.transaction():
        for table in secured(connection):
            connection.execute(insertion(connection, table, palace))


def try_all(connection, statements):
    """Run each statement by itself; return what it gave: the class of an error, or its rows."""
    for statement in statements:
        try:
            done = connection.execute(statement)
            yield done.fetchall() if done.description else done.rowcount
        except psycopg.Error as error:
            yield type(error)


@pytest.mark.parametrize("role", ["stranger", "reader", "writer"])
def test_no_table_shows_or_changes_a_row_of_a_palace_that_was_not_granted(store, role):
    with store.connect() as keeper:
        tables = secured(keeper)
        additions = [insertion(keeper, table, SECRET) for table in tables]
    with store.connect(role) as connection:
        for table, addition in zip(tables, additions, strict=True):
            full = sql.Identifier("memory_palace", table)
            seen, added, changed, removed, taken = try_all(
                connection,
                [
                    sql.SQL("SELECT * FROM {} WHERE palace = 1").format(full),
                    addition,
                    sql.SQL("UPDATE {} SET palace = 2 WHERE palace = 1").format(full),
                    sql.SQL("DELETE FROM {} WHERE palace = 1").format(full),
                    sql.SQL("UPDATE {} SET palace = 1 WHERE palace = 2").format(full),
                ],
            )
            assert seen in ([], REFUSED), table
            assert added is REFUSED, table
            assert changed in (0, REFUSED) and removed in (0, REFUSED), table
            assert taken is REFUSED, table
    with store.connect() as keeper:
        for table in tables:
            full = sql.Identifier("memory_palace", table)
            rows = keeper.execute(
                sql.SQL("SELECT palace, count(*) FROM {} GROUP BY palace").format(full)
            ).fetchall()
            assert sorted(rows) == [(SECRET, 1), (HERS, 1)], table


def test_a_reader_reads_and_a_writer_writes_what_was_granted(store):
    with store.connect() as keeper:
        tables = secured(keeper)
    for role, changes in (("reader", REFUSED), ("writer", 1)):
        with store.connect(role) as connection:
            for table in tables:
                full = sql.Identifier("memory_palace", table)
                rows, changed = try_all(
                    connection,
                    [
                        sql.SQL("SELECT palace FROM {}").format(full),
                        sql.SQL("UPDATE {} SET palace = 2").format(full),
                    ],
                )
                assert rows == [(HERS,)], (role, table)
                assert changed == changes, (role, table)


@pytest.mark.parametrize("role", ["stranger", "reader", "writer", "keeper"])
def test_a_partition_is_open_to_nobody(store, role):
    with store.connect(role) as connection:
        for number in (SECRET, HERS):
            part = sql.Identifier("memory_palace", f"passage_{number}")
            for done in try_all(
                connection,
                [
                    sql.SQL("SELECT * FROM {}").format(part),
                    sql.SQL("UPDATE {} SET note = 9").format(part),
                    sql.SQL("DELETE FROM {}").format(part),
                ],
            ):
                assert done in ([], 0, REFUSED), part


@pytest.mark.parametrize("role", ["stranger", "reader", "writer"])
def test_nobody_grants_to_themselves(store, role):
    with store.connect(role) as connection:
        done = try_all(
            connection,
            [
                f"INSERT INTO memory_palace.member VALUES (1, '{role}', true)",
                f"UPDATE memory_palace.member SET palace = 1 WHERE role = '{role}'::regrole",
                "UPDATE memory_palace.member SET may_write = true",
                "DELETE FROM memory_palace.member",
                "INSERT INTO memory_palace.palace (name) VALUES ('mine')",
                "UPDATE memory_palace.palace SET name = 'mine'",
                "DELETE FROM memory_palace.palace",
                "UPDATE memory_palace.version SET number = 0",
                "ALTER TABLE memory_palace.note DISABLE ROW LEVEL SECURITY",
                "DROP POLICY reading ON memory_palace.note",
                "CREATE POLICY mine ON memory_palace.note USING (true)",
                "CREATE TABLE memory_palace.mine ()",
                "CREATE FUNCTION memory_palace.f() RETURNS int LANGUAGE sql AS 'SELECT 1'",
                "TRUNCATE memory_palace.note",
                "LOCK TABLE memory_palace.note IN ACCESS EXCLUSIVE MODE",
                "ALTER ROLE CURRENT_USER BYPASSRLS",
                "GRANT keeper TO CURRENT_USER",
            ],
        )
        # LOCK outside of a transaction is refused before rights are looked at.
        kinds = {REFUSED, psycopg.errors.NoActiveSqlTransaction}
        assert [kind for kind in done if kind not in kinds] == []


@pytest.mark.parametrize("role", ["stranger", "reader", "writer"])
def test_a_role_sees_the_names_and_members_of_its_own_palaces_alone(store, role):
    own = [] if role == "stranger" else [("hers",)]
    with store.connect(role) as connection:
        names, members = try_all(
            connection,
            [
                "SELECT name FROM memory_palace.palace",
                "SELECT palace, role::text FROM memory_palace.member",
            ],
        )
    assert names == (REFUSED if role == "stranger" else own)
    assert members == (REFUSED if role == "stranger" else [(HERS, role)])


@pytest.mark.parametrize("role", ["stranger", "reader", "writer"])
def test_no_function_of_the_store_gives_more(store, role):
    with store.connect() as keeper:
        functions = keeper.execute(
            "SELECT proname FROM pg_proc WHERE pronamespace = 'memory_palace'::regnamespace "
            "ORDER BY proname"
        ).fetchall()
    assert " ".join(name for (name,) in functions) == (
        "count_rows demand_writer drop_palace hush index_vectors make_home make_palace "
        "planned_readable planned_roles readable secure settle_rights writable"
    )
    granted = {"stranger": [], "reader": [(HERS,)], "writer": [(HERS,)]}[role]
    with store.connect(role) as connection:
        indexed, made, read, secured_, written = try_all(
            connection,
            [
                "SELECT memory_palace.index_vectors(1, 8)",
                "SELECT memory_palace.make_palace('mine')",
                "SELECT memory_palace.readable()",
                "CALL memory_palace.secure('memory_palace.note')",
                "SELECT memory_palace.writable()",
            ],
        )
        assert (indexed, made, secured_) == (REFUSED, REFUSED, REFUSED)
        assert read == (granted or REFUSED)
        assert written == {"stranger": REFUSED, "reader": [], "writer": [(HERS,)]}[role]
        counted, demanded = try_all(
            connection,
            ["SELECT memory_palace.count_rows(1)", "CALL memory_palace.demand_writer(2)"],
        )
        assert (counted, demanded) == (REFUSED, REFUSED)
        for call in ("make_home(7)", "drop_palace(2)", f"settle_rights('{role}')"):
            assert [*try_all(connection, [f"CALL memory_palace.{call}"])] == [REFUSED]
        for statement in ("index_vectors(2, 8)", "count_rows(2)"):
            (own,) = try_all(connection, [f"SELECT memory_palace.{statement}"])
            assert own == ([("",)] if role == "writer" else REFUSED)


def test_a_cheap_function_sees_no_other_row_and_no_setting_ends_row_security(store):
    """Names that stand in for those of policies and functions are tried in test_leaks."""
    with store.server.connect(store.name) as admin:
        admin.execute("CREATE SCHEMA evil AUTHORIZATION writer")
    with store.connect("writer") as connection:
        connection.execute(
            "CREATE FUNCTION evil.readable() RETURNS SETOF int LANGUAGE sql AS 'VALUES (1), (2)'"
        )
        connection.execute("SET search_path = evil, pg_temp, memory_palace, public, pg_catalog")
        assert connection.execute("SELECT palace FROM memory_palace.note").fetchall() == [(HERS,)]
        # A function that is cheap, and sees rows before a policy does where it may.
        seen: list[str] = []
        connection.add_notice_handler(lambda notice: seen.append(notice.message_primary or ""))
        connection.execute(
            "CREATE FUNCTION evil.tell(int) RETURNS boolean LANGUAGE plpgsql COST 0.0000001 "
            "AS $$BEGIN RAISE NOTICE '%', $1; RETURN true; END$$"
        )
        connection.execute("SELECT * FROM memory_palace.note WHERE evil.tell(palace)")
        assert seen == [str(HERS)]
        connection.execute("SET row_security = off")
        (done,) = try_all(connection, ["SELECT * FROM memory_palace.note"])
        assert done is REFUSED


def test_a_group_gives_its_palaces_to_its_members_and_takes_them_back(store):
    store.make_role("team")
    anna = store.make_role("anna", "team")
    hers = read_address(store.url(palace="hers"))
    with open_store(hers, purpose="test") as keeper:
        grant(keeper, hers, "team", may_write=False)
        address = read_address(store.url(anna))
        with open_store(address, purpose="test") as connection:
            assert find_palace(connection, address) == ("hers", HERS)
            grant(keeper, hers, "team", may_write=None)
            with pytest.raises(IndexMissingError, match="none that is granted"):
                find_palace(connection, address)


def test_a_role_that_is_made_again_is_another(store):
    hers = read_address(store.url(palace="hers"))
    with open_store(hers, purpose="test") as keeper, store.server.connect(store.name) as admin:
        grant(keeper, hers, "reader", may_write=None)
        admin.execute("INSERT INTO memory_palace.member VALUES (1, 'reader', true)")
        admin.execute("DROP ROLE reader")
        admin.execute("CREATE ROLE reader LOGIN")
        with (
            pytest.raises(StoreError, match="permission denied for schema memory_palace"),
            open_store(read_address(store.url("reader")), purpose="test"),
        ):
            pytest.fail("it was let in")
        grant(keeper, hers, "reader", may_write=False)
        assert [p.name for p in list_palaces(keeper, hers)] == ["hers", "secret"]
    with store.connect("reader") as connection:
        assert connection.execute("SELECT memory_palace.readable()").fetchall() == [(HERS,)]


def test_what_was_revoked_is_gone_and_what_is_left_stays(store):
    secret, hers = (read_address(store.url(palace=name)) for name in ("secret", "hers"))
    with open_store(hers, purpose="test") as keeper:
        grant(keeper, secret, "writer", may_write=False)
        grant(keeper, hers, "writer", may_write=None)
        with pytest.raises(UsageError, match="was not granted"):
            grant(keeper, hers, "writer", may_write=None)
        with pytest.raises(UsageError, match="was not granted"):
            grant(keeper, hers, "keeper", may_write=None)
        with store.connect("writer") as connection:
            rows, changed = try_all(
                connection,
                [
                    "SELECT palace FROM memory_palace.note",
                    "UPDATE memory_palace.note SET type = ''",
                ],
            )
        assert rows == [(SECRET,)]
        assert changed is REFUSED


def test_of_a_palace_that_was_dropped_nothing_is_left_and_others_stay(store):
    secret, hers = (read_address(store.url(palace=name)) for name in ("secret", "hers"))
    with open_store(hers, purpose="test") as keeper, store.connect("postgres") as admin:
        grant(keeper, secret, "writer", may_write=False)
        drop(keeper, hers)
        assert [palace.name for palace in list_palaces(keeper, hers)] == ["secret"]
        for table in (*secured(keeper), "member"):
            full = sql.Identifier("memory_palace", table)
            left = admin.execute(sql.SQL("SELECT DISTINCT palace FROM {}").format(full)).fetchall()
            assert left == [(SECRET,)], table
        assert admin.execute("SELECT to_regclass('memory_palace.passage_2')").fetchone() == (None,)
        for role, rows in (("writer", [(SECRET,)]), ("reader", REFUSED)):
            with store.connect(role) as connection:
                assert [*try_all(connection, ["SELECT palace FROM memory_palace.note"])] == [rows]
        assert make_palace(keeper, hers) > HERS


def test_a_palace_in_use_is_not_dropped_and_all_of_it_stays(store):
    hers = read_address(store.url(palace="hers"))
    with open_store(hers, purpose="test") as keeper, store.connect("reader") as reader:
        with reader.transaction():
            reader.execute("SELECT 1 FROM memory_palace.passage")
            with pytest.raises(IndexLockedError):
                drop(keeper, hers)
        assert reader.execute("SELECT count(*) FROM memory_palace.note").fetchone() == (1,)
        drop(keeper, hers)


def test_only_the_owner_makes_grants_and_revokes(store):
    for role in ("reader", "writer"):
        address = read_address(store.url(role, palace="hers"))
        with open_store(address, purpose="test") as connection:
            with pytest.raises(StoreError, match="only the role keeper"):
                grant(connection, address, "stranger", may_write=False)
            with pytest.raises(StoreError, match="only the role keeper"):
                grant(connection, address, "reader", may_write=None)
            with pytest.raises(StoreError, match="only the role keeper"):
                drop(connection, address)
            with pytest.raises(StoreError, match="only the role keeper"):
                make_palace(connection, Address(address.url, "mine"))
            with pytest.raises(StoreError, match="only the role keeper"):
                make_palace(connection, Address(address.url, "secret"))


HOSTILE = (
    'rob"; DROP SCHEMA memory_palace CASCADE; --',
    "rob'; DROP SCHEMA memory_palace CASCADE; --",
    "rob%s %(x)s {}",
    "Öl und Wasser",
    "rob\\",
    "keeper, writer",
    "current_user",
    "all",
)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_role_of_any_name_is_granted_its_palace_and_nothing_else(store, name):
    hers = read_address(store.url(palace="hers"))
    role = store.make_role(name)
    with open_store(hers, purpose="test") as keeper:
        grant(keeper, hers, role, may_write=True)
        (palace, _) = list_palaces(keeper, hers)
        assert {m.role for m in palace.members} == {"keeper", "reader", "writer", role}
    with psycopg.connect(store.url(), user=role, autocommit=True) as connection:
        assert connection.execute("SELECT memory_palace.writable()").fetchall() == [(HERS,)]
        assert connection.execute("SELECT palace FROM memory_palace.note").fetchall() == [(HERS,)]
    with open_store(hers, purpose="test") as keeper:
        grant(keeper, hers, role, may_write=None)


@pytest.mark.parametrize("name", [*HOSTILE, "public", "", "\x00", "PUBLIC"])
def test_a_role_that_is_not_there_is_granted_nothing(store, name):
    hers = read_address(store.url(palace="hers"))
    with open_store(hers, purpose="test") as keeper:
        for change in (
            lambda: grant(keeper, hers, name, may_write=True),
            lambda: grant(keeper, hers, name, may_write=None),
        ):
            with pytest.raises(UsageError, match="knows no role"):
                change()
        with pytest.raises(UsageError, match="did you mean 'reader'"):
            grant(keeper, hers, "raeder", may_write=False)
        assert len(list_palaces(keeper, hers)) == 2


@pytest.mark.parametrize("name", [n for n in HOSTILE if " " in n or "\\" in n])
def test_a_palace_has_a_name_that_can_be_typed(store, name):
    address = Address(store.url(), name)
    with open_store(address, purpose="test") as keeper:
        with pytest.raises(UsageError, match="cannot be the name of a palace"):
            make_palace(keeper, address)
        with keeper.transaction():  # the tables themselves take it for what it is
            row = keeper.execute("SELECT make_palace(%s)", [name]).fetchone()
            found = keeper.execute("SELECT id FROM palace WHERE name = %s", [name]).fetchone()
        assert row == found == (3,)
