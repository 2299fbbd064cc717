"""Laws of the belief, under any sequence of what can happen to it."""

import copy

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from memory_palace.errors import UsageError
from memory_palace.features.seek.belief import (
    FINAL,
    SchemaError,
    apply_memory_retrieval,
    change_goal,
    check_belief,
    check_goal,
    exhaust_candidates,
    finish,
    new_belief,
    reach,
    see,
)
from memory_palace.features.seek.loop import Retrieval, Surroundings, take_step, verify

RANK = {"searching": 0, "likely_in_memory": 1, "visible": 2, "done": 3, "unreachable": 3}
SCORES = st.floats(0, 1, allow_nan=False)
CANDIDATES = st.lists(
    st.fixed_dictionaries({"node_id": st.integers(0, 9), "score": SCORES}), max_size=5
)
PROPOSALS = st.one_of(
    st.text(max_size=40),
    st.sampled_from(
        [
            "{",
            "{}",
            "[1]",
            '{"target_status":"visible","action":"stop","confidence":1,"rationale":""}',
            '{"target_status":"visible","action":"approach","confidence":1,"rationale":"",'
            '"pose_relative":{"distance":0,"angle":0,"standoff":0}}',
            '{"target_status":"visible","action":"goto_node","confidence":1,"rationale":"",'
            '"goal":{"type":"node_id","node_id":2}}',
            '{"target_status":"visible","action":"goto_node","confidence":1,"rationale":""}',
            '{"target_status":"visible","action":"explore","confidence":NaN,"rationale":""}',
        ]
    ),
)


class Says:
    name = "fixed"

    def __init__(self, text):
        self.text = text

    def propose(self, belief, around):
        return self.text


class BeliefMachine(RuleBasedStateMachine):
    def __init__(self):
        super().__init__()
        self.belief = new_belief("red backpack")
        self.step = 0

    @rule(candidates=CANDIDATES, threshold=SCORES)
    def retrieve(self, candidates, threshold):
        before = self.belief["target_status"]
        assert apply_memory_retrieval(self.belief, candidates, threshold) is None
        after = self.belief["target_status"]
        if before != "searching":
            assert after == before
        assert after in ("searching", "likely_in_memory") or after == before
        assert len(self.belief["candidate_nodes"]) == len(candidates)

    @rule(candidates=CANDIDATES, proposal=PROPOSALS, looked=st.frozensets(st.integers(0, 9)))
    def propose(self, candidates, proposal, looked):
        before = copy.deepcopy(self.belief)
        around = Surroundings(frozenset(range(10)) - looked, looked=looked)
        self.belief, record = take_step(
            self.belief, Retrieval(candidates, 0.5), around,
            proposer=Says(proposal), verifier=verify, step=self.step,
        )  # fmt: skip
        self.step += 1
        rose = RANK[self.belief["target_status"]] >= RANK[before["target_status"]]
        assert rose or record["exhausted"]
        assert self.belief["target_status"] != "done" or before["target_status"] == "done"

    @rule(node=st.integers(0, 3), is_hit=st.booleans())
    def look(self, node, is_hit):
        before = self.belief["target_status"]
        see(self.belief, node, is_hit=is_hit, step=self.step)
        assert RANK[self.belief["target_status"]] >= RANK[before]
        assert is_hit or self.belief["target_status"] == before

    @rule(metres=st.floats(-1, 3))
    def come_near(self, metres):
        is_reached = reach(self.belief, distance_metres=metres, step=self.step)
        assert not is_reached or 0 <= metres <= 0.75
        assert not is_reached or self.belief["target_status"] == "done"

    @rule(left=st.booleans())
    def exhaust(self, left):
        before = self.belief["target_status"]
        exhaust_candidates(self.belief, is_anything_left=left)
        after = self.belief["target_status"]
        assert after == (before if before in FINAL else "searching" if left else "unreachable")

    @precondition(lambda self: self.belief["target_status"] == "visible")
    @rule()
    def confirm(self):
        finish(self.belief)
        assert self.belief["target_status"] == "done"

    @rule(goal=st.sampled_from(["a hat", "the red backpack"]))
    def change_goal(self, goal):
        change_goal(self.belief, goal)
        assert self.belief["target_status"] == "searching"

    @invariant()
    def schema_is_valid(self):
        check_belief(self.belief)


BeliefMachine.TestCase.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
TestBelief = BeliefMachine.TestCase


def test_one_sighting_is_not_believed_and_two_at_one_place_are():
    belief = new_belief("red backpack")
    see(belief, 1, is_hit=True, step=0)
    see(belief, 2, is_hit=True, step=1)
    assert belief["target_status"] == "searching"
    see(belief, 2, is_hit=True, step=2)
    assert (belief["target_status"], belief["visible_since_step"]) == ("visible", 2)


def test_a_target_is_not_reached_in_the_step_it_became_visible():
    belief = new_belief("red backpack")
    for step in (0, 1):
        see(belief, 1, is_hit=True, step=step)
    belief["next_action"] = "approach"
    assert not reach(belief, distance_metres=0.5, step=1)
    assert not reach(belief, distance_metres=0.76, step=2)
    assert reach(belief, distance_metres=0.75, step=2)


def test_a_goal_longer_than_the_schema_allows_is_refused():
    assert check_goal("x" * 500)
    with pytest.raises(UsageError, match="501 characters"):
        check_goal("x" * 501)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("target_status", "lost"),
        ("candidate_nodes", [{"node_id": 1, "score": 1.5}]),
        ("candidate_nodes", [{"node_id": 1, "score": 0.5, "summary": "text"}]),
        ("last_vlm_hypothesis", {"action": "stop"}),
        ("rejection_reason", "x" * 121),
        ("mood", "good"),
    ],
)
def test_the_schema_refuses(key, value):
    with pytest.raises(SchemaError, match=key if key != "last_vlm_hypothesis" else "target_status"):
        check_belief({**new_belief("red backpack"), key: value})
