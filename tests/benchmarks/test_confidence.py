"""How far confidence can be trusted, measured on two little collections."""

import numpy as np
import pytest

from benchmarks.confidence import ask_across, compare, find_auc, find_bins
from benchmarks.datasets.items import Collection, EvalDocument, EvalQuestion
from memory_palace.embedding.registry import get_embedder

KITCHEN = {
    "bread": "Knead the dough for ten minutes and let it rise under a cloth.",
    "soup": "Onions simmer in stock until they are golden.",
}
BOAT = {
    "sail": "The mainsail is reefed when the wind passes force five.",
    "anchor": "Seven times the depth of chain holds the anchor in a storm.",
}


def collection(name: str, texts: dict[str, str]) -> Collection:
    documents = tuple(EvalDocument(key, f"# {key}\n\n{text}\n") for key, text in texts.items())
    asked = (
        EvalQuestion(key, f"what of the {text}", frozenset([key])) for key, text in texts.items()
    )
    return Collection(name, documents, tuple(asked))


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    group = [collection("kitchen", KITCHEN), collection("boat", BOAT)]
    return ask_across(group, get_embedder("hashing"), tmp_path_factory.mktemp("cache"))


def test_every_palace_is_asked_its_own_questions_and_those_of_the_others(answers):
    assert set(answers) == {(p, s) for p in ("kitchen", "boat") for s in ("kitchen", "boat")}
    for (palace, source), found in answers.items():
        assert [is_found for _, is_found in found] == [palace == source] * 2


def test_own_questions_are_answered_and_foreign_ones_are_not(answers):
    rows = compare(answers)
    assert [(row.auc, row.own, row.foreign) for row in rows] == [(1.0, 1.0, 0.0)] * 2
    assert {(row.palace, row.source) for row in rows} == {("kitchen", "boat"), ("boat", "kitchen")}


def test_auc_counts_ties_half():
    assert find_auc(np.array([1.0, 0.5]), np.array([0.5, 0.0])) == 0.875


def test_bins_count_own_and_foreign_alike(answers):
    bins = find_bins(answers)
    assert sum(one.count for one in bins) == 8
    assert bins[0].right == 0.0 and bins[-1].right == 1.0
    many = {**answers, ("kitchen", "boat"): [*answers["kitchen", "boat"]] * 9}
    assert [one.right for one in find_bins(many)] == [one.right for one in bins]
    for one in bins:
        assert one.low <= one.right <= one.high and one.high - one.low > 0.1
