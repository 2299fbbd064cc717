"""The nine tests of the bridge that source document 004 names."""

from __future__ import annotations

from typing import get_args

import pytest

from memory_palace.features.seek.belief import SearchStatus, apply_memory_retrieval, new_belief
from memory_palace.features.seek.schema import check_belief

THRESHOLD = 0.3


def after(status, *scores):
    belief = new_belief("red backpack")
    belief["target_status"] = status
    candidates = [{"node_id": place, "score": score} for place, score in enumerate(scores)]
    assert apply_memory_retrieval(belief, candidates, THRESHOLD) is None
    assert belief["candidate_nodes"] == candidates
    check_belief(belief)
    return belief["target_status"]


def test_visible_never_demotes():
    assert after("visible", 0.1) == "visible"


def test_promotion_searching_to_likely_in_memory():
    assert after("searching", 0.8) == "likely_in_memory"


def test_searching_stays_searching_with_low_score():
    assert after("searching", 0.1) == "searching"


def test_no_flapping_likely_in_memory():
    assert after("likely_in_memory", 0.1) == "likely_in_memory"


def test_done_status_unchanged():
    assert after("done", 0.9) == "done"


def test_unreachable_status_unchanged():
    assert after("unreachable", 0.9) == "unreachable"


@pytest.mark.parametrize("status", get_args(SearchStatus))
def test_candidate_nodes_always_set(status):
    after(status, 0.9, 0.2)


def test_empty_candidates():
    assert after("searching") == "searching"


@pytest.mark.parametrize(
    ("score", "status"), [(THRESHOLD, "likely_in_memory"), (0.2999999, "searching")]
)
def test_threshold_boundary(score, status):
    assert after("searching", score) == status


def test_candidates_are_copied_and_not_shared():
    belief = new_belief("red backpack")
    candidates = [{"node_id": 1, "score": 0.5}]
    apply_memory_retrieval(belief, candidates, THRESHOLD)
    candidates[0]["score"] = 0.9
    assert belief["candidate_nodes"] == [{"node_id": 1, "score": 0.5}]
