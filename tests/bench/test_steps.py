"""The benchmark of an index that is still being built asks one that lacks what it says."""

from __future__ import annotations

import numpy as np

from memory_palace.bench.corpora import open_corpus
from memory_palace.bench.datasets.items import Collection, EvalDocument, EvalQuestion
from memory_palace.bench.steps import _ask, keep_vectors
from memory_palace.embedding.hashing import HashingEmbedder


def make_collection():
    documents = tuple(
        EvalDocument(str(n), f"Lantern {n} is of brass, and {n * 7} men saw it.")
        for n in range(120)
    )
    questions = tuple(
        EvalQuestion(str(n), f"who saw lantern {n}", frozenset({str(n)})) for n in range(0, 120, 10)
    )
    return Collection("lanterns", documents, questions)


def test_a_share_of_the_notes_keeps_its_vectors_and_all_are_found(tmp_path):
    embedder, collection = HashingEmbedder(), make_collection()
    corpus = open_corpus(collection, tmp_path, embedder)
    partly = keep_vectors(corpus.snapshot, 0.5, embedder, seed=1)
    assert partly.lacking is not None
    assert 0.3 < float(np.mean(partly.lacking)) < 0.7
    assert not partly.rows_of(np.flatnonzero(partly.lacking)).any()
    assert keep_vectors(corpus.snapshot, 1.0, embedder) is corpus.snapshot
    for share in (0.0, 0.5, 1.0):
        assert _ask([collection], [corpus], embedder, share) > 0.9
