"""How well the golden questions are answered, and that metadata cannot spoil it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from memory_palace.bench.golden import ask, copy_vault, mean, measure_recall, read_pairs, shuffled
from memory_palace.embedding.registry import is_available
from memory_palace.palace import Palace

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
DATA = Path(os.environ.get("PALACE_BENCH_DATA", ROOT.parent / "shared" / "data"))
GARDEN = DATA / "vaults" / "jackyzha0-garden"

pytestmark = pytest.mark.skipif(
    not is_available("minilm"), reason="needs minilm; palace models fetch minilm"
)


@pytest.fixture(scope="module", params=["sample_palace", "garden"])
def asked(request, tmp_path_factory):
    root = tmp_path_factory.mktemp(request.param)
    prefix = ""
    if request.param == "sample_palace":
        shutil.copytree(ROOT / "palace", root / "palace", ignore=shutil.ignore_patterns(".*"))
    elif GARDEN.is_dir():
        prefix = copy_vault(GARDEN, root)
    else:
        pytest.skip("the garden vault is not here")
    palace = Palace(root)
    palace.index(embedder="minilm")
    return palace, read_pairs(HERE / f"{request.param}.md"), prefix


def test_at_most_half_of_the_questions_share_a_rare_word():
    pairs = [p for name in ("sample_palace", "garden") for p in read_pairs(HERE / f"{name}.md")]
    assert len(pairs) == 30
    assert sum(pair.shares_rare_word for pair in pairs) <= 15


def test_every_note_of_a_pair_exists(asked):
    palace, pairs, prefix = asked
    assert {prefix + pair.path for pair in pairs} <= set(palace.snapshot().paths)


def test_compound_is_no_worse_than_raw_even_when_metadata_is_shuffled(asked):
    palace, pairs, prefix = asked
    raw = measure_recall(pairs, ask(palace, profile="raw"), prefix=prefix)
    compound = measure_recall(pairs, ask(palace, profile="compound"), prefix=prefix)
    draws = []
    for seed in range(20):
        with shuffled(palace, seed):
            draws.append(measure_recall(pairs, ask(palace, profile="compound"), prefix=prefix))
    for recall in (compound, mean(draws)):
        assert recall.at_1 >= raw.at_1 - 0.02
        assert recall.at_5 >= raw.at_5 - 0.02


def test_the_literal_formula_is_why_there_is_a_gate(asked):
    palace, pairs, prefix = asked
    literal = measure_recall(pairs, ask(palace, profile="compound", gate=False), prefix=prefix)
    gated = measure_recall(pairs, ask(palace, profile="compound"), prefix=prefix)
    assert literal.at_5 < gated.at_5
