"""The gate: metadata orders what is relevant and imports nothing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_palace.retrieval.gate import GATE_SHARE, NARROWEST, make_gate
from memory_palace.retrieval.search import search

CALIBRATION = {"null_mean": 0.1}


def test_metadata_decides_between_passages_that_are_equally_close(build, ask, passage):
    notes = [
        passage("palace/old.md", [0.7], age_days=400, priority="low"),
        passage("palace/new.md", [0.699], age_days=0, priority="high"),
    ]
    assert search(ask(), build(notes)).hits[0].path == "palace/new.md"


def test_a_fresh_important_note_about_something_else_stays_below_the_answer(build, ask, passage):
    notes = [
        passage("palace/answer.md", [0.7], age_days=900, priority="low"),
        passage("palace/noise.md", [0.3], age_days=0, priority="high"),
    ]
    snapshot = build(notes)
    assert search(ask(), snapshot).hits[0].path == "palace/answer.md"
    assert search(ask(), snapshot, gate=False).hits[0].path == "palace/noise.md"


def test_what_is_outside_the_gate_is_still_listed_with_its_semantic_part(build, ask, passage):
    notes = [passage("palace/a.md", [0.7]), passage("palace/b.md", [0.3], priority="high")]
    outside = search(ask(), build(notes)).hits[1]
    assert (outside.path, outside.score) == ("palace/b.md", 0.15)
    assert [c.weight for c in outside.contributions] == [0.5, 0.0, 0.0]


def test_the_best_passage_has_the_whole_weight_of_its_metadata(build, ask, passage):
    [hit] = search(ask(), build([passage("palace/a.md", [0.7])])).hits
    assert [c.weight for c in hit.contributions] == [0.5, 0.25, 0.25]


def test_the_figures_of_the_gate_are_told(build, ask, passage):
    found = search(ask(), build([passage("palace/a.md", [0.7])]))
    width = pytest.approx(GATE_SHARE * 0.6, abs=1e-6)
    assert found.gate == {"best": 0.7, "width": width, "null_mean": 0.1, "calibrated": 1.0}


def test_without_calibration_chance_is_taken_for_zero_and_that_is_told(build, ask, passage):
    found = search(ask(), build([passage("palace/a.md", [0.7])], calibration={}))
    assert found.gate["calibrated"] == 0.0
    assert found.gate["width"] == pytest.approx(GATE_SHARE * 0.7, abs=1e-6)


def test_the_best_passage_is_looked_for_after_the_filters(build, ask, passage):
    notes = [passage("palace/a.md", [0.9], type="task"), passage("palace/b.md", [0.4])]
    assert search(ask(type="project"), build(notes)).gate["best"] == 0.4


def test_where_nothing_stands_out_from_chance_metadata_says_nothing(build, ask, passage):
    notes = [passage("palace/a.md", [0.1]), passage("palace/b.md", [0.09], priority="high")]
    found = search(ask(), build(notes))
    assert [hit.score for hit in found.hits] == [0.05, 0.045]


def test_a_listing_has_no_gate(build, ask, passage):
    found = search(ask("", type="project"), build([passage("palace/a.md", priority="high")]))
    assert found.gate == {}
    assert found.hits[0].score == 0.625  # 0.5 * 0.5 + 0.25 * 0.5 + 0.25 * 1.0


COSINES = st.lists(st.floats(-1, 1, width=32), min_size=1, max_size=20)


@given(COSINES)
def test_a_closer_passage_never_has_a_narrower_opening(cosines):
    values = np.sort(np.array(cosines, np.float32))
    gate = make_gate(float(values[-1]), CALIBRATION)
    openings = gate.openings(values)
    assert (np.diff(openings) >= 0).all()
    assert openings.min() >= 0 and openings.max() <= 1
    assert not openings[~gate.reaches(values)].any()
    assert openings[-1] == (1 if gate.width >= NARROWEST else 0)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.floats(0, 1), st.floats(0, 2000), st.sampled_from(["", "low", "medium", "high"])
        ),
        min_size=2,
        max_size=12,
    )
)
def test_no_metadata_lifts_a_note_over_one_that_is_closer_by_the_width(build, ask, passage, drawn):
    notes = [
        passage(f"palace/{n:02}.md", [cosine], age_days=age, priority=priority)
        for n, (cosine, age, priority) in enumerate(drawn)
    ]
    found = search(ask(), build(notes), limit=20)
    values = [hit.contributions[0].value for hit in found.hits]
    for above, value in enumerate(values):
        for below in values[above + 1 :]:
            assert below <= value + found.gate["width"] + 2e-6
