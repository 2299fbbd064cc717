"""A store answers as the files do."""

from contextlib import ExitStack
from pathlib import Path

import pytest
from store.pushing import Store, push_and_read, write_notes

from benchmarks.golden import read_pairs
from memory_palace.errors import IndexMissingError, UsageError
from memory_palace.features.store import reader as reading
from memory_palace.features.store.reader import StoreReader
from memory_palace.palace import Palace

ROOT = Path(__file__).parents[2]
GOLDEN = [pair.question for pair in read_pairs(ROOT / "tests/golden/sample_palace.md")]
NOW = 1_794_700_000.0


@pytest.fixture
def pushed(database):
    """Push a palace, and return it as a store that can be asked."""
    with ExitStack() as stack:
        yield lambda palace: stack.enter_context(push_and_read(database, palace))


def look_at_few(monkeypatch, *, notes, passages):
    """Let fewer candidates do than those palaces have."""
    monkeypatch.setattr(reading, "BY_ALL", notes)
    monkeypatch.setattr(reading, "BY_EACH", 2)
    monkeypatch.setattr(reading, "BY_VECTORS", passages)
    monkeypatch.setattr(reading, "BY_LIMIT", 1)


def compare(palace, reader, text, *, as_of=NOW, **how):
    """Ask both, and demand the same hits in every field but for a hundredth of the scores."""
    found = palace.query(text, as_of=as_of, **how)
    again = reader.query(text, as_of=as_of, **how)
    assert [hit.path for hit in again] == [hit.path for hit in found], text
    scores = [hit.score for hit in found]
    assert [hit.score for hit in again] == pytest.approx(scores, rel=0.01, abs=0.01)
    for one, other in zip(found, again, strict=True):
        assert one.confidence == pytest.approx(other.confidence, abs=0.01)
        assert (one.chunk, one.text, one.role) == (other.chunk, other.text, other.role)
        assert (one.linked_from, one.disputed_in) == (other.linked_from, other.disputed_in)
        total = sum(part.contribution for part in other.contributions)
        assert total == pytest.approx(other.score, abs=1e-6)
    assert again.is_answered == found.is_answered
    assert again.unmatched_quotes == found.unmatched_quotes
    return found


def test_golden_questions_are_answered_as_by_the_files(sample, pushed):
    reader = pushed(sample)
    for text in GOLDEN:
        compare(sample, reader, text, limit=10, neighbors=2)


@pytest.mark.parametrize("how", [{"lexical": True}, {"include_cold": True}, {"profile": "raw"}])
def test_other_ways_to_ask_are_answered_as_by_the_files(sample, pushed, how):
    reader = pushed(sample)
    for text in GOLDEN[::5]:
        compare(sample, reader, text, limit=10, **how)


def test_a_few_candidates_are_enough(sample, pushed, monkeypatch):
    """A quarter of 54 notes: figures of the candidates alone would show."""
    look_at_few(monkeypatch, notes=12, passages=12)
    reader = pushed(sample)
    for text in GOLDEN[::2]:
        compare(sample, reader, text, limit=3)


def test_quotes_tags_and_names_are_found_as_in_the_files(tmp_path, pushed):
    (tmp_path / "palace").mkdir()
    write_notes(
        tmp_path,
        hut="---\ntags: [place/hut]\naliases: [the cabin]\n---\n# Hut\n\nIt has a red stove.\n",
        path="# Path\n\nSee [[hut]]; the path is steep, and nobody sweeps it.\n",
        stove="# Stove\n\nA stove that is red smokes. See [[path]].\n",
        log="---\ntitle: Frost Report\naliases: [Cold Nights]\n---\n%% mine %% <private>a red key"
        "</private>\n\nThe report is of frost in the cold of nights.\n",
    )
    palace = Palace(tmp_path)
    palace.index(embedder="hashing")
    reader = pushed(palace)
    for text in ('"red stove"', '"blue stove"', "#place stove", "#nothing stove", "the cabin"):
        compare(palace, reader, text, limit=5, neighbors=2)
    for text in ('"frost report"', '"cold nights" of frost', '"red key"', '"red key" "red stove"'):
        compare(palace, reader, text, limit=5)
    assert compare(palace, reader, "the cabim", limit=5)[0].title == "Hut"
    assert reader.query('"red stove"')[0].title == "Hut"


def test_a_palace_whose_notes_are_gone_answers_nothing(tmp_path, database):
    """Posting lists name them until they are merged."""
    (tmp_path / "palace").mkdir()
    write_notes(tmp_path, hut="# Hut\n\nThe hut has a stove.\n")
    store = Store(database, Palace(tmp_path))
    store.palace.index(embedder="hashing")
    store.push()
    (tmp_path / "palace/grand_hall/hut.md").unlink()
    assert store.push().removed == 1
    store.connection.close()
    with StoreReader(store.address) as reader:
        for text in ("stove", "what happened last May", "when:2026-05 stove"):
            assert not reader.query(text).hits


def test_what_a_store_cannot_be_asked_is_one_line(sample, pushed, database):
    reader = pushed(sample)
    with pytest.raises(UsageError, match="profile anchors"):
        reader.query("stove", profile="anchors")
    with pytest.raises(UsageError, match="no note of the index has the tag"):
        reader.query("stove", tags="'; DROP TABLE note; --")
    assert reader.query("'; DROP TABLE memory_palace.note; --").hits is not None


def test_a_palace_that_nothing_was_pushed_to_says_what_to_run(sample, database):
    store = Store(database, sample)
    store.connection.commit()
    store.connection.close()
    with StoreReader(store.address) as reader, pytest.raises(IndexMissingError, match="--store"):
        reader.query("stove")
