"""Beyond a size an index of vectors proposes passages: it must propose those that are nearest."""

import pytest
from store.pushing import push_and_read

from memory_palace.features.store import reader as reading
from memory_palace.features.store import writing
from memory_palace.features.store.connecting import Statements

NOW = 1_794_700_000.0
QUESTIONS = ["what ruins cells in winter", "when is the honey taken", "who looks after the queen"]
WAYS = [
    {},
    {"include_cold": True},
    {"type": "project"},
    {"room": "project_rooms"},
    {"since": 1.77e9},
    {"since": 0.0, "include_cold": True},
]


class Planned(Statements):
    """Keeps the plans of those statements that look for vectors in some way."""

    plans: list[str]
    way = "AS proposed"

    def ask(self, statement, **values):
        """Explain it first."""
        if self.way in statement:
            lines = super().ask(f"EXPLAIN {statement}", **values)
            self.plans.append("\n".join(line for (line,) in lines))
        return super().ask(statement, **values)


@pytest.fixture
def indexed(sample, database, monkeypatch):
    """A reader of a store whose passages have an index although they are few."""
    monkeypatch.setattr(writing, "INDEXED_ROWS", 1)
    monkeypatch.setattr(reading, "EXACT_ROWS", 0)
    monkeypatch.setattr(reading, "BY_VECTORS", 8)
    with push_and_read(database, sample) as reader:
        connection = reader._connection
        connection.execute("SET enable_seqscan = off; SET enable_sort = off")
        connection.commit()
        reader.statements = Planned(connection, reader.statements.palace)
        reader.statements.plans = []
        yield reader


@pytest.mark.parametrize("how", WAYS, ids=range(len(WAYS)))
def test_an_index_of_vectors_proposes_what_comparing_all_finds(indexed, sample, monkeypatch, how):
    nearest = []
    find = reading.find_nearest

    def keep(*given, **options):
        nearest.append(find(*given, **options))
        return nearest[-1]

    monkeypatch.setattr("memory_palace.features.store.reader.find_nearest", keep)
    for text in QUESTIONS:
        found = sample.query(text, as_of=NOW, limit=3, **how)
        for least in (1, 50_000):
            monkeypatch.setattr(writing, "INDEXED_ROWS", least)
            monkeypatch.setattr(reading, "EXACT_ROWS", least - 1)
            again = indexed.query(text, as_of=NOW, limit=3, **how)
            assert [hit.path for hit in again] == [hit.path for hit in found]
            scores = [hit.score for hit in found]
            assert [hit.score for hit in again] == pytest.approx(scores, rel=0.01, abs=0.01)
        by_index, compared = nearest[-2:]
        assert by_index.tolist() == pytest.approx(compared.tolist(), abs=1e-6)
        assert 0 < (by_index > by_index.min()).sum() < 8
    plans = indexed.statements.plans
    assert len(plans) == len(QUESTIONS)
    assert all("_vector on passage_" in plan for plan in plans)


def test_few_passages_are_found_by_their_notes_whatever_the_planner_thinks(
    sample, database, monkeypatch
):
    monkeypatch.setattr(writing, "INDEXED_ROWS", 1)
    with push_and_read(database, sample) as reader:
        reader._connection.execute("SET random_page_cost = 1000")  # it thinks reading all is best
        reader._connection.commit()
        reader.statements = Planned(reader._connection, reader.statements.palace)
        reader.statements.plans, reader.statements.way = [], "note = ANY(%(allowed)s)"
        reader.query(QUESTIONS[0], since=0.0)  # nearly all of them
    (plan,) = reader.statements.plans
    assert "Seq Scan" not in plan and "passage_1_palace_note_idx" in plan
