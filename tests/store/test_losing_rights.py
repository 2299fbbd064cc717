"""Rights that go while somebody is connected, or that were never there."""

import pytest
from running import run_main
from store.granting import push_two
from store.pushing import write_notes

from memory_palace.cli.registry import read_address
from memory_palace.errors import PalaceError, StoreError, WrongEmbedderError
from memory_palace.features.store.connecting import grant, open_store
from memory_palace.features.store.reader import StoreReader


def test_who_is_connected_when_rights_go_is_told_with_the_next_question(database, tmp_path):
    push_two(database, tmp_path)
    hers, secret = (read_address(database.url(palace=name)) for name in ("hers", "secret"))
    with open_store(hers, purpose="test") as keeper:
        for left in (True, False):  # with another palace left, and with none
            grant(keeper, secret, "reader", may_write=False)
            grant(keeper, hers, "reader", may_write=False)
            with StoreReader(read_address(database.url("reader", palace="hers"))) as reader:
                for _ in range(6):  # statements are prepared by the sixth
                    assert reader.query("hut").hits
                if not left:
                    grant(keeper, secret, "reader", may_write=None)
                grant(keeper, hers, "reader", may_write=None)
                with pytest.raises(
                    PalaceError, match=r"granted to this role|palace config store grant reader"
                ):
                    reader.query("hut")
                grant(keeper, hers, "reader", may_write=False)
                assert reader.query("hut").hits


def test_who_leaves_a_group_keeps_nothing_of_an_old_plan(database, tmp_path):
    push_two(database, tmp_path)
    database.make_role("crew")
    anna = database.make_role("anna", "crew")
    hers, secret = (read_address(database.url(palace=name)) for name in ("hers", "secret"))
    with open_store(hers, purpose="test") as keeper:
        grant(keeper, hers, "crew", may_write=True)
        grant(keeper, secret, anna, may_write=True)  # so that she keeps her rights on tables
    with database.connect(anna) as connection, database.server.connect() as admin:
        connection.execute("SET plan_cache_mode = force_generic_plan")
        for prepared in (
            "PREPARE notes AS SELECT path FROM memory_palace.note WHERE palace = $1",
            "PREPARE change AS UPDATE memory_palace.note SET type = 'x' WHERE palace = $1",
        ):
            connection.execute(prepared)
        assert len(connection.execute("EXECUTE notes(2)").fetchall()) == 1
        admin.execute("REVOKE crew FROM anna; GRANT crew TO stranger")
        assert connection.execute("EXECUTE notes(2)").fetchall() == []
        assert connection.execute("EXECUTE change(2)").rowcount == 0
        assert len(connection.execute("EXECUTE notes(1)").fetchall()) == 30
        admin.execute("REVOKE crew FROM stranger")


def test_a_writer_needs_no_temporary_tables(database, tmp_path, capsys):
    palaces = push_two(database, tmp_path)
    with database.server.connect() as admin:
        admin.execute(f"REVOKE ALL ON DATABASE {database.name} FROM PUBLIC")
        admin.execute(f"GRANT CONNECT ON DATABASE {database.name} TO writer")
    notes = {f"n{number}": f"# Note {number}\n\nA word{number}.\n" for number in range(500)}
    write_notes(tmp_path / "hers", **notes)
    line = ("-C", str(palaces["hers"].paths.root), "index", "--store")
    status, out, err = run_main(capsys, *line, database.url("writer", palace="hers"))
    assert (status, "500 passages" in out) == (0, True), (out, err)


def test_a_store_sends_no_question_to_a_service(database, tmp_path):
    """A writer of the palace names the model; the one who asks has its key."""
    push_two(database, tmp_path)
    with database.connect("writer") as writer:
        writer.execute(
            "UPDATE memory_palace.generation SET record = jsonb_set(record, '{embedder}', "
            "'\"llm:text-embedding-3-small\"')"
        )
    with StoreReader(read_address(database.url("reader", palace="hers"))) as reader:
        with pytest.raises(WrongEmbedderError, match="its user may choose"):
            reader.query("hut")
        assert reader.query("hut", lexical=True).hits
    with pytest.raises(StoreError):
        StoreReader(read_address(database.url("stranger", palace="hers")))
