"""What a writer of a palace, or whoever has the server, can do to those who ask: not much."""

from __future__ import annotations

import pytest

psycopg = pytest.importorskip("psycopg", reason="needs the extra [postgres]")
from running import run_main  # noqa: E402
from store.granting import push_two  # noqa: E402

pytestmark = pytest.mark.postgres

ESCAPE = "\x1b]52;c;cm0=\x07\x1b[2J\u202e\x9b31m"
CHANGES = {
    "escapes in all that is shown": (
        "UPDATE note SET path = %(t)s || path, title = %(t)s, type = %(t)s, tags = ARRAY[%(t)s], "
        "text = convert_to(%(t)s, 'UTF8'), room = %(t)s, folder = %(t)s; "
        "UPDATE generation SET built_by = %(t)s"
    ),
    "a path out of the palace": "UPDATE note SET path = '../../../../etc/passwd'",
    "a large record": (
        "UPDATE note SET record = jsonb_set(record, '{aliases}', to_jsonb(repeat('x', 20000000)))"
    ),
    "a record without fields": "UPDATE note SET record = '{}'",
    "a record that is a list": "UPDATE note SET record = '[1]'",
    "a record with other types": "UPDATE note SET record = jsonb_set(record, '{aliases}', '[[1]]')",
    "a nested record": ("UPDATE note SET record = (repeat('[', 5000) || repeat(']', 5000))::jsonb"),
    "other days": "UPDATE note SET days = '{1}'",
    "no days": "UPDATE note SET days = '{NULL,NULL,NULL,NULL}'",
    "large figures": (
        "UPDATE note SET record = jsonb_set(record, '{stat}', '[1e30, 0, 0, 0, 0]') WHERE id > 1; "
        "UPDATE note SET record = jsonb_set(record, '{date}', '1e400') WHERE id = 1"
    ),
    "a source that is none": "UPDATE note SET record = jsonb_set(record, '{date_source}', '700')",
    "tags that are none": "UPDATE note SET tags = '{NULL}'",
    "a conflict that is no UTF-8": "UPDATE note SET room = 'conflict_room', text = '\\xff'",
    "passages of another note": "UPDATE passage SET note = 777",
    "settings that are none": "UPDATE generation SET record = jsonb_set(record, '{settings}', '7')",
    "an embedder that is a number": (
        "UPDATE generation SET record = jsonb_set(record, '{embedder}', '7')"
    ),
    "a date that is none": "UPDATE note SET date = 'NaN'",
    "a date without end": "UPDATE note SET date = 'Infinity'",
    "a text that is no UTF-8": "UPDATE note SET text = '\\xff'",
    "a line that is no JSON": "UPDATE note SET line = '\\xff'; UPDATE passage SET line = '\\x00'",
    "keys of another length": "UPDATE passage SET keys = '\\xffffffff00'",
    "no keys": "UPDATE passage SET keys = ''",
    "lines that are not there": "UPDATE passage SET first_line = 2147483647, last_line = -5",
    "a digest of another length": "UPDATE passage SET digest = '\\x00'",
    "no vectors": "UPDATE passage SET vector = NULL",
    "another vector": "UPDATE passage SET vector = '[1,2,3]'",
    "postings of another length": "UPDATE posting SET data = '\\x01'",
    "no postings": "DELETE FROM posting",
    "no passages": "DELETE FROM passage",
    "no notes": "DELETE FROM note",
    "a sample of rows that are not there": "UPDATE generation SET sample = '{99,-1}'",
    "other blocks": 'UPDATE generation SET blocks = \'{"9": 4, "x": 1}\'',
    "blocks that are none": "UPDATE generation SET blocks = '[]'",
    "dead rows of another length": "UPDATE generation SET dead = '\\x00'",
    "a generation without a record": "UPDATE generation SET record = '{}'",
    "a generation of another shape": "UPDATE generation SET record = '[7]'",
    "an embedder that is none": (
        "UPDATE generation SET record = jsonb_set(record, '{embedder}', '\"../../x\\u001b[2J\"')"
    ),
    "another dimension": "UPDATE generation SET record = jsonb_set(record, '{dimension}', '-7')",
    "a dimension that is none": (
        "UPDATE generation SET record = jsonb_set(record, '{dimension}', '\"x\"')"
    ),
}
"""By what it is: what a role that may write a palace does to it."""


@pytest.fixture(scope="module")
def two(server, tmp_path_factory):
    from store.serving import Database

    database = Database(server)
    push_two(database, tmp_path_factory.mktemp("palaces"))
    yield database
    database.close()


@pytest.fixture
def changed(two, monkeypatch, tmp_path):
    """Change the palace as its writer may, and have it back afterwards."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    tables = ("generation", "note", "passage", "posting")
    admin = two.server.connect(two.name)
    for table in tables:
        admin.execute(f"CREATE TABLE kept_{table} AS SELECT * FROM memory_palace.{table}")

    def change(statement):
        with two.connect("writer") as writer:
            writer.execute("SET search_path = memory_palace, public")
            with writer.transaction():
                for part in statement.split("; "):
                    writer.cursor().execute(
                        part, {"t": ESCAPE} if "%(t)s" in part else None, binary=False
                    )

    yield change
    for table in tables:
        admin.execute(f"DELETE FROM memory_palace.{table} WHERE palace = 2")
        admin.execute(
            f"INSERT INTO memory_palace.{table} SELECT * FROM kept_{table} WHERE palace = 2"
        )
        admin.execute(f"DROP TABLE kept_{table}")
    admin.close()


@pytest.mark.parametrize("what", CHANGES)
def test_a_reader_is_told_in_a_line_and_shown_nothing_that_a_terminal_obeys(
    two, changed, capsys, what
):
    changed(CHANGES[what])
    url = two.url("reader", palace="hers")
    for line in (
        ("query", "a hut, last May, #hut", "--details"),
        ("query", "hut", "--raw", "--neighbors", "2"),
        ("query", "hut", "--mode", "lexical", "--json"),
        ("config", "store", "status"),
    ):
        status, out, err = run_main(capsys, *line, "--store", url)
        assert status in (0, 1, 2, 4, 6, 10), (line, out, err)
        assert not {"\x1b", "\x07", "\x9b", "\u202e"} & {*out, *err}, line
        assert "Traceback" not in err and "root:" not in out
        if status:
            assert len((out if "--json" in line else err).splitlines()) == 1, (line, err)
