"""The benchmark's cases are balanced, labelled truly, and the same ones each time."""

from __future__ import annotations

from collections import Counter
from typing import get_args

import pytest

from memory_palace.bench.verify_set import cases as module
from memory_palace.bench.verify_set.cases import KINDS, Split, load_cases, make_cases, read_blocks
from memory_palace.errors import PalaceError
from memory_palace.mnemonics.verification_tokens import holds_token


def test_five_kinds_in_two_halves_are_balanced():
    cases = load_cases()
    assert len(cases) >= 400
    counts = Counter((case.kind, case.split) for case in cases)
    assert len(counts) == 2 * len(KINDS) and len(set(counts.values())) == 1
    assert Counter(case.is_supported for case in cases)[True] == len(cases) // 2


def test_no_memory_is_in_both_halves():
    halves = {case.subject: set() for case in load_cases()}
    for case in load_cases():
        halves[case.subject].add(case.split)
    assert all(len(found) == 1 for found in halves.values())


def test_a_response_holds_its_token_exactly_where_the_label_says_so():
    assert all(holds_token(c.response, c.token) == c.has_token for c in load_cases())


def test_no_content_gives_its_token_away_and_no_two_blocks_share_one():
    blocks = [block for split in get_args(Split) for block in read_blocks(split)]
    assert not any(holds_token(block.content, block.token) for block in blocks)
    assert len({block.token for block in blocks}) == len(blocks)


@pytest.mark.parametrize(("split", "count"), [("extra", 140), ("held", 80)])
def test_further_answers_are_of_other_memories_and_balanced(split, count):
    cases = make_cases(split)
    assert len(cases) == count and sum(case.is_supported for case in cases) == count // 2
    assert not {c.subject for c in cases} & {c.subject for c in load_cases()}


def test_other_cases_than_those_of_the_digest_are_refused(monkeypatch):
    monkeypatch.setattr(module, "SEED", 6)
    with pytest.raises(PalaceError, match="digest"):
        load_cases()
