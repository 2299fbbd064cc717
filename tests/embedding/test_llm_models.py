"""An embedding model that is registered with ``llm`` the way its plugins do it."""

import importlib.util
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_palace.embedding.llm_models import TOKEN_LIMIT, estimate_tokens, load
from memory_palace.errors import MissingPartError, PalaceError

needs_llm = [
    pytest.mark.llm,
    pytest.mark.skipif(importlib.util.find_spec("llm") is None, reason="needs the extra [llm]"),
]


class LetterPlugin:
    """A plugin with one model that counts letters, and notes what it was sent."""

    def __init__(self):
        self.batches: list[list[str]] = []
        self.vectors: Any = None

    def as_module(self):
        import llm

        plugin = self

        class Letters(llm.EmbeddingModel):
            model_id = "letters-1"
            batch_size = 3

            def embed_batch(self, items):
                texts = list(items)
                plugin.batches.append(texts)
                if plugin.vectors is not None:
                    return iter(plugin.vectors)
                return ([float(text.count(letter)) for letter in "aeiou"] for text in texts)

        class Module:
            @llm.hookimpl
            def register_embedding_models(self, register):
                register(Letters(), aliases=("letters",))

        return Module()


@pytest.fixture
def plugin(monkeypatch, tmp_path):
    monkeypatch.setenv("LLM_USER_PATH", str(tmp_path))
    from llm.plugins import load_plugins, pm

    load_plugins()
    plugin = LetterPlugin()
    module = plugin.as_module()
    pm.register(module, "letters")
    yield plugin
    pm.unregister(module)


@pytest.fixture
def embedder(plugin):
    return load("letters", {})


class TestRegisteredModel:
    pytestmark = needs_llm

    def test_vectors_are_unit_length_whatever_the_model_returns(self, embedder):
        vectors = embedder.embed_passages(["aaae", "iou"])
        assert vectors.dtype == np.float32
        np.testing.assert_allclose(vectors[0], np.array([3, 1, 0, 0, 0]) / 10**0.5, atol=1e-6)
        np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-6)

    def test_texts_go_out_in_the_models_batches_and_come_back_in_order(self, embedder, plugin):
        texts = ["a", "e", "", "i", "o", "\n", "u"]
        vectors = embedder.embed_passages(texts)
        assert plugin.batches == [["a", "e", "i"], ["o", "u"]]
        assert [int(row.argmax()) if row.any() else None for row in vectors] == [
            0, 1, None, 2, 3, None, 4,
        ]  # fmt: skip

    def test_an_alias_and_the_id_are_the_same_embedder(self, embedder):
        other = load("letters-1", {})
        assert embedder.name == other.name == "llm:letters-1"
        assert embedder.fingerprint == other.fingerprint
        assert "letters-1" in embedder.fingerprint
        assert embedder.token_limit == TOKEN_LIMIT

    def test_an_unknown_model_is_named_with_the_nearest_known_one(self, embedder):
        with pytest.raises(MissingPartError, match="did you mean 'letters-1'") as caught:
            load("leters-1", {})
        assert "llm install" in str(caught.value)

    @pytest.mark.parametrize("vectors", [[[1.0]], [[1.0], [1.0, 2.0]], [[], []]])
    def test_an_answer_of_another_shape_is_an_error(self, embedder, plugin, vectors):
        plugin.vectors = vectors
        with pytest.raises(PalaceError, match="llm:letters-1 returned"):
            embedder.embed_passages(["a", "b"])

    def test_an_answer_that_is_not_a_number_is_an_error(self, embedder, plugin):
        plugin.vectors = [[1.0, float("nan")]]
        with pytest.raises(PalaceError, match="llm:letters-1 returned"):
            embedder.embed_queries(["a"])

    def test_a_missing_key_says_how_to_set_it(self, plugin, monkeypatch):
        embedder = load("letters", {})
        monkeypatch.setattr(embedder._model, "needs_key", "letters-key")
        with pytest.raises(MissingPartError, match="llm keys set letters-key"):
            embedder.embed_queries(["a"])


def test_without_the_library_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "llm", None)
    with pytest.raises(MissingPartError, match=r"-m pip install '.*\[llm\]'"):
        load("any", {})


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        (" \n\t", 0),
        ("rain", 1),
        ("thunderstorm", 3),
        ("2024-05-01", 5 + 1),
        ("这是句子", 4),
        ("雨 rain", 2),
        ("дождь", 3),
        ("🌧", 2),
    ],
)
def test_the_estimate_follows_its_rule(text, tokens):
    assert estimate_tokens(text) == tokens


@given(st.text(), st.text())
def test_the_estimate_never_shrinks_when_text_is_added(left, right):
    assert estimate_tokens(f"{left} {right}") == estimate_tokens(left) + estimate_tokens(right)
