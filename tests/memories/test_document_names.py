"""The names of source document 000 can be imported, with its signatures."""

import inspect
from operator import attrgetter

import pytest

from memory_palace import documents

SIGNATURES = {
    "calculate_retrieval_score": "memory query query_embedding response alpha beta gamma",
    "cosine_similarity": "a b",
    "VerificationChecker": "strict_mode",
    "VerificationChecker.extract_token": "self memory_image",
    "VerificationChecker.check_response": "self response expected_token",
    "HierarchicalIndex.retrieve": "self query k",
}


@pytest.mark.parametrize(("name", "parameters"), SIGNATURES.items())
def test_names_keep_the_parameters_of_the_document_in_its_order(name, parameters):
    found = inspect.signature(attrgetter(name)(documents)).parameters
    assert list(found) == parameters.split()


def test_defaults_are_those_of_the_document():
    parameters = inspect.signature(documents.calculate_retrieval_score).parameters
    assert [parameters[name].default for name in ("alpha", "beta", "gamma")] == [0.5, 0.3, 0.2]
    assert documents.VerificationChecker().strict_mode is True


@pytest.mark.parametrize("name", documents.__all__)
def test_every_name_is_the_thing_that_is_called_so(name):
    assert getattr(documents, name).__name__ == name
