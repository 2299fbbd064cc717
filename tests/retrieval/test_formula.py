"""The formula, by hand-computed values and by its laws."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_palace.errors import UsageError
from memory_palace.retrieval.signals import PROFILES, get_profile
from memory_palace.signals import SIGNALS
from tests.searching import search


def parts(hit):
    return {c.signal: c for c in hit.contributions}


def signal(build, ask, note, name, **options):
    [hit] = search(ask(), build([note]), gate=False, **options).hits
    return parts(hit)[name].value


@pytest.mark.parametrize(
    ("age_days", "how", "value"),
    [
        *((0, {}, 1.0), (30, {}, 0.5), (60, {}, 0.25), (15, {}, 0.707107), (-5, {}, 1.0)),
        (7, {"half_life_days": 7}, 0.5),
    ],
)
def test_recency_halves_every_half_life_and_the_future_is_new(
    build, ask, passage, age_days, how, value
):
    assert signal(build, ask, passage("palace/a.md", age_days=age_days), "recency", **how) == value


def test_an_evergreen_note_does_not_age(build, ask, passage, flags):
    note = passage("palace/a.md", age_days=900, flags=flags["evergreen"])
    assert signal(build, ask, note, "recency") == 1.0


@pytest.mark.parametrize(
    ("priority", "value"), [("high", 1.0), ("medium", 0.6), ("low", 0.3), ("", 0.5)]
)
def test_importance_follows_the_priority(build, ask, passage, priority, value):
    assert signal(build, ask, passage("palace/a.md", priority=priority), "importance") == value


def test_without_the_gate_compound_is_the_literal_formula(build, ask, passage):
    note = passage("palace/a.md", cosines=[0.8], age_days=30, priority="high")
    [hit] = search(ask(), build([note]), gate=False).hits
    assert hit.score == 0.775  # 0.5 * 0.8 + 0.25 * 0.5 + 0.25 * 1.0


def test_raw_is_the_cosine_and_nothing_else(build, ask, passage):
    notes = [passage("palace/a.md", cosines=[0.6], priority="high"), passage("palace/b.md", [0.7])]
    found = search(ask(), build(notes), profile="raw")
    assert [(hit.path, hit.score) for hit in found.hits] == [
        ("palace/b.md", 0.7),
        ("palace/a.md", 0.6),
    ]
    assert [c.signal for c in found.hits[0].contributions] == ["semantic"]


def test_a_passage_that_points_away_is_no_answer(build, ask, passage):
    notes = [passage("palace/a.md", cosines=[-0.3]), passage("palace/b.md", cosines=[0.4])]
    for profile in ("compound", "raw"):
        hits = search(ask(), build(notes), profile=profile).hits
        assert [hit.path for hit in hits] == ["palace/b.md"]


def test_an_unknown_profile_lists_the_known_ones_and_the_nearest():
    with pytest.raises(UsageError, match=r"'compund'; did you mean 'compound'\?.*compound, raw"):
        get_profile("compund")


def test_every_weight_belongs_to_a_signal():
    for profile in PROFILES.values():
        assert set(profile.weights) <= set(SIGNALS)
        assert profile.gated < set(profile.weights)
    assert sum(PROFILES["compound"].weights.values()) == 1.0


NOTES = st.lists(
    st.tuples(
        st.lists(st.floats(-1, 1), min_size=1, max_size=3),
        st.floats(-100, 2000),
        st.sampled_from(["", "low", "medium", "high"]),
    ),
    min_size=1,
    max_size=12,
)


def notes_of(passage, drawn):
    return [
        passage(f"palace/{n:02}.md", cosines=cosines, age_days=age, priority=priority)
        for n, (cosines, age, priority) in enumerate(drawn)
    ]


@settings(max_examples=40, deadline=None)
@given(NOTES, st.sampled_from(["compound", "raw"]), st.booleans())
def test_the_shown_parts_add_up_to_the_shown_score(build, ask, passage, drawn, profile, gate):
    for hit in search(ask(), build(notes_of(passage, drawn)), profile=profile, gate=gate).hits:
        assert hit.score == round(sum(c.contribution for c in hit.contributions), 6)
        for c in hit.contributions:
            assert c.contribution == pytest.approx(c.value * c.weight, abs=5.001e-7)
            assert 0 <= c.value <= 1
            assert 0 <= c.weight <= PROFILES[profile].weights.get(c.signal, 1)
        assert 0 < hit.score <= 1


@settings(max_examples=30, deadline=None)
@given(NOTES, st.data())
def test_the_order_of_segments_and_records_does_not_matter(build, ask, passage, drawn, data):
    notes = notes_of(passage, drawn)
    mixed = data.draw(st.permutations(notes))
    cut = data.draw(st.integers(0, len(mixed)))
    one = search(ask(), build(notes), limit=20)
    two = search(ask(), build(mixed[:cut], mixed[cut:]), limit=20)
    assert one == two


@settings(max_examples=30, deadline=None)
@given(NOTES, st.integers(1, 12))
def test_a_shorter_answer_is_the_beginning_of_a_longer_one(build, ask, passage, drawn, limit):
    snapshot = build(notes_of(passage, drawn))
    longer = search(ask(), snapshot, limit=12).hits
    assert search(ask(), snapshot, limit=limit).hits == longer[:limit]
