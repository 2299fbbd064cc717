"""The names of source document 000 can be imported, with its signatures."""

from __future__ import annotations

import inspect
from importlib.util import find_spec

import pytest

import memory_palace.mnemonics as mnemonics

SIGNATURES = {
    "calculate_retrieval_score": "memory query query_embedding response alpha beta gamma",
    "cosine_similarity": "a b",
    "VerificationChecker": "strict_mode",
}
METHODS = {
    ("HierarchicalIndex", "retrieve"): "self query k",
    ("VerificationChecker", "extract_token"): "self memory_image",
    ("VerificationChecker", "check_response"): "self response expected_token",
}
RED_QUEEN = ("run_red_queen", "Strategy", "Question", "Evaluation")


@pytest.mark.parametrize(("name", "parameters"), SIGNATURES.items())
def test_names_keep_the_parameters_of_the_document_in_its_order(name, parameters):
    found = inspect.signature(getattr(mnemonics, name)).parameters
    assert list(found) == parameters.split()


@pytest.mark.parametrize(("place", "parameters"), METHODS.items())
def test_methods_keep_theirs(place, parameters):
    name, method = place
    found = inspect.signature(getattr(getattr(mnemonics, name), method)).parameters
    assert list(found) == parameters.split()


def test_a_memory_is_made_from_the_seven_fields_of_the_document():
    made = mnemonics.Memory("1", "Raft", "Boats.", "Votes.", "captain mustard waltz", 7, [0.1])
    assert (made.id, made.verify_token, made.smashin_score) == ("1", "captain mustard waltz", 7)


def test_defaults_are_those_of_the_document():
    parameters = inspect.signature(mnemonics.calculate_retrieval_score).parameters
    assert [parameters[name].default for name in ("alpha", "beta", "gamma")] == [0.5, 0.3, 0.2]
    assert mnemonics.VerificationChecker().strict_mode is True


def test_every_name_is_listed_and_others_are_unknown():
    assert {*SIGNATURES, *RED_QUEEN, "Memory"} <= set(dir(mnemonics))
    with pytest.raises(AttributeError, match="Nobody"):
        _ = mnemonics.Nobody


@pytest.mark.skipif(not find_spec("memory_palace.redqueen"), reason="the Red Queen is not here")
@pytest.mark.parametrize("name", RED_QUEEN)
def test_the_red_queen_is_reached_by_the_document_s_names(name):
    assert getattr(mnemonics, name).__name__ == name
