"""Each gate at its boundary: the last case that is closed and the first that is open."""

from datetime import date, timedelta

import pytest

from memory_palace.embedding.llm_models import estimate_tokens
from memory_palace.features.metabolism.gates import constitution_gates, reflection_gates
from memory_palace.notes.usage import Usage

NOTE = "palace/project_rooms/winter/log.md"
TODAY = date(2026, 11, 21)


@pytest.fixture
def ready(notes):
    """Make a note with every gate open."""
    notes["project_rooms/winter/log.md"] = "Warm the cell before it is charged."
    notes.card("one", link="[[log]]")
    notes.card("two", project="radio", link="[[log]]")
    return notes


def gate(notes, name, **more):
    found = {g.name: g for g in reflection_gates(notes.ledger(**more), NOTE)}
    return found[name]


def test_two_completed_cards_open_the_gate_and_one_does_not(ready):
    assert gate(ready, "worked in several tasks").is_open
    assert len(gate(ready, "worked in several tasks").evidence) == 2
    del ready["dispatch_corridor/completed/2026-10-01_two.md"]
    found = gate(ready, "worked in several tasks")
    assert not found.is_open and found.counted == "linked with 1 completed cards, 2 needed"
    ready.card("three", state="active", link="[[log]]")
    assert not gate(ready, "worked in several tasks").is_open


def test_links_that_lead_nowhere_and_one_card_linked_twice_count_for_nothing(ready):
    del ready["dispatch_corridor/completed/2026-10-01_two.md"]
    ready["project_rooms/winter/log.md"] += " [[2026-10-01_one]] [[2026-10-01_two]] [[gone]]"
    assert not gate(ready, "worked in several tasks").is_open


def test_an_input_path_of_a_card_counts_as_a_link_and_an_output_path_does_not(ready):
    card = "dispatch_corridor/completed/2026-10-01_two.md"
    for heading, is_open in (("Input Paths", True), ("Output Paths", False)):
        ready.card("two")
        ready[card] += f"\n## {heading}\n\n- project_rooms/winter/log.md\n"
        assert gate(ready, "worked in several tasks").is_open is is_open


def test_an_archived_card_is_evidence_still(ready):
    text = ready.pop("dispatch_corridor/completed/2026-10-01_two.md")
    ready["archive_basement/2026/dispatch_corridor/completed/2026-10-01_two.md"] = text
    assert gate(ready, "worked in several tasks").is_open


@pytest.mark.parametrize(("extra", "is_open"), [(0, True), (1, False)])
def test_four_hundred_tokens_are_compressible_and_one_more_is_not(ready, extra, is_open):
    words = " ".join(f"w{chr(97 + i % 26)}{chr(97 + i // 26)}" for i in range(399 + extra)) + "."
    assert estimate_tokens(words) == 400 + extra
    ready["project_rooms/winter/log.md"] = f"# Log\n\n{words}\n\n```\nls\n```\n"
    found = gate(ready, "compressible")
    assert found.is_open is is_open
    assert found.counted == f"{400 + extra} tokens, at most 400"


def test_a_note_of_headings_and_code_alone_is_nothing_to_compress(ready):
    ready["project_rooms/winter/log.md"] = "# Log\n\n```\nls\n```\n"
    assert not gate(ready, "compressible").is_open


@pytest.mark.parametrize(("done", "is_open"), [(4, False), (5, True)])
def test_more_than_four_fifths_must_succeed(ready, done, is_open):
    ready.clear()
    ready["project_rooms/winter/log.md"] = "x"
    for number in range(done):
        ready.card(f"c{number}", link="[[log]]")
    ready.card("again", reopened="['2026-11-02: cold']", link="[[log]]")
    found = gate(ready, "lowers cost or error")
    assert found.is_open is is_open
    assert found.counted.startswith(f"{done} successes, 1 failures")


def test_successes_and_failures_that_people_write_down_are_added(ready):
    text = ready["project_rooms/winter/log.md"]
    ready["project_rooms/winter/log.md"] = f"---\nfailures: 1\nsuccesses: 3\n---\n{text}"
    assert gate(ready, "lowers cost or error").counted.startswith("5 successes, 1 failures")
    assert gate(ready, "lowers cost or error").is_open


@pytest.mark.parametrize(("retrieved", "is_open"), [(0, False), (1, True)])
def test_where_use_is_logged_three_uses_are_needed(ready, retrieved, is_open):
    usage = Usage(TODAY - timedelta(days=90), {NOTE: [TODAY] * retrieved})
    found = gate(ready, "lowers cost or error", usage=usage)
    assert found.is_open is is_open and f"used {2 + retrieved} times" in found.counted


def test_without_a_log_the_gate_says_what_it_relies_on(ready):
    assert "links and cards alone" in gate(ready, "lowers cost or error").counted
    usage = Usage(TODAY - timedelta(days=89), {NOTE: []})
    assert "links and cards alone" in gate(ready, "lowers cost or error", usage=usage).counted


@pytest.mark.parametrize(
    "field", ["origin: web", "trust: untrusted", "trusted: false", "untrusted: true", "origin: LLM"]
)
def test_an_untrusted_origin_is_never_promoted(ready, field):
    assert gate(ready, "trusted origin").is_open
    text = ready["project_rooms/winter/log.md"]
    ready["project_rooms/winter/log.md"] = f"---\n{field}\n---\n{text}"
    assert not gate(ready, "trusted origin").is_open
    ready["project_rooms/winter/import.md"] = f"---\n{field}\n---\nfrom elsewhere"
    ready["project_rooms/winter/log.md"] = f"---\nsource: import\n---\n{text}"
    assert gate(ready, "trusted origin").evidence == ("palace/project_rooms/winter/import.md",)


def test_what_comes_from_a_card_that_is_open_again_waits(ready):
    text = ready["project_rooms/winter/log.md"]
    ready["project_rooms/winter/log.md"] = f"---\nsource: 2026-10-01_one\n---\n{text}"
    assert gate(ready, "finished work").is_open
    ready["dispatch_corridor/active/2026-10-01_one.md"] = ready.pop(
        "dispatch_corridor/completed/2026-10-01_one.md"
    )
    assert not gate(ready, "finished work").is_open


def test_what_is_disputed_waits(ready):
    assert not gate(ready, "undisputed", disputed=[NOTE]).is_open


@pytest.fixture
def rule(notes):
    """Make an asset for which all four tests hold."""
    notes.card("one", link="[[rule]]")
    notes.card("two", project="radio", link="[[rule]]")
    notes.asset("rule", day=TODAY - timedelta(days=90))
    return notes


def four_tests(notes, cost="An evening for each station."):
    path = "palace/reflection_wing/principles/rule.md"
    return {g.name: g for g in constitution_gates(notes.ledger(), path, cost_of_deviation=cost)}


def test_a_candidate_needs_all_four_tests(rule):
    assert all(test.is_open for test in four_tests(rule).values())
    assert not four_tests(rule, cost=" ")["deviating is costly"].is_open
    rule.asset("rule", day=TODAY - timedelta(days=89))
    assert not four_tests(rule)["a long-term default"].is_open
    rule.asset("rule", day=TODAY - timedelta(days=90), status="stale")
    assert not four_tests(rule)["a long-term default"].is_open
    rule.card("two", project="winter", link="[[rule]]")
    found = four_tests(rule)["not a local trick"]
    assert not found.is_open and found.counted == "worked in 1 project rooms, 2 needed"
    del rule["dispatch_corridor/completed/2026-10-01_two.md"]
    assert not four_tests(rule)["worked in several tasks"].is_open
