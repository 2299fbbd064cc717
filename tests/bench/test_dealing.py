"""What metadata decides and what it does not, on a small sample."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memory_palace.bench.dealing import count_first, rank_pair, write_pairs
from memory_palace.bench.vectors import RememberingEmbedder, loading
from memory_palace.embedding.registry import get_embedder, is_available
from memory_palace.models import Filters, Query
from memory_palace.palace import Palace

PAIRS = Path(__file__).parents[1] / "retrieval" / "pairs_dev.jsonl"
pytestmark = pytest.mark.skipif(
    not is_available("minilm"), reason="needs minilm; palace models fetch minilm"
)


@pytest.fixture(scope="module")
def palace(tmp_path_factory):
    """Hold 30 pairs of notes that say the same."""
    root = tmp_path_factory.mktemp("pairs")
    embedder = RememberingEmbedder(get_embedder("minilm"))
    with loading(embedder):
        palace = Palace.init(root)
        write_pairs(root, read())
        palace.index(embedder="minilm")
        yield palace


def read():
    return [json.loads(line) for line in PAIRS.read_text("utf-8").splitlines()[:30]]


def test_of_two_notes_that_say_the_same_the_preferred_comes_first(palace):
    ranks = [rank_pair(palace, pair) for pair in read()]
    assert all(max(pair) < 5 for pair in ranks)
    assert sum(best < other for best, other in ranks) >= 27


def test_dates_and_priorities_at_random_take_no_answer_from_its_place(palace):
    asked = []
    for pair in read():
        right = {f"palace/grand_hall/pairs/{pair[s]['name']}.md" for s in ("preferred", "other")}
        vector = palace.embedder().embed_queries([pair["question"]])[0]
        asked.append((Query(pair["question"], 1_790_000_000.0, Filters(), vector), right))
    plain = count_first(palace.snapshot(), asked, seed=0)
    assert plain >= 29
    assert min(count_first(palace.snapshot(), asked, seed=seed) for seed in (1, 2, 3)) >= plain - 1
