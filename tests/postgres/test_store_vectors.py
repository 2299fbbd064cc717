from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("psycopg", reason="needs the extra [postgres]")

from memory_palace.bench.store_vectors import (
    PER_NOTE,
    Graph,
    VectorTables,
    draw_picks,
    measure_vectors,
    spread_vectors,
)
from memory_palace.errors import StoreError
from memory_palace.postgres.address import read_address

pytestmark = pytest.mark.postgres

ROWS = 12_000


@pytest.fixture(scope="module")
def vectors():
    rng = np.random.default_rng(1)
    topics = rng.normal(size=(40, 32))
    real = topics[rng.integers(0, 40, 400)] + 0.6 * rng.normal(size=(400, 32))
    real /= np.linalg.norm(real, axis=1, keepdims=True)
    return spread_vectors(real.astype(np.float32), ROWS, rng)


def test_noise_is_as_far_as_real_neighbours_are():
    rng = np.random.default_rng(2)
    real = rng.normal(size=(300, 32)).astype(np.float32)
    real /= np.linalg.norm(real, axis=1, keepdims=True)
    made = spread_vectors(real, 3_000, rng)
    assert np.allclose(np.linalg.norm(made, axis=1), 1, atol=1e-5)
    to_real = np.sort((made @ real.T).max(axis=1))
    assert np.count_nonzero(to_real > 0.999) == 300
    others = np.sort(real @ real.T, axis=1)[:, -2]
    assert np.median(others) <= np.median(to_real[:-300]) < np.median(others) + 0.2


def test_what_is_measured_leaves_nothing_behind(database, vectors):
    address = read_address(database.url())
    found = measure_vectors(
        address, vectors, vectors[:20], graph=Graph(exact_rows=10_000), clients=3
    )
    rows = {row.what: row for row in found}
    recalls = {what: row.value for what, row in rows.items() if "recall" in what}
    assert [what.split(", ")[1:] for what in recalls] == [
        ["100.0% pass", "HNSW: recall@10"],
        ["50.0% pass", "exact: recall@10"],
        ["5.0% pass", "exact: recall@10"],
        ["0.1% pass", "exact: recall@10"],
    ]
    assert list(recalls.values())[1:] == [1, 1, 1]
    assert 0.9 < next(iter(recalls.values())) <= 1
    with database.connect() as connection:
        query = "SELECT count(*) FROM pg_namespace WHERE nspname = 'palace_bench'"
        assert connection.execute(query).fetchone() == (0,)


def test_a_schema_that_is_there_is_not_touched(database, vectors):
    with database.connect() as connection:
        connection.execute("CREATE SCHEMA palace_bench; CREATE TABLE palace_bench.kept (id int)")
    address = read_address(database.url())
    with pytest.raises(StoreError, match="palace_bench"):
        list(measure_vectors(address, vectors, vectors[:5], graph=Graph(), clients=1))
    with database.connect() as connection:
        assert connection.execute("SELECT count(*) FROM palace_bench.kept").fetchone() == (0,)


def test_hnsw_gives_what_a_filter_lets_pass_and_an_edit_what_is_new(database, vectors):
    tables = VectorTables(read_address(database.url()), Graph())
    tables.load(vectors)
    tables.index(vectors.shape[1])
    rows = np.flatnonzero(np.repeat(draw_picks(ROWS) < 0.05, PER_NOTE))
    best = set(rows[np.argsort(-(vectors[rows] @ vectors[0]))[:10]].tolist())
    assert len(best & set(tables.ask(vectors[0], 0.05, is_exact=False))) >= 9
    assert set(tables.ask(vectors[0], 0.05, is_exact=True)) == best

    note = ROWS // PER_NOTE - 1
    tables.replace_note(note, -np.repeat(vectors[:1], PER_NOTE, axis=0))
    found = tables.ask(-vectors[0], 1.0, is_exact=False)
    assert set(found) >= set(range(note * PER_NOTE, ROWS))
    tables.drop()
    tables.connection.close()
