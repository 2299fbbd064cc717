"""One applied round must make memories easier to find, and random words must not."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from memory_palace.bench.golden import read_pairs
from memory_palace.bench.hardening import (
    build_vault_palace,
    measure_hardening,
)
from memory_palace.bench.metrics import interval
from memory_palace.embedding.registry import is_available

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
DATA = Path(os.environ.get("PALACE_BENCH_DATA", ROOT.parent / "shared" / "data"))
GARDEN = DATA / "vaults" / "jackyzha0-garden"
QUESTIONS = HERE / "sample_palace.md"

needs_minilm = pytest.mark.skipif(
    not is_available("minilm"), reason="needs minilm; palace models fetch minilm"
)


def by_name(rows):
    return {(row.arm, row.seen_by, row.group): row for row in rows}


def check_hardens(rows):
    found = by_name(rows)
    assert found["evolver", "cues", "all"].low > 0
    assert found["random words", "cues", "all"].low <= 0


def check_spares_the_others(rows):
    assert by_name(rows)["evolver", "cues", "not evolved"].difference >= -0.01


def test_sixty_questions_stand_for_notes_that_exist():
    pairs = read_pairs(QUESTIONS)
    assert len(pairs) == len({pair.question for pair in pairs}) == 60
    assert all((ROOT / pair.path).is_file() for pair in pairs)


@needs_minilm
def test_a_round_hardens_the_sample_palace_and_half_a_one_harms_nobody_else():
    questions = read_pairs(QUESTIONS)
    check_hardens(measure_hardening(ROOT, questions, embedder="minilm"))
    check_spares_the_others(measure_hardening(ROOT, questions, embedder="minilm", asked=25))


@needs_minilm
@pytest.mark.skipif(
    "PALACE_TEST_GARDEN" not in os.environ,
    reason="takes a quarter of an hour, PALACE_TEST_GARDEN=1 runs it; see palace bench redqueen",
)
def test_a_round_hardens_two_hundred_notes_of_the_garden_and_half_a_one_spares_the_others(tmp_path):
    if not GARDEN.is_dir():
        pytest.skip("the garden vault is not here")
    questions = build_vault_palace(GARDEN, tmp_path)
    assert len({question.path for question in questions}) == 200
    chosen = tmp_path / "chosen"
    check_hardens(measure_hardening(chosen, questions, embedder="minilm", rounds=3))
    check_spares_the_others(
        measure_hardening(chosen, questions, embedder="minilm", asked=100, rounds=3)
    )


def test_link_texts_that_hold_the_name_or_name_two_notes_ask_nothing(tmp_path):
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "bees.md").write_text("# Bees\n\nThe hives stand behind the wall.\n")
    (vault / "wax.md").write_text("# Wax\n\nCandles are poured in the autumn.\n")
    (vault / "log.md").write_text(
        "# Log\n\nSee [[bees|the hives]], [[bees|our bees]], [[wax|it all]], [[bees|it all]], "
        "[[wax|candle stuff]].\n"
    )
    asked = build_vault_palace(vault, tmp_path / "root")
    assert [(q.question, q.path.rpartition("/")[2]) for q in asked] == [
        ("the hives", "bees.md"), ("candle stuff", "wax.md"),
    ]  # fmt: skip


def test_an_interval_knows_that_questions_on_one_memory_go_together():
    differences = np.array([1.0] * 10 + [0.0] * 10)
    apart = interval(differences, clusters=[f"m{i}" for i in range(20)])
    together = interval(differences, clusters=[f"m{i // 10}" for i in range(20)])
    assert together[1] - together[0] > apart[1] - apart[0]
