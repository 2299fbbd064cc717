"""A search among places: sightings, approaches, constraints, and simulated eyes."""

from __future__ import annotations

import pytest

from memory_palace.errors import MissingPartError
from memory_palace.navigation.belief import new_belief
from memory_palace.navigation.nodes import Pose2D
from memory_palace.navigation.observing import reject_node, sight_node
from memory_palace.navigation.search_run import run_search
from memory_palace.navigation.searches import (
    SearchPlan,
    change_search_goal,
    load_search,
    read_search_log,
    start_search,
    step_search,
)

CELLAR, ATTIC, GARAGE = 0, 1, 2


def begin(palace, goal="wine", **plan):
    return start_search(palace, goal, SearchPlan(on_loci=True, **plan))


def test_a_search_leads_to_the_place_and_ends_by_an_approach(house):
    begin(house)
    _, record = step_search(house, None)
    assert (record["next_action"], record["next_node_id"]) == ("goto_node", CELLAR)
    sight_node(house, None, None, is_hit=True)
    assert load_search(house, None).belief["target_status"] != "visible"
    session = sight_node(house, None, None, is_hit=True)
    assert (session.belief["target_status"], session.position) == ("visible", Pose2D(2.5, -1.0))
    _, record = step_search(house, None)
    assert record["next_action"] == "approach"
    session = sight_node(house, None, None, is_hit=True, distance_metres=2.0)
    assert session.belief["target_status"] == "visible"
    step_search(house, None)
    session = sight_node(house, None, None, is_hit=True, distance_metres=0.5)
    assert session.belief["target_status"] == "done"


def test_what_is_not_seen_three_times_is_closed_and_the_next_place_proposed(house):
    begin(house)
    for _ in range(3):
        session, record = step_search(house, None)
        assert (record["next_node_id"], session.closed) == (CELLAR, {})
        sight_node(house, None, None, is_hit=False)
    session, record = step_search(house, None)
    assert session.closed == {CELLAR: "not seen"}
    assert record["next_node_id"] in (ATTIC, GARAGE)


def test_a_place_on_the_way_may_be_observed_too_and_takes_no_patience_from_another(house):
    begin(house)
    for _ in range(3):
        sight_node(house, None, CELLAR, is_hit=False)
        session = sight_node(house, None, GARAGE, is_hit=False)
    assert session.closed == {CELLAR: "not seen", GARAGE: "not seen"}
    assert session.position == Pose2D(7.0, 3.0)


def test_a_sighting_starts_the_count_of_vain_looks_anew(house):
    begin(house)
    for is_hit in (False, False, True, False, False):
        session = sight_node(house, None, CELLAR, is_hit=is_hit)
    assert (session.closed, session.misses) == ({}, {CELLAR: 2})


def test_one_vain_approach_gives_up_no_visible_target_and_three_do(house):
    begin(house)
    step_search(house, None)
    for _ in range(2):
        sight_node(house, None, None, is_hit=True)
    for _ in range(3):
        _, record = step_search(house, None)
        assert (record["next_action"], record["next_node_id"]) == ("approach", CELLAR)
        sight_node(house, None, None, is_hit=False)
    _, record = step_search(house, None)
    assert record["target_status"] == "searching"
    assert record["next_node_id"] in (ATTIC, GARAGE)


def test_what_is_rejected_is_closed_at_once(house):
    begin(house)
    step_search(house, None)
    assert reject_node(house, None, None, "empty").closed == {CELLAR: "rejected: empty"}


def test_another_goal_forgets_the_vain_looks(house):
    begin(house)
    for _ in range(2):
        sight_node(house, None, CELLAR, is_hit=False)
    change_search_goal(house, None, "wine and juice")
    assert sight_node(house, None, CELLAR, is_hit=False).misses == {CELLAR: 1}


def test_distance_narrows_a_search(house):
    begin(house, goal="tools", position=Pose2D(0, 0), within_metres=4.0)
    session, record = step_search(house, None)
    assert [c["node_id"] for c in session.belief["candidate_nodes"]] == [CELLAR]
    assert record["next_node_id"] == CELLAR


def test_a_constraint_refuses_a_proposal(house):
    begin(house, constraints=("avoid 0",), position=Pose2D(6, 3))
    _, record = step_search(house, None)
    assert record["rejection_reason"] == "CONSTRAINT:avoid 0"
    assert (record["next_action"], record["next_node_id"]) == ("explore", GARAGE)


def test_old_memories_fade(house):
    begin(house, half_life_days=0.001)
    session, _ = step_search(house, None)
    assert session.belief["candidate_nodes"][0]["score"] < 0.5


def test_literal_scoring_promotes_with_the_documents_threshold(house):
    begin(house, goal="elephants", scoring="literal")
    _, record = step_search(house, None)
    assert (record["retrieval_threshold"], record["retrieval_threshold_pass"]) == (0.3, True)


def test_another_embedder_means_another_threshold(house):
    begin(house)
    before, _ = step_search(house, None)
    house.index(embedder="none", force=True)
    after, _ = step_search(house, None)
    assert before.null is not None
    assert after.null is None
    assert after.embedder != before.embedder


def test_a_step_says_where_the_next_place_is_and_the_candidates(house):
    begin(house)
    session, record = step_search(house, None)
    place = session.places[record["next_node_id"]]
    assert place.pose == Pose2D(2.5, -1.0)
    assert (place.path, place.title) == ("palace/chambers/places/Cellar.md", "Cellar")
    assert set(session.places) == {CELLAR, ATTIC, GARAGE}
    assert load_search(house, None).places == session.places


def test_a_search_where_no_place_is_allowed_ends(house):
    begin(house, position=Pose2D(100, 100), within_metres=1.0)
    _, record = step_search(house, None)
    assert (record["target_status"], record["next_action"]) == ("unreachable", "stop")


def test_a_place_whose_note_is_gone_is_approached_all_the_same(house):
    begin(house)
    step_search(house, None)
    for _ in range(2):
        sight_node(house, None, CELLAR, is_hit=True)
    (house.paths.notes / "chambers" / "places" / "Cellar.md").unlink()
    session, record = step_search(house, None)
    assert (record["next_action"], record["next_node_id"]) == ("approach", CELLAR)
    assert session.places[CELLAR].path == "palace/chambers/places/Cellar.md"


def test_a_run_is_the_same_for_one_seed(house):
    logs = []
    for _ in range(2):
        session = begin(house)
        list(run_search(house, session.id, steps=8, seed=5, target=GARAGE))
        logs.append([r for r in read_search_log(house, session.id) if r["event"] != "start"])
    assert logs[0] == logs[1]


@pytest.mark.parametrize("target", [CELLAR, ATTIC, GARAGE])
def test_a_run_finds_the_target_with_most_seeds(house, target):
    found = 0
    for seed in range(6):
        session = begin(house)
        list(run_search(house, session.id, steps=12, seed=seed, target=target))
        belief = load_search(house, session.id).belief
        found += (belief["target_status"], belief["current_node_id"]) == ("done", target)
    assert found >= 4


def test_a_model_that_is_missing_is_an_error_before_anything_is_believed(house):
    begin(house, proposer="llm:no-such-model")
    with pytest.raises(MissingPartError, match="no-such-model"):
        step_search(house, None)
    session = load_search(house, None)
    assert session.step == 0
    assert session.belief == new_belief("wine")
