"""A palace that was first indexed without a model, and a model that comes later."""

from __future__ import annotations

from pathlib import Path

import pytest
from running import run_well as palace

from memory_palace.embedding import minilm
from memory_palace.embedding.hashing import HashingEmbedder
from memory_palace.embedding.weights import PinnedModel
from memory_palace.errors import WrongEmbedderError
from memory_palace.palace import Palace


class Weights:
    """Whether minilm is here."""

    are_here = False


@pytest.fixture
def weights(monkeypatch: pytest.MonkeyPatch) -> Weights:
    """Let minilm come and go; it embeds as ``hashing`` does, under its own name."""
    found = Weights()

    class Quick(HashingEmbedder):
        name = "minilm"
        fingerprint = "minilm:quick"

    def is_here(model: PinnedModel, cache: Path) -> bool:
        return model.name == "minilm" and found.are_here

    monkeypatch.setattr(PinnedModel, "is_present", is_here)
    monkeypatch.setattr(minilm, "load", lambda model, environ: Quick())
    return found


@pytest.fixture
def root(tmp_path: Path, weights: Weights) -> Path:
    chambers = Palace.init(tmp_path).paths.notes / "chambers"
    for name in ("heron", "otter", "vole"):
        (chambers / f"{name}.md").write_text(f"# {name}\n\nThe {name} sleeps by the weir.\n")
    return tmp_path


def embedder_of(root: Path) -> str:
    return Palace(root).snapshot().commit.embedder


def test_the_model_is_taken_up_by_the_next_build_and_that_is_said(root, weights):
    shown, said = palace("-C", root, "index")
    assert "no model is here: words alone answer" in said
    assert "  embedded   none: words alone answer\n" in shown
    assert embedder_of(root) == "none"
    assert "run `palace models fetch minilm`" in palace("-C", root, "query", "heron")[1]
    weights.are_here = True
    assert "minilm is here now; `palace index`" in palace("-C", root, "query", "heron")[1]
    said = palace("-C", root, "index")[1]
    assert "minilm is here now: 3 passages get vectors;" in said
    assert embedder_of(root) == "minilm"
    assert "minilm" not in palace("-C", root, "index")[1]
    assert Palace(root).query("heron").mode == "vector"
    assert Palace(root).doctor().findings == ()


@pytest.mark.parametrize("first", [["--embedder", "none"], ["--embedder", "hashing"]])
def test_an_embedder_that_was_asked_for_is_never_changed(root, weights, first):
    assert "no model" not in palace("-C", root, "index", *first)[1]
    weights.are_here = True
    assert "minilm" not in palace("-C", root, "index")[1]
    assert palace("-C", root, "index", "--force")[1] == ""
    assert embedder_of(root) == first[1]


@pytest.mark.parametrize("what", ["INDEX.json", "seg-*.npz"])
def test_a_damaged_index_is_mended_while_it_takes_up_the_model(root, weights, what):
    palace("-C", root, "index")
    weights.are_here = True
    next(Palace(root).paths.index.glob(what)).write_bytes(b"torn")
    palace("-C", root, "index")
    assert embedder_of(root) == "minilm" and Palace(root).doctor().findings == ()


def test_words_alone_can_be_chosen_when_the_model_has_come(root, weights):
    palace("-C", root, "index")
    weights.are_here = True
    palace("-C", root, "index", "--embedder", "none")
    palace("-C", root, "index")
    assert embedder_of(root) == "none" and Palace(root).awaited_model() is None


def test_a_model_that_is_asked_for_by_name_needs_no_force_where_it_was_waited_for(root, weights):
    palace("-C", root, "index")
    weights.are_here = True
    with pytest.raises(WrongEmbedderError):
        Palace(root).index(embedder="hashing")
    Palace(root).index(embedder="minilm")
    assert embedder_of(root) == "minilm"


def test_what_a_change_indexes_takes_up_no_model(root, weights):
    palace("-C", root, "index")
    weights.are_here = True
    palace("-C", root, "new", "Late")
    assert embedder_of(root) == "none"
    palace("-C", root, "index")
    assert embedder_of(root) == "minilm"


def test_a_build_that_was_stopped_while_it_took_up_the_model_goes_on(root, weights, monkeypatch):
    palace("-C", root, "index")
    weights.are_here = True
    embed, made = HashingEmbedder.embed_passages, []

    def embed_one_and_die(self, texts):
        if made:
            raise KeyboardInterrupt
        made.extend(texts)
        return embed(self, texts)

    monkeypatch.setattr("memory_palace.index.rows.AT_ONCE", 0)
    monkeypatch.setattr(HashingEmbedder, "embed_passages", embed_one_and_die)
    with pytest.raises(KeyboardInterrupt):
        Palace(root).index()
    monkeypatch.setattr(HashingEmbedder, "embed_passages", embed)
    found = Palace(root).query("heron")
    assert (found.mode, found.awaiting) == ("vector", 2)
    assert Palace(root).index().embedded == 2
