"""Files and a store measured beside each other: what is told, and that nothing is left behind."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest

pytest.importorskip("psycopg", reason="needs the extra [postgres]")

from postgres import dying
from postgres.conftest import SAMPLE
from postgres.pushing import Store

from memory_palace.bench import store_server
from memory_palace.bench.store import BothSides, measure_clients, measure_store
from memory_palace.bench.stretching import PER_NOTE, spread_vectors, stretch_palace
from memory_palace.cli.app import main
from memory_palace.config import PalacePaths
from memory_palace.errors import MissingPartError, PalaceError, StoreError, UsageError
from memory_palace.palace import Palace
from memory_palace.postgres.access import grant
from memory_palace.postgres.address import read_address

pytestmark = pytest.mark.postgres


@pytest.fixture
def notes(tmp_path):
    """The sample palace, without an index."""
    target = tmp_path / "notes"
    shutil.copytree(SAMPLE, target, ignore=shutil.ignore_patterns(".*"))
    return target


def test_both_are_measured_and_the_palace_is_gone_afterwards(database, notes):
    options = {"embedder": "hashing", "questions": 4, "clients": 2, "runs": 1}
    rows = {
        row.what.removeprefix("notes"): row
        for row in measure_store(notes, read_address(database.url()), **options)
    }
    assert [what for what in rows if "pass: p95" in what] == [
        f", {share} pass: p95" for share in ("100.0%", "50.0%", "5.0%", "0.1%")
    ]
    assert rows[": same first 10"].value == 1
    assert rows[", 2 clients: errors"].value == 0
    assert rows[", 2 clients: questions"].value > 0
    assert rows[", 5% pass, vectors alone: recall@10"].value == 1
    compared = [row for row in rows.values() if row.beside]
    assert len(compared) == 9
    assert all(row.value > 0 and row.baseline > 0 for row in compared)
    with database.connect() as connection:
        tables = "SELECT relname FROM pg_class WHERE relname ~ '^passage_[0-9]+$'"
        assert connection.execute(tables).fetchall() == []
        for table in ("palace", "generation", "note", "passage", "posting", "name", "link"):
            query = f"SELECT count(*) FROM memory_palace.{table}"
            assert connection.execute(query).fetchone() == (0,), table


def test_what_fails_before_there_is_a_palace_is_told(database, notes):
    with pytest.raises(PalaceError, match="no-model"):
        list(measure_store(notes, read_address(database.url()), embedder="no-model"))


@pytest.fixture
def sides(database, sample):
    """A palace at a store, whose reader may connect once."""
    store = Store(database, sample)
    store.push()
    grant(store.connection, store.address, database.make_role("anna"), may_write=False)
    store.connection.close()
    with database.server.connect() as admin:
        admin.execute("ALTER ROLE anna CONNECTION LIMIT 1")
    return BothSides(sample, read_address(database.url("anna", palace="hut")), "", ["stove"], 2)


def test_a_client_that_is_refused_is_told_and_nobody_waits_for_it(sides):
    with pytest.raises(StoreError, match="too many connections for role"):
        list(measure_clients(sides))


def test_a_client_that_is_killed_is_told_and_nobody_waits_for_it(sides, monkeypatch):
    monkeypatch.setattr("memory_palace.bench.store_clients._ask_many", dying.ask_and_die)
    with pytest.raises(PalaceError, match="a client was killed while it asked"):
        list(measure_clients(sides))


def test_a_stretched_palace_is_whole_but_for_what_its_passages_hold(tmp_path, sample):
    made = stretch_palace(sample, PalacePaths(tmp_path / "large"), 400)
    assert made.snapshot().hot_rows.sum() == 400
    assert len(made.snapshot().paths) == 400 // PER_NOTE
    report = made.index()
    assert (report.unchanged, report.added, report.changed) == (400 // PER_NOTE, (), ())
    found = {finding.message for finding in made.doctor().findings}
    assert found == {"its chunks are not those of its text"}
    hit = made.query("the calibration of the sensors", limit=1).hits[0]
    assert (
        made.snapshot().chunk(0).preview in (made.paths.root / made.snapshot().paths[0]).read_text()
    )
    assert (made.paths.root / hit.path).is_file()


def test_noise_is_as_far_as_real_neighbours_are():
    rng = np.random.default_rng(2)
    real = rng.normal(size=(300, 32)).astype(np.float32)
    real /= np.linalg.norm(real, axis=1, keepdims=True)
    origins = rng.integers(0, 300, 3_000)
    made = spread_vectors(real, origins, rng)
    assert np.allclose(np.linalg.norm(made, axis=1), 1, atol=1e-5)
    cosines = np.sum(made * real[origins], axis=1)
    others = np.sort(real @ real.T, axis=1)[:, -2]
    assert np.allclose(
        np.quantile(cosines, (0.1, 0.5, 0.9)), np.quantile(others, (0.1, 0.5, 0.9)), atol=0.03
    )


def test_too_few_passages_are_not_stretched(tmp_path):
    (tmp_path / "note.md").write_text("# One\n\nA note.\n", "utf-8")
    small = Palace.init(tmp_path, here=True)
    small.index(embedder="hashing")
    with pytest.raises(UsageError, match="has 1 passages"):
        stretch_palace(small, PalacePaths(tmp_path / "large"), 100)


def test_an_address_with_a_password_is_refused(tmp_path):
    address = read_address("postgresql://me:secret@host/palaces")
    with pytest.raises(UsageError, match="PGPASSWORD") as caught:
        list(measure_store(tmp_path, address))
    assert "secret" not in str(caught.value)


def test_without_a_store_a_server_is_started(notes, capsys):
    options = "--embedder hashing --queries 2 --clients 1 --runs 1 --json"
    main(["bench", "store", str(notes), *options.split()])
    figures = json.loads(capsys.readouterr().out)["figures"]
    assert len(figures) > 10


def test_without_the_wheel_one_line_says_what_to_do(monkeypatch):
    monkeypatch.setattr(store_server, "find_spec", lambda name: None)
    server = store_server.started_server()
    with pytest.raises(MissingPartError, match=r"--store, or run .*\[postgres-test\]"), server:
        pass
