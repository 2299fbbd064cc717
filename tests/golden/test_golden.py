"""How well the golden questions are answered, and that metadata cannot spoil it."""

import random
import shutil
from contextlib import contextmanager
from pathlib import Path
from statistics import mean

import pytest
from copying_palaces import ask, measure_recall
from evaluation_data import GARDEN, ROOT
from remembering import remember_questions

from benchmarks.golden import copy_vault, read_pairs
from memory_palace.embedding.registry import is_available
from memory_palace.palace import Palace

HERE = Path(__file__).parent

pytestmark = pytest.mark.skipif(
    not is_available("minilm"), reason="needs minilm; palace models fetch minilm"
)


@pytest.fixture(scope="session")
def opened(tmp_path_factory):
    """Index each set once, whatever the order of the tests."""
    built: dict[str, Palace] = {}

    def open_set(name):
        if name not in built:
            root = tmp_path_factory.mktemp(name)
            if name == "garden":
                copy_vault(GARDEN, root)
            else:
                hidden = shutil.ignore_patterns(".*")
                shutil.copytree(ROOT / "palace", root / "palace", ignore=hidden)
            built[name] = Palace(root)
            built[name].index(embedder="minilm")
            remember_questions(built[name])  # metadata is shuffled twenty times
        return built[name]

    return open_set


@pytest.fixture(params=["sample_palace", pytest.param("garden", marks=pytest.mark.long)])
def asked(request, opened):
    name = request.param
    if name == "garden" and not GARDEN.is_dir():
        pytest.skip("the garden vault is not here")
    prefix = "palace/project_rooms/vault/" if name == "garden" else ""
    return opened(name), read_pairs(HERE / f"{name}.md"), prefix


@contextmanager
def shuffled(palace, seed):
    """Deal the dates and priorities of the opened snapshot to other notes, at random."""
    snapshot = palace.snapshot()
    order = list(range(len(snapshot.paths)))
    random.Random(seed).shuffle(order)
    kept = {name: getattr(snapshot, name) for name in ("dates", "told_dates", "priorities")}
    snapshot.__dict__.update({name: values[order] for name, values in kept.items()})
    try:
        yield
    finally:
        snapshot.__dict__.update(kept)


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
    for recalls in ([compound], draws):
        assert mean(recall.at_1 for recall in recalls) >= raw.at_1 - 0.02
        assert mean(recall.at_5 for recall in recalls) >= raw.at_5 - 0.02


def test_the_literal_formula_is_why_there_is_a_gate(asked):
    palace, pairs, prefix = asked
    literal = measure_recall(pairs, ask(palace, profile="compound", gate=False), prefix=prefix)
    gated = measure_recall(pairs, ask(palace, profile="compound"), prefix=prefix)
    assert literal.at_5 < gated.at_5


@pytest.mark.long
def test_nine_questions_in_ten_are_answered_and_hybrid_answers_more_than_its_parts_alone(opened):
    if not GARDEN.is_dir():
        pytest.skip("the garden vault is not here")
    found = dict.fromkeys(("hybrid", "compound", "raw", "bm25"), 0.0)
    questions = 0
    for name, prefix in (("sample_palace", ""), ("garden", "palace/project_rooms/vault/")):
        pairs = read_pairs(HERE / f"{name}.md")
        questions += len(pairs)
        for profile in found:
            recall = measure_recall(pairs, ask(opened(name), profile=profile), prefix=prefix)
            found[profile] += recall.at_5 * len(pairs)
    assert round(found["compound"]) / questions >= 0.90
    assert round(found["hybrid"]) / questions >= 0.93
    assert found["hybrid"] >= max(found["raw"], found["bm25"])
