"""One step: retrieval, proposal, verification, belief, record."""

import json
import subprocess
import sys

import pytest

from memory_palace.features.seek.belief import new_belief
from memory_palace.features.seek.loop import (
    Retrieval,
    RuleProposer,
    Surroundings,
    go_to,
    parse_proposal,
    take_step,
    verify,
)
from memory_palace.features.seek.nodes import Pose2D

NODES = frozenset(range(4))
POSES = {number: Pose2D(float(number), 0.0) for number in NODES}


def step(belief, candidates, around=None, threshold=0.5, number=0):
    return take_step(
        belief, Retrieval(candidates, threshold), around or Surroundings(NODES),
        proposer=RuleProposer(), verifier=verify, step=number,
    )  # fmt: skip


def test_the_self_check_is_a_command():
    command = [sys.executable, "-m", "memory_palace.features.seek.loop", "--self-check"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.count("[PASS]") == 3
    assert "all checks passed" in done.stdout


def test_a_step_logs_what_retrieval_did():
    before = new_belief("red backpack")
    _, record = step(before, [{"node_id": 2, "score": 0.7}, {"node_id": 1, "score": 0.2}])
    assert record["retrieval_ran"] is True
    assert record["retrieval_topk"][0] == {"node_id": 2, "score": 0.7}
    assert record["retrieval_best_score"] == 0.7
    assert record["retrieval_threshold_pass"] is True
    assert (record["target_status"], record["next_node_id"]) == ("likely_in_memory", 2)
    assert before == new_belief("red backpack")
    json.dumps(record, allow_nan=False)


def test_a_step_without_candidates_logs_none_and_explores_the_nearest():
    around = Surroundings(NODES, POSES, Pose2D(2.9, 0.0))
    belief, record = step(new_belief("red backpack"), [], around)
    assert record["retrieval_best_score"] is None
    assert record["retrieval_threshold_pass"] is False
    assert (belief["next_action"], record["next_node_id"]) == ("explore", 3)


def test_likely_places_that_were_all_looked_at_are_exhausted():
    belief, _ = step(new_belief("red backpack"), [{"node_id": 2, "score": 0.7}])
    low = [{"node_id": 1, "score": 0.2}]
    belief, record = step(belief, low)
    assert belief["target_status"] == "likely_in_memory"  # a score that fell exhausts nothing
    belief["candidate_nodes"] = [{"node_id": 2, "score": 0.7}]
    around = Surroundings(NODES - {2}, looked=frozenset({2}))
    belief, record = step(belief, low, around)
    assert (belief["target_status"], record["exhausted"]) == ("searching", True)


@pytest.mark.parametrize(
    ("node_id", "reason"), [(3, None), (9, "UNKNOWN_NODE:9"), (1, "ALREADY_LOOKED:1")]
)
def test_the_verifier_knows_the_nodes(node_id, reason):
    around = Surroundings(NODES - {1}, looked=frozenset({1}))
    hypothesis, _ = parse_proposal(go_to(node_id, 0.5, ""))
    assert verify(hypothesis, new_belief("red backpack"), around) == reason
