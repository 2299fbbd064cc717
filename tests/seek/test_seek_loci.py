"""A search among places: sightings and approaches."""

from memory_palace.features.seek.nodes import Pose2D
from memory_palace.features.seek.searches import (
    change_search_goal,
    load_search,
    reject_node,
    sight_node,
    start_search,
    step_search,
)

CELLAR, ATTIC, GARAGE = 0, 1, 2


def begin(palace):
    return start_search(palace, "wine", on_loci=True)


def test_a_search_leads_to_the_place_and_ends_by_an_approach(house):
    begin(house)
    session, record = step_search(house, None)
    assert (record["next_action"], record["next_node_id"]) == ("goto_node", CELLAR)
    place = session.places[CELLAR]
    assert (place.pose, place.title) == (Pose2D(2.5, -1.0), "Cellar")
    assert set(session.places) == {CELLAR, ATTIC, GARAGE}
    assert load_search(house, None).places == session.places
    sight_node(house, None, None, is_hit=True)
    assert load_search(house, None).belief["target_status"] != "visible"
    session = sight_node(house, None, None, is_hit=True)
    assert (session.belief["target_status"], session.pose) == ("visible", Pose2D(2.5, -1.0))
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
    assert session.pose == Pose2D(7.0, 3.0)


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


def test_another_goal_forgets_the_vain_looks_and_what_is_rejected_is_closed_at_once(house):
    begin(house)
    for _ in range(2):
        sight_node(house, None, CELLAR, is_hit=False)
    change_search_goal(house, None, "wine and juice")
    assert sight_node(house, None, CELLAR, is_hit=False).misses == {CELLAR: 1}
    assert reject_node(house, None, CELLAR, "empty").closed == {CELLAR: "rejected: empty"}


def test_another_embedder_means_another_threshold(house):
    begin(house)
    before, _ = step_search(house, None)
    house.index(embedder="none", force=True)
    after, _ = step_search(house, None)
    assert before.threshold_null is not None
    assert after.threshold_null is None
    assert after.embedder != before.embedder


def test_a_place_whose_note_is_gone_is_approached_all_the_same(house):
    begin(house)
    step_search(house, None)
    for _ in range(2):
        sight_node(house, None, CELLAR, is_hit=True)
    (house.paths.notes / "chambers" / "places" / "Cellar.md").unlink()
    session, record = step_search(house, None)
    assert (record["next_action"], record["next_node_id"]) == ("approach", CELLAR)
    assert session.places[CELLAR].path == "palace/chambers/places/Cellar.md"
