"""What is promoted by chance, and what is meant."""

from pathlib import Path

import pytest

from benchmarks.seeking import measure_promotion, read_errands
from memory_palace.embedding.registry import get_embedder, is_available
from memory_palace.features.seek.nodes import Null, read_probes

HERE = Path(__file__).parent
TABLES = [HERE / "goals.md", HERE / "paraphrases.md", HERE / "held_out.md"]

minilm = pytest.mark.skipif(not is_available("minilm"), reason="palace models fetch minilm")


def test_what_the_threshold_is_fitted_to_is_not_what_it_is_measured_on():
    goals, texts = read_probes()
    assert len(goals) == len(texts) == 64
    measured = {
        text for table in TABLES for e in read_errands(table) for text in (e.goal, e.summary)
    }
    assert not measured & {*goals, *texts}


@minilm
@pytest.mark.long
@pytest.mark.parametrize("table", TABLES[1:], ids=lambda path: path.stem)
def test_unrelated_nodes_are_promoted_in_two_of_a_hundred_stores_and_meant_ones_in_ninety(table):
    measured = measure_promotion(read_errands(table), get_embedder("minilm"))
    shares = {share.what: share.value for share in measured}
    assert shares["5 unrelated nodes, default: promoted"] <= 0.02
    assert shares["10 unrelated nodes, default: promoted"] <= 0.02
    assert shares["1 meant among 10, default: promoted, and first"] >= 0.9


def test_the_threshold_rises_with_what_is_compared_and_falls_with_the_chance():
    null = Null(0.26, 0.05)
    assert null.cosine_threshold(5) < null.cosine_threshold(10) < null.cosine_threshold(1000)
    assert null.cosine_threshold(10, chance=0.05) < null.cosine_threshold(10, chance=0.01)
