"""Whether a response came from a memory: three values, token and claims apart."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_palace.errors import CheckFailedError
from memory_palace.mnemonics.memory_values import Memory
from memory_palace.mnemonics.verification import (
    Verdict,
    VerificationChecker,
    check_tokens,
    verify_response,
)

FUNNEL = Memory(
    id="palace/chambers/funnel.md",
    subject="The thread in the funnel",
    image="A spider on the bucket. [Verify: violet raincoat seesaw]",
    content="A thread makes the bucket stick at half. The record then shows no rain.",
    verify_token="violet raincoat seesaw",
)
PUMP = Memory(
    id="palace/chambers/pump.md",
    subject="The pump",
    image="",
    content="The pump in the cellar starts at forty centimetres of water.",
)
RIGHT = "A thread makes the bucket stick at half."


@pytest.mark.parametrize(
    ("response", "token", "support", "both"),
    [
        (f"{RIGHT} [violet raincoat seesaw]", "grounded", "grounded", "grounded"),
        (RIGHT, "ungrounded", "grounded", "ungrounded"),
        ("Violet raincoat seesaw. Wasps nest in it.", "grounded", "ungrounded", "ungrounded"),
        ("violet raincoat seesaw", "grounded", "not applicable", "grounded"),
        ("No thread makes the bucket stick at half.", "ungrounded", "ungrounded", "ungrounded"),
    ],
)
def test_token_and_claims_are_judged_apart_and_folded_at_the_end(response, token, support, both):
    found = verify_response(response, [FUNNEL])
    assert (found.token_verdict, found.support_verdict, found.outcome) == (token, support, both)


def test_a_memory_without_token_is_no_failure_and_no_proof():
    found = verify_response("The pump starts at forty centimetres of water.", [PUMP])
    assert found.token_verdict == Verdict.NOT_APPLICABLE
    assert found.outcome == Verdict.GROUNDED  # by its claims alone
    assert verify_response("Hm.", [PUMP]).outcome == Verdict.NOT_APPLICABLE


def test_each_claim_counts_by_the_memory_that_bears_it_out():
    response = f"{RIGHT} The pump starts at forty centimetres of water. Violet raincoat seesaw."
    assert verify_response(response, [FUNNEL, PUMP]).outcome == Verdict.GROUNDED
    assert verify_response(response, [FUNNEL]).support_verdict == Verdict.UNGROUNDED


def test_a_token_that_is_nearly_there_is_shown_and_does_not_count():
    found = verify_response(f"{RIGHT} Violet raincoats seesaw.", [FUNNEL]).tokens[0]
    assert found.outcome == Verdict.UNGROUNDED
    assert found.near == ("Violet raincoats seesaw",)


def test_of_several_tokens_one_is_enough_unless_all_are_asked_for():
    tokens = ("violet raincoat seesaw", "humming plate")
    assert check_tokens("a humming plate", tokens) == Verdict.GROUNDED
    assert check_tokens("a humming plate", tokens, require_all=True) == Verdict.UNGROUNDED


def test_the_document_s_checker_folds_three_values_into_two():
    checker = VerificationChecker()
    assert checker.extract_token(FUNNEL.image) == "violet raincoat seesaw"
    assert checker.check_response("whatever", "") == (True, "No verification token required")
    assert checker.check_response("Violet Raincoat-Seesaw!", "violet raincoat seesaw")[0]
    is_valid, explanation = checker.check_response("a raincoat", "violet raincoat seesaw")
    assert not is_valid and explanation.startswith("HALLUCINATION SUSPECTED")


def test_d2_an_empty_token_is_not_matched_by_everything():
    assert check_tokens("anything at all", [""]) == Verdict.NOT_APPLICABLE
    assert check_tokens("anything at all", []) == Verdict.NOT_APPLICABLE


def test_d3_a_token_is_not_found_inside_other_words():
    assert check_tokens("147 couples waltzing", ["47 couples waltzing"]) == Verdict.UNGROUNDED
    assert check_tokens("two heads breathe", ["two-heads breathe"]) == Verdict.GROUNDED


def test_d4_a_blank_marker_gives_no_token():
    assert VerificationChecker().extract_token("An owl. [Verify:  ]") is None
    assert VerificationChecker().extract_token("An owl. [Verify: ] [Verify: red owl]") == "red owl"


def test_d15_strict_mode_raises_and_lenient_mode_only_says_so():
    with pytest.raises(CheckFailedError, match="HALLUCINATION"):
        VerificationChecker(strict_mode=True).require("nothing", "violet raincoat seesaw")
    said = VerificationChecker(strict_mode=False).require("nothing", "violet raincoat seesaw")
    assert said.startswith("HALLUCINATION")


def test_at_least_one_memory_is_needed():
    with pytest.raises(ValueError, match="at least one"):
        verify_response("x", [])


@given(st.text(max_size=200))
def test_any_text_can_be_verified(response):
    found = verify_response(response, [FUNNEL, PUMP])
    assert 0 <= found.support.score <= 1.3
    assert found.outcome in Verdict
