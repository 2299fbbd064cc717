"""The nine tests of the bridge that source document 004 names."""

from __future__ import annotations

from typing import get_args

import pytest

from memory_palace.features.seek.belief import (
    SearchStatus,
    apply_memory_retrieval,
    check_belief,
    new_belief,
)

THRESHOLD = 0.3


def after(status, *scores):
    belief = new_belief("red backpack")
    belief["target_status"] = status
    candidates = [{"node_id": place, "score": score} for place, score in enumerate(scores)]
    assert apply_memory_retrieval(belief, candidates, THRESHOLD) is None
    assert belief["candidate_nodes"] == candidates
    check_belief(belief)
    return belief["target_status"]


@pytest.mark.parametrize(
    ("before", "scores", "status"),
    [
        pytest.param("visible", [0.1], "visible", id="visible_never_demotes"),
        pytest.param(
            "searching", [0.8], "likely_in_memory", id="promotion_searching_to_likely_in_memory"
        ),
        pytest.param(
            "searching", [0.1], "searching", id="searching_stays_searching_with_low_score"
        ),
        pytest.param(
            "likely_in_memory", [0.1], "likely_in_memory", id="no_flapping_likely_in_memory"
        ),
        pytest.param("done", [0.9], "done", id="done_status_unchanged"),
        pytest.param("unreachable", [0.9], "unreachable", id="unreachable_status_unchanged"),
        pytest.param("searching", [], "searching", id="empty_candidates"),
        pytest.param("searching", [THRESHOLD], "likely_in_memory", id="threshold_boundary"),
        pytest.param("searching", [0.2999999], "searching", id="below_threshold_boundary"),
    ],
)
def test_the_status_after_a_search_of_memory(before, scores, status):
    assert after(before, *scores) == status


@pytest.mark.parametrize("status", get_args(SearchStatus))
def test_candidate_nodes_always_set(status):
    after(status, 0.9, 0.2)
