"""Verification is measured by what each check can know."""

from __future__ import annotations

import pytest

from memory_palace.bench.memory_sets import make_memories
from memory_palace.bench.plots import draw_hierarchy, draw_verification
from memory_palace.bench.two_hops import measure_hierarchy
from memory_palace.bench.verify_set.cases import KINDS, load_cases
from memory_palace.bench.verify_set.measuring import TABLE, measure_verification

DEV = [case for case in load_cases() if case.split == "dev"]


@pytest.fixture(scope="module")
def rows():
    return measure_verification("dev", cases=DEV)


def row(rows, check, judged_by, kind="all"):
    (found,) = (
        r for r in rows if (r.check, r.judged_by, r.kind) == (check, judged_by, kind)
    )  # fmt: skip
    return found


def test_every_check_has_a_row_for_all_and_one_for_each_kind(rows):
    assert len(rows) == len(TABLE) * (1 + len(KINDS))
    assert {r.cases for r in rows if r.kind == "all"} == {420}
    assert {r.cases for r in rows if r.kind != "all"} == {84}


def test_a_token_tells_the_source_and_not_the_truth(rows):
    assert row(rows, "token alone", "source").f1 == 1
    assert row(rows, "token alone", "claims").f1 < 0.5
    assert row(rows, "token alone", "claims", "wrong with token").false_positive_rate == 1


def test_claims_are_told_by_support_and_both_checks_let_less_through_than_either(rows):
    support, both = row(rows, "support alone", "claims"), row(rows, "both", "both")
    assert support.f1 > 0.6
    assert both.false_positive_rate <= support.false_positive_rate <= 0.12


def test_figures_follow_from_each_other(rows):
    for r in rows:
        total = r.precision + r.recall
        assert r.f1 == pytest.approx(2 * r.precision * r.recall / total if total else 0)


def test_a_half_that_was_not_asked_for_is_not_touched():
    assert all(r.cases == 0 for r in measure_verification("test", cases=DEV) if r.kind == "all")


def test_verdicts_are_drawn(rows):
    assert b"<title>Verification of answers, dev</title>" in draw_verification(rows).encode()


def test_recall_and_bytes_are_drawn():
    row = measure_hierarchy(make_memories(50, questions=10))
    assert draw_hierarchy([row]).encode(kind="png").startswith(b"\x89PNG")
