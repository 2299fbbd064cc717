"""What PostgreSQL tells beside rows: plans, statistics, errors, files, and whose code runs."""

import re

import psycopg
import pytest
from psycopg import sql
from store.granting import CANARY, list_tables, push_two

from memory_palace.cli.registry import read_address
from memory_palace.errors import StoreError
from memory_palace.features.store.connecting import connect

SECRET, HERS = 1, 2
REFUSED = psycopg.errors.InsufficientPrivilege
FIGURES = "(ANALYZE, TIMING OFF, SUMMARY OFF, BUFFERS OFF)"


@pytest.fixture(scope="module")
def store(shared, tmp_path_factory):
    """One for all: nothing here may change it."""
    push_two(shared, tmp_path_factory.mktemp("palaces"))
    with shared.server.connect(shared.name) as admin:
        admin.execute("ANALYZE")
    return shared


def sorts(admin):
    """Return the columns of all tables whose values have an order, with some value of theirs."""
    rows = admin.execute(
        "SELECT c.relname, attname, format_type(atttypid, NULL) FROM pg_attribute AS a "
        "JOIN pg_class AS c ON c.oid = attrelid WHERE relnamespace = 'memory_palace'::regnamespace "
        "AND relkind IN ('r', 'p') AND NOT relispartition AND attnum > 0 AND relname <> 'version' "
        "ORDER BY 1, 2"
    ).fetchall()
    for table, column, kind in rows:
        if kind in ("text", "bytea", "double precision", "text[]", "integer[]", "jsonb"):
            yield table, column, kind


def plan(connection, statement, how, *values):
    """Return what EXPLAIN says, without the value that was asked for."""
    rows = connection.execute(f"EXPLAIN {how} {statement}", values, prepare=False).fetchall()
    return [re.sub(r"'[^']*'|'\{.*?\}'", "VALUE", line) for (line,) in rows]


@pytest.mark.parametrize("setting", ["enable_seqscan", "enable_indexscan", "jit"])
def test_no_plan_tells_whether_a_value_is_in_a_palace_that_was_not_granted(store, setting):
    """``EXPLAIN ANALYZE`` counts rows that a filter removes: of others it must see none."""
    with store.server.connect(store.name) as admin:
        columns = list(sorts(admin))
        of_secret = {}
        for table, column, _ in columns:
            full = sql.SQL("SELECT {} FROM memory_palace.{} WHERE {} = 1").format(
                *map(sql.Identifier, (column, table, "id" if table == "palace" else "palace"))
            )
            of_secret[table, column] = next(iter(admin.execute(full).fetchone() or ()), None)
    assert len(columns) > 12
    with store.connect("reader") as reader:
        reader.execute(f"SET {setting} = off")
        for table, column, kind in columns:
            if (found := of_secret[table, column]) is None:
                continue
            other = {"text": "zzz", "bytea": b"zzz", "double precision": 7.5, "jsonb": "{}"}
            absent = other.get(kind, [])
            found = "{}" if kind == "jsonb" else found
            where = "" if table == "palace" else "palace = 1 AND "
            for sign in ("=", "<", ">="):
                ask = f"SELECT * FROM memory_palace.{table} WHERE {where}{column} {sign} %s::{kind}"
                same = [plan(reader, ask, FIGURES, value) for value in (found, absent)]
                assert same[0] == same[1], (table, column)
        ask = "SELECT * FROM memory_palace.member WHERE palace = 1 AND role = %s::regrole"
        assert plan(reader, ask, FIGURES, "keeper") == plan(reader, ask, FIGURES, "stranger")
        ask = "SELECT * FROM memory_palace.note WHERE palace = 1 AND id = %s"
        same = [" ".join(plan(reader, ask, FIGURES, value)) for value in (1, 99)]
        assert re.sub(r"\d+", "N", same[0]) == re.sub(r"\d+", "N", same[1])


def test_every_index_begins_with_what_rights_compare(store):
    """Otherwise it finds rows of others first, which a plan then counts."""
    with store.connect() as keeper:
        rows = keeper.execute(
            "SELECT indrelid::regclass::text, pg_get_indexdef(indexrelid, 1, true) FROM pg_index "
            "JOIN pg_class AS c ON c.oid = indrelid "
            "WHERE relnamespace = 'memory_palace'::regnamespace AND NOT relispartition"
        ).fetchall()
    firsts = {(table.removeprefix("memory_palace."), first) for table, first in rows}
    assert {first for table, first in firsts if table != "palace"} == {"palace"}
    # The second cannot be asked for by whom rights hold: || might tell what it is given.
    assert {first for table, first in firsts if table == "palace"} == {"id", "(name || ''::text)"}


def test_estimates_say_nothing_of_what_others_wrote(store):
    with store.server.connect(store.name) as admin:
        rows = admin.execute(
            "SELECT starelid::regclass::text, staattnum, stanumbers1, stavalues1::text "
            "FROM pg_statistic JOIN pg_class AS c ON c.oid = starelid "
            "WHERE relnamespace = 'memory_palace'::regnamespace"
        ).fetchall()
    assert len({table for table, *_ in rows}) > 3
    assert CANARY not in repr(rows)
    with store.connect("reader") as reader:
        for column, one, other in (
            ("tags", f"{CANARY}/tag", "xuagga/tag"),
            ("type", f"{CANARY}-type", "xuagga-type"),
        ):
            ask = f"SELECT * FROM memory_palace.note WHERE {column} = %s"
            assert plan(reader, ask, "", one) == plan(reader, ask, "", other)
        shown = reader.execute("SELECT * FROM pg_stats WHERE schemaname = 'memory_palace'")
        assert {row[1] for row in shown.fetchall()} <= {"version"}
        with pytest.raises(REFUSED):
            reader.execute("SELECT * FROM pg_statistic")


def test_errors_name_no_value_of_others(store):
    with store.connect("writer") as writer:
        row = writer.execute("SELECT * FROM memory_palace.note").fetchone()
        names = ", ".join(
            column.name
            for column in writer.execute("SELECT * FROM memory_palace.note LIMIT 0").description
        )
        for statement in (
            f"INSERT INTO memory_palace.note ({names}) SELECT {names.replace('palace', '1', 1)} "
            "FROM memory_palace.note",
            "UPDATE memory_palace.note SET palace = 1, path = 'x'",
            "SELECT path::int FROM memory_palace.note WHERE palace = 1",
            "SELECT 1 / (palace - 1) FROM memory_palace.note WHERE type LIKE '%q%'",
            "SELECT type::int FROM memory_palace.note",
            f"INSERT INTO memory_palace.note ({names}) SELECT {names} FROM memory_palace.note "
            "ON CONFLICT DO NOTHING",
        ):
            try:
                writer.execute(statement)
            except psycopg.Error as error:
                assert CANARY not in f"{error}{error.diag.message_detail}{error.diag.context}"
        assert writer.execute("SELECT * FROM memory_palace.note").fetchall() == [row]
        with writer.cursor().copy("COPY memory_palace.note TO STDOUT") as copied:
            text = b"".join(bytes(part) for part in copied)
        assert b"hut" in text and CANARY.encode() not in text


@pytest.mark.parametrize("role", ["stranger", "reader", "writer"])
def test_no_other_door_is_open(store, role):
    with store.server.connect(store.name) as admin:
        oid = admin.execute("SELECT lo_from_bytea(0, 'a secret')").fetchone()[0]
    with store.connect(role) as connection:
        for statement in (
            "SELECT * FROM memory_palace.passage_1",
            "COPY memory_palace.passage_1 TO STDOUT",
            "COPY memory_palace.note TO '/tmp/x'",
            "COPY memory_palace.note TO PROGRAM 'cat'",
            "COPY memory_palace.note FROM PROGRAM 'cat /etc/passwd'",
            "SELECT pg_read_file('PG_VERSION')",
            "SELECT pg_ls_dir('.')",
            f"SELECT lo_get({oid})",
            "SELECT nextval('memory_palace.palace_id_seq')",
            "SELECT last_value FROM memory_palace.palace_id_seq",
            "CREATE TRIGGER t AFTER INSERT ON memory_palace.note EXECUTE FUNCTION now()",
            "CREATE RULE r AS ON SELECT TO memory_palace.note DO INSTEAD SELECT 1",
            "CREATE TABLE mine (id int, FOREIGN KEY (id) REFERENCES memory_palace.palace)",
            "CREATE SCHEMA mine",
            "CREATE FUNCTION public.f() RETURNS int LANGUAGE sql AS 'SELECT 1'",
            "ALTER TABLE memory_palace.passage ATTACH PARTITION memory_palace.mine DEFAULT",
            "CREATE PUBLICATION p FOR TABLE memory_palace.note",
            "CREATE STATISTICS s ON path, title FROM memory_palace.note",
            "ANALYZE memory_palace.note; SELECT 1 / 0",
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'postgres'",
            "SET SESSION AUTHORIZATION keeper",
            "SET ROLE keeper",
            "SET ROLE reader; SET ROLE writer; SET ROLE keeper",
            "ALTER DEFAULT PRIVILEGES FOR ROLE keeper GRANT SELECT ON TABLES TO PUBLIC",
            "DO $$BEGIN LOCK TABLE memory_palace.member IN EXCLUSIVE MODE; END$$",
            "CALL memory_palace.hush('memory_palace.note')",
        ):
            with pytest.raises(psycopg.Error) as caught:
                connection.execute(statement)
            assert CANARY not in str(caught.value)
        activity = connection.execute("SELECT query FROM pg_stat_activity").fetchall()
    assert CANARY not in repr(activity)


def test_a_role_that_may_read_all_data_reads_what_it_was_granted(store):
    role = store.make_role("auditor", "pg_read_all_data", "reader")
    with store.connect(role) as connection:
        for table in list_tables(connection):
            if table not in ("version", "palace", "member"):
                rows = connection.execute(f"SELECT DISTINCT palace FROM memory_palace.{table}")
                assert set(rows.fetchall()) <= {(HERS,)}, table
        assert connection.execute("SELECT * FROM memory_palace.passage_1").fetchall() == []
        assert connection.execute("SELECT name FROM memory_palace.palace").fetchall() == [("hers",)]


SHADOWS = (
    "FUNCTION {}.pg_has_role(name, regrole, text) RETURNS boolean LANGUAGE plpgsql AS {}",
    "FUNCTION {}.pg_has_role(text, regrole, text) RETURNS boolean LANGUAGE plpgsql AS {}",
    "FUNCTION {}.pg_has_role(regrole, text) RETURNS boolean LANGUAGE plpgsql AS {}",
    "FUNCTION {}.format(text, int) RETURNS text LANGUAGE plpgsql AS {}",
    "FUNCTION {}.format(text, text) RETURNS text LANGUAGE plpgsql AS {}",
    "FUNCTION {}.format(text, text, text, int) RETURNS text LANGUAGE plpgsql AS {}",
    "FUNCTION {}.quote_ident(name) RETURNS text LANGUAGE plpgsql AS {}",
    "FUNCTION {}.same(int, int) RETURNS boolean LANGUAGE plpgsql AS {}",
)
BODY = "$$BEGIN RAISE NOTICE 'run by %', current_user; RETURN 't'; END$$"


def test_functions_beside_pgvector_are_run_for_nobody_else(store):
    """With an exact signature such a function is chosen before one of PostgreSQL."""
    with store.server.connect(store.name) as admin:
        admin.execute("GRANT CREATE ON SCHEMA public TO writer")
    heard: list[str] = []
    with store.connect("writer") as writer:
        writer.add_notice_handler(lambda notice: heard.append(notice.message_primary or ""))
        for shadow in SHADOWS:
            writer.execute("CREATE " + shadow.format("public", BODY))
        writer.execute("CREATE OPERATOR public.= (LEFTARG = int, RIGHTARG = int, FUNCTION = same)")
        writer.execute(
            "CREATE TEMP TABLE member AS SELECT 1 AS palace, 'writer'::regrole AS role, "
            "true AS may_write"
        )
        writer.execute(
            "CREATE TEMP TABLE passage_1 (vector vector); GRANT ALL ON passage_1 TO PUBLIC"
        )
        writer.execute("SET search_path = pg_temp, public, memory_palace, pg_catalog")
        with pytest.raises(REFUSED):
            writer.execute("SELECT memory_palace.index_vectors(1, 8)")
        with pytest.raises(REFUSED):
            writer.execute("SELECT memory_palace.count_rows(1)")
        writer.execute("SELECT memory_palace.count_rows(2)")
        writer.execute("SELECT memory_palace.index_vectors(2, 384)")
        writer.execute("SELECT memory_palace.index_vectors(2, 0)")
        assert writer.execute("SELECT palace FROM memory_palace.note").fetchall() == [(HERS,)]
        assert heard == []
    with store.connect() as keeper:
        keeper.add_notice_handler(lambda notice: heard.append(notice.message_primary or ""))
        keeper.execute("SET search_path = public, memory_palace")
        with keeper.transaction(force_rollback=True):
            keeper.execute("SELECT memory_palace.make_palace('new')")
    with store.server.connect(store.name) as admin:
        admin.execute("REVOKE CREATE ON SCHEMA public FROM writer")
    assert heard == []


def test_a_database_where_everybody_may_make_functions_is_refused(store):
    with store.server.connect(store.name) as admin:
        admin.execute("GRANT CREATE ON SCHEMA public TO PUBLIC")
    for role in ("keeper", "reader"):
        address = read_address(store.url(role, palace="hers"))
        with pytest.raises(StoreError, match=r"`REVOKE CREATE ON SCHEMA public FROM PUBLIC`$"):
            connect(address, purpose="test")
    with store.server.connect(store.name) as admin:
        admin.execute("REVOKE CREATE ON SCHEMA public FROM PUBLIC")
    connect(address, purpose="test").close()
