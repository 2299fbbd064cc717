"""What metadata decides and what it does not, on a small sample."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path

import pytest

from memory_palace.bench.dealing import count_first, rank_pair, write_pairs
from memory_palace.bench.vectors import RememberingEmbedder, loading
from memory_palace.embedding.registry import get_embedder, is_available
from memory_palace.models import Filters, Query
from memory_palace.palace import Palace

PAIRS = Path(__file__).parents[1] / "retrieval"
HELD = "8b4672e6abb1f222283413a65f5cb650203f7cf31fcdf35dda96ef60c4255bb6"
pytestmark = pytest.mark.skipif(
    not is_available("minilm"), reason="needs minilm; palace models fetch minilm"
)


@pytest.fixture(scope="module", params=["dev", "held"])
def asked_of(request, tmp_path_factory):
    """Hold 30 pairs of notes that say the same."""
    root = tmp_path_factory.mktemp("pairs")
    embedder = RememberingEmbedder(get_embedder("minilm"))
    with loading(embedder):
        palace, pairs = Palace.init(root), read(request.param)
        write_pairs(root, pairs)
        palace.index(embedder="minilm")
        yield palace, pairs


def read(half):
    lines = (PAIRS / f"pairs_{half}.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines[:30]]


def test_the_pairs_that_were_held_out_are_those_of_the_digest_given_before():
    data = (PAIRS / "pairs_held.jsonl").read_bytes()
    assert sha256(data).hexdigest() == HELD
    assert len(data.splitlines()) == 100


def test_of_two_notes_that_say_the_same_the_preferred_comes_first(asked_of):
    palace, pairs = asked_of
    ranks = [rank_pair(palace, pair) for pair in pairs]
    assert all(max(pair) < 5 for pair in ranks)
    assert sum(best < other for best, other in ranks) >= 27


def test_dates_and_priorities_at_random_take_no_answer_from_its_place(asked_of):
    palace, pairs = asked_of
    asked = []
    for pair in pairs:
        right = {f"palace/grand_hall/pairs/{pair[s]['name']}.md" for s in ("preferred", "other")}
        vector = palace.embedder().embed_queries([pair["question"]])[0]
        asked.append((Query(pair["question"], 1_790_000_000.0, Filters(), vector), right))
    plain = count_first(palace.snapshot(), asked, seed=0)
    assert plain >= 29
    assert min(count_first(palace.snapshot(), asked, seed=seed) for seed in (1, 2, 3)) >= plain - 1
