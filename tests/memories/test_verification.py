"""Whether a response holds the token of a memory."""

import pytest

from memory_palace.errors import CheckFailedError
from memory_palace.features.memories.memories import MemoryProof
from memory_palace.features.memories.verification import VerificationChecker, check_tokens
from memory_palace.kinds import TokenCheck, TokenVerdict, fold_tokens

IMAGE = "A spider on the bucket. [Verify: violet raincoat seesaw]"
FUNNEL = MemoryProof("palace/chambers/funnel.md", ("violet raincoat seesaw",), ())
PUMP = MemoryProof("palace/chambers/pump.md", (), ())
RIGHT = "A thread makes the bucket stick at half."


def check(answer: str, *proofs: MemoryProof) -> list[TokenCheck]:
    return [proof.check(answer) for proof in proofs]


def test_one_missing_token_is_enough_and_a_memory_without_one_shows_nothing():
    held, missing = (check(text, FUNNEL, PUMP) for text in ("violet raincoat seesaw", ""))
    assert [check.outcome for check in held] == ["held", "not_applicable"]
    assert (fold_tokens(held), fold_tokens(missing)) == ("held", "missing")
    assert fold_tokens(check("x", PUMP)) == "not_applicable"


def test_of_several_tokens_one_is_enough():
    tokens = ("violet raincoat seesaw", "humming plate")
    assert check_tokens("a humming plate", tokens) == TokenVerdict.HELD


def test_d4_a_blank_marker_gives_no_token():
    assert VerificationChecker().extract_token("An owl. [Verify:  ]") is None
    assert VerificationChecker().extract_token("An owl. [Verify: ] [Verify: red owl]") == "red owl"


def test_d15_strict_mode_raises_and_lenient_mode_only_says_so():
    with pytest.raises(CheckFailedError, match="HALLUCINATION"):
        VerificationChecker(strict_mode=True).require("nothing", "violet raincoat seesaw")
    said = VerificationChecker(strict_mode=False).require("nothing", "violet raincoat seesaw")
    assert said.startswith("HALLUCINATION")
