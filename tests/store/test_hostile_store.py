"""What a writer of a palace, or whoever has the server, can do to those who ask: not much."""

import json

import pytest
from running import run_main
from store.granting import push_two

ESCAPE = "\x1b]52;c;cm0=\x07\x1b[2J\u202e\x9b31m"
RECORD = (
    "UPDATE note SET record = convert_to("
    "(convert_from(record, 'UTF8')::jsonb || '{}')::text, 'UTF8')"
)
FIGURE = "UPDATE note SET figures = overlay(figures PLACING '{}'::bytea FROM {})"


def record(**values: object) -> str:
    """Return the statement that gives the records of notes other fields."""
    return RECORD.format(json.dumps(values))


CHANGES = {
    "escapes in all that is shown": (
        "UPDATE note SET path = %(t)s || path, type = %(t)s, tags = %(t)s, "
        "text = convert_to(%(t)s, 'UTF8'), record = convert_to(replace(convert_from(record, "
        "'UTF8'), 'palace/', %(j)s || 'palace/'), 'UTF8'); "
        "UPDATE generation SET built_by = %(t)s"
    ),
    "a title of escapes": record(title=ESCAPE, type=ESCAPE),
    "a path out of the palace": (
        "UPDATE note SET path = '../../../../etc/passwd'; " + record(path="../../../../etc/passwd")
    ),
    "a path of its own": "UPDATE note SET path = '../../../../etc/passwd'",
    "a large record": record(aliases="x" * 20_000_000),
    "a record that is a list": "UPDATE note SET record = '[1]'",
    "a record with other types": record(aliases=[[1]]),
    "a record that is no JSON": "UPDATE note SET record = '\\xff'",
    "a nested record": "UPDATE note SET record = convert_to(repeat('[', 50000), 'UTF8')",
    "no days": record(days=[None] * 4),
    "large figures": record(stat=[10**30, 0, 0, 0, 0]) + "; " + record(date=10**400),
    "a priority that is none": record(priority=7),
    "chunks of another shape": record(chunks=[[1], {"a": 2}]),
    "lines that are not there": record(chunks=[[2**31, -5, "00" * 16, '[[], ""]\n']]),
    "lines that are no JSON": record(line="{\n", chunks=[[1, 2, "00" * 16, "x\n"]]),
    "a digest of another length": record(digest="00", chunks=[[1, 2, "00", '[[], ""]\n']]),
    "tags of another kind": "UPDATE note SET tags = E'\\x1f\\x1f#'",
    "a room that is none": (
        "UPDATE generation SET record = jsonb_set(record, '{rooms}', '{\"palace\": \"7\"}')"
    ),
    "conflicts that are none": (
        "UPDATE generation SET record = jsonb_set(record, '{disputes}', '{\"x\": [[7]]}')"
    ),
    "passages of another note": "UPDATE passage SET note = 777",
    "settings that are none": "UPDATE generation SET record = jsonb_set(record, '{settings}', '7')",
    "an embedder that is a number": (
        "UPDATE generation SET record = jsonb_set(record, '{embedder}', '7')"
    ),
    "figures of ones": "UPDATE note SET figures = decode(repeat('ff', 40), 'hex')",
    "a number of another note": FIGURE.format("\\x63000000", 1),
    "many passages": FIGURE.format("\\xffffff7f", 5),
    "no words": FIGURE.format("\\x00000000", 9),
    "a date that is none": FIGURE.format("\\x000000000000f87f", 17),
    "a date without end": FIGURE.format("\\x000000000000f07f", 17),
    "a text that is no UTF-8": "UPDATE note SET text = '\\xff'",
    "no keys": "UPDATE note SET keys = ''",
    "no vectors": "UPDATE note SET vectors = ''; UPDATE passage SET vector = NULL",
    "vectors of none": "UPDATE note SET vectors = decode(repeat('ff', length(vectors)), 'hex')",
    "another vector": "UPDATE passage SET vector = '[1,2,3]'",
    "a large vector": "UPDATE passage SET vector = array_fill(60000, ARRAY[256])::halfvec",
    "postings of ones": "UPDATE posting SET data = decode(repeat('ff', 60), 'hex')",
    "no postings": "DELETE FROM posting",
    "no passages": "DELETE FROM passage",
    "no notes": "DELETE FROM note",
    "no sample": "UPDATE generation SET sample = ''",
    "a sample of none": "UPDATE generation SET sample = decode(repeat('ff', 1024), 'hex')",
    "a generation of another shape": "UPDATE generation SET record = '[7]'",
    "a calibration that is none": (
        "UPDATE generation SET record = jsonb_set(record, '{calibration,null_mean}', '\"x\"')"
    ),
    "an embedder that is none": (
        "UPDATE generation SET record = jsonb_set(record, '{embedder}', '\"../../x\\u001b[2J\"')"
    ),
    "another dimension": "UPDATE generation SET record = jsonb_set(record, '{dimension}', '-7')",
    "a dimension of another model": (
        "UPDATE generation SET record = jsonb_set(record, '{dimension}', '3')"
    ),
    "a dimension that is none": (
        "UPDATE generation SET record = jsonb_set(record, '{dimension}', '\"x\"')"
    ),
}
"""By what it is: what a role that may write a palace does to it."""


@pytest.fixture(scope="module")
def two(shared, tmp_path_factory):
    push_two(shared, tmp_path_factory.mktemp("palaces"))
    return shared


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
                        part,
                        {"t": ESCAPE, "j": json.dumps(ESCAPE)[1:-1]} if "%(t)s" in part else None,
                        binary=False,
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
