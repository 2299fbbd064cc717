"""A search over ordinary notes: recall in several steps, ended by words that stand in a note."""

import pytest

from memory_palace.errors import CheckFailedError, UsageError
from memory_palace.features.seek.searches import (
    change_search_goal,
    confirm_node,
    load_search,
    read_node,
    read_search_log,
    reject_node,
    sight_node,
    start_search,
    step_search,
)

GOAL = "where is the pump"


@pytest.fixture
def search(notes):
    start_search(notes, GOAL)
    return notes


def test_a_step_leads_to_a_note_and_observing_reads_it(search):
    session, record = step_search(search, None)
    assert session.nodes[record["next_node_id"]] == "palace/chambers/pump.md"
    place = session.places[record["next_node_id"]]
    assert (place.path, place.title) == ("palace/chambers/pump.md", "pump")
    assert (place.lines, place.pose) == ((3, 3), None)
    assert load_search(search, None).places == session.places
    _, text = read_node(search, None, None)
    assert "moved to the shed" in text.text
    after = load_search(search, None)
    assert after.closed == {record["next_node_id"]: "read"}
    assert after.belief["target_status"] != "done"


def test_what_was_read_or_rejected_is_no_candidate_again(search):
    paths = []
    session, record = step_search(search, None)
    while record["next_node_id"] is not None:
        paths.append(session.nodes[record["next_node_id"]])
        reject_node(search, None, None, "old news")
        session, record = step_search(search, None)
    assert 2 <= len(paths) == len(set(paths))
    assert (record["target_status"], record["next_action"]) == ("unreachable", "stop")
    assert set(session.closed.values()) == {"rejected: old news"}
    with pytest.raises(UsageError, match="is over: unreachable"):
        step_search(search, None)


def test_words_that_stand_in_the_note_end_the_search(search):
    step_search(search, None)
    session = confirm_node(search, None, None, "The PUMP  was moved, to the shed")
    assert session.belief["target_status"] == "done"
    last = read_search_log(search, None)[-1]
    assert (last["event"], last["result"]) == ("observe", "confirmed")


@pytest.mark.parametrize("quote", ["moved to the roof", "", "?!", "he pump"])
def test_words_that_do_not_stand_there_confirm_nothing(search, quote):
    before, _ = step_search(search, None)
    with pytest.raises(CheckFailedError, match="nothing is confirmed"):
        confirm_node(search, None, None, quote)
    assert load_search(search, None) == before


def test_numbers_of_notes_stay_when_notes_come_and_go(search):
    first, _ = step_search(search, None)
    (search.paths.notes / "chambers" / "aaa pump.md").write_text("# Another pump\n\nIt leaks.\n")
    (search.paths.notes / "chambers" / "bread.md").unlink()
    search.index()
    second, _ = step_search(search, None)
    assert {node: second.nodes[node] for node in first.nodes} == first.nodes
    assert "palace/chambers/aaa pump.md" in second.nodes.values()
    candidates = {second.nodes[c["node_id"]] for c in second.belief["candidate_nodes"]}
    assert "palace/chambers/bread.md" not in candidates


def test_private_and_cold_notes_are_no_candidates(search):
    (search.paths.notes / "chambers" / "own.md").write_text("---\nprivate: true\n---\nThe pump.\n")
    (search.paths.notes / "archive_basement" / "old.md").write_text("The pump, long ago.\n")
    search.index()
    session, _ = step_search(search, None)
    assert not {"palace/chambers/own.md", "palace/archive_basement/old.md"} & {
        *session.nodes.values()
    }


@pytest.mark.parametrize("embedder", ["hashing", "none"])
def test_candidates_are_the_hits_of_a_query_in_its_order(search, embedder):
    for number in range(12):
        text = f"# Shed {number}\n\nThe pump of the roof of the shed {'moved ' * number}.\n"
        (search.paths.notes / "chambers" / f"more {number}.md").write_text(text, "utf-8")
    search.index(embedder=embedder, force=True)
    goal = "the pump that was moved to the shed"
    change_search_goal(search, None, goal)
    for _ in range(2):
        found = search.query(goal, limit=9, neighbors=0).hits
        session, record = step_search(search, None)
        closed = {session.nodes[node] for node in session.closed}
        expected = [hit for hit in found if hit.path not in closed][:5]
        told = [(session.nodes[c["node_id"]], c["score"]) for c in record["retrieval_topk"]]
        assert told == [(hit.path, hit.confidence) for hit in expected]
        reject_node(search, None, None, "")


def test_a_goal_may_be_as_long_as_a_question(notes):
    goal = "where on earth is the pump that we put away in autumn, " * 8
    session = start_search(notes, goal.strip())
    assert len(session.belief["goal_text"]) > 400
    session, record = step_search(notes, None)
    assert session.nodes[record["next_node_id"]] == "palace/chambers/pump.md"
    with pytest.raises(UsageError, match=r"^the goal has 600 characters; the maximum is 500$"):
        start_search(notes, "pump " * 119 + "pumps")


def test_without_vectors_all_words_have_to_be_there(notes):
    notes.index(embedder="none", force=True)
    start_search(notes, "pump shed")
    _, record = step_search(notes, None)
    assert record["retrieval_threshold_pass"] is True
    start_search(notes, "pump elephant")
    _, record = step_search(notes, None)
    assert record["retrieval_threshold_pass"] is False


def test_asking_changes_no_note_and_no_index(search):
    folder = search.paths.notes
    files = {p: p.stat().st_mtime_ns for p in folder.rglob("*") if p.is_file()}
    step_search(search, None)
    read_node(search, None, None)
    changed = {p for p in folder.rglob("*") if p.is_file() and files.get(p) != p.stat().st_mtime_ns}
    assert {path.parent.name for path in changed} == {".sessions", "logs"}
    assert {path.name for path in changed if path.parent.name == "logs"} == {"usage.jsonl"}


def test_what_no_search_can_do_is_refused(notes):
    with pytest.raises(UsageError, match="there are no loci"):
        start_search(notes, GOAL, on_loci=True)
    with pytest.raises(UsageError, match="there is no search"):
        load_search(notes, None)
    start_search(notes, GOAL)
    with pytest.raises(UsageError, match="leads nowhere"):
        read_node(notes, None, None)
    with pytest.raises(UsageError, match="has not named node 7"):
        read_node(notes, None, 7)
    step_search(notes, None)
    with pytest.raises(UsageError, match="takes --found or --reject"):
        sight_node(notes, None, None, is_hit=True)
